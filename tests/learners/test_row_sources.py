"""Sources of rows: Parquet files, arrays and iterables in stable blocks, and what is said of bad ones."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rflib.learners import KRR, ArrayRows, ParquetRows
from rflib.learners.row_sources import IterableRows, as_row_source
from rflib.maps.row_sample import RowSample

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 103


def table(rows=range(N), dtype=np.float32):
    rows = np.asarray(rows)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3)).astype(dtype)[rows]
    return pa.table(
        {
            "b": X[:, 1],
            "a": X[:, 0],
            "target": rows * 0.5,
            "c": X[:, 2],
            "weight": rows % 3,
            "label": [f"class {row % 4}" for row in rows],
        }
    )


def written(folder, cuts, group=10, **how):
    """Write the rows as files between the cuts, and return the folder."""
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.split(np.arange(N), cuts)):
        parquet.write_table(table(rows), folder / f"part-{k}.parquet", row_group_size=group, **how)
    return folder


def joined(source, start=0):
    return tuple(np.concatenate(parts) for parts in zip(*source.blocks(start), strict=True))


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(0, N), max_size=4).map(sorted),
    group=st.integers(1, 120),
    size=st.integers(1, 120),
    start=st.integers(0, 8),
)
def test_blocks_are_the_rows_whatever_files_and_row_groups(tmp_path_factory, cuts, group, size, start):
    folder = written(tmp_path_factory.mktemp("rows"), cuts, group)
    source = ParquetRows(folder, ["a", "b"], target="target", weight="weight", block_size=size)
    whole = table()
    X = np.column_stack([whole[name].to_numpy() for name in "ab"])
    blocks = list(source)
    assert source.n_rows == N
    assert [len(block.y) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
    found = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    for part, expected in zip(found, (X, whole["target"], whole["weight"]), strict=True):
        np.testing.assert_array_equal(part, expected)
    assert blocks[0].X.to_numpy().dtype == np.float32
    assert list(blocks[0].X.columns) == ["a", "b"]
    for later, block in zip(source.blocks(start), blocks[start:], strict=True):
        np.testing.assert_array_equal(later.X, block.X)
        np.testing.assert_array_equal(later.y, block.y)


def test_columns_types_targets_and_labels(tmp_path):
    file = tmp_path / "one.parquet"
    parquet.write_table(table().append_column("flag", pa.array(np.arange(N) % 2 == 0)), file)
    with pytest.raises(ValueError, match=r"column 'label' of .*one.parquet is of type string: leave"):
        ParquetRows(file, target="target")
    source = ParquetRows(file, ["flag", "a"], target=["target", "b"])
    X, y, weight = next(source.blocks())
    assert X.to_numpy().dtype == np.float64 and y.shape == (N, 2) and weight is None
    np.testing.assert_array_equal(X["flag"], np.arange(N) % 2 == 0)
    labels = ParquetRows(file, ["a"], target="label")
    assert set(next(labels.blocks()).y) == {f"class {k}" for k in range(4)}
    encoded = table().set_column(5, "label", table()["label"].dictionary_encode())
    parquet.write_table(encoded, file)
    block = next(ParquetRows(file, ["a"], target="label").blocks(features=False))
    assert block.X is None and set(block.y) == {f"class {k}" for k in range(4)}
    again = pickle.loads(pickle.dumps(labels))
    np.testing.assert_array_equal(next(again.blocks()).X, next(labels.blocks()).X)


def test_all_columns_but_the_others_are_features(tmp_path):
    parquet.write_table(table().drop_columns("label"), tmp_path / "one.parquet")
    source = ParquetRows(tmp_path, target="target", weight="weight")
    assert source.columns == ["b", "a", "c"]


def test_the_index_that_pandas_writes_is_no_feature(tmp_path):
    for index in (pd.Index([3, 1, 2]), pd.Index([3, 1, 2], name="id")):
        pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}, index).to_parquet(tmp_path / "0.parquet")
        assert ParquetRows(tmp_path, target="y").columns == ["a"]
    assert ParquetRows(tmp_path, ["a", "id"], target="y").columns == ["a", "id"]


def test_the_types_of_all_files_count(tmp_path):
    first = pd.DataFrame({"a": np.arange(4, dtype=np.float32), "y": [0, 1, 0, 1], "text": list("1010")})
    first.to_parquet(tmp_path / "0.parquet")
    later = first.assign(a=first["a"] + 1e9 + 0.5)
    later.to_parquet(tmp_path / "1.parquet")
    found = np.concatenate([block.X["a"] for block in ParquetRows(tmp_path, ["a"], target="y", block_size=3)])
    np.testing.assert_array_equal(found, np.append(first["a"].astype(float), later["a"]))
    for a in (later["a"].astype(str), pd.date_range("2020", periods=4)):
        later.assign(a=a).to_parquet(tmp_path / "1.parquet")
        with pytest.raises(
            ValueError, match=r"must be numbers, but the column 'a' of .*1\.parquet is of type"
        ):
            ParquetRows(tmp_path, ["a"], target="y")
    first.assign(text=[1.0, 0.0, 1.0, 0.0]).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(
        ValueError, match=r"'text' holds texts in .*0\.parquet and not in .*1\.parquet: write"
    ):
        ParquetRows(tmp_path, ["a"], target="text")


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        ParquetRows(tmp_path / "nothing", target="y")
    with pytest.raises(ValueError, match=r"holds no Parquet files"):
        ParquetRows(tmp_path, target="y")
    written(tmp_path, [50])
    with pytest.raises(ValueError, match=r"has no column 'z'; it has b, a, target, c, weight, label"):
        ParquetRows(tmp_path, ["z"], target="target")
    with pytest.raises(ValueError, match="ParquetRows: block_size must be an integer"):
        ParquetRows(tmp_path, ["a"], target="target", block_size=0)
    parquet.write_table(table().drop_columns("b"), tmp_path / "part-1.parquet")
    source = ParquetRows(tmp_path, ["a", "b"], target="target")
    with pytest.raises(ValueError, match=r"the column 'b' is missing in .*part-1.parquet"):
        list(source)
    bad = table().set_column(0, "b", pa.array([2.0] * 31 + [None] * 2 + [2.0] * (N - 33)))
    parquet.write_table(bad, tmp_path / "part-1.parquet", row_group_size=20)
    bad_value = r"a value of the column 'b' is missing in .*part-1.parquet, row 31: complete"
    with pytest.raises(ValueError, match=bad_value):
        list(ParquetRows(tmp_path, ["a", "b"], target="target", block_size=7))


def test_columns_of_one_name_are_named_and_harm_only_those_who_use_them(tmp_path):
    """A file with such columns is not damaged; pyarrow cannot say which one is meant."""
    once = table().select(["a", "b", "target"]).rename_columns(["a", "b", "y"])
    twice = once.append_column("b", pa.array(np.arange(N)))
    parquet.write_table(twice, tmp_path / "1.parquet")
    for _ in range(2):
        for columns, target in ((None, "y"), (["b"], "y"), (["a"], "b")):
            with pytest.raises(
                ValueError, match=r"1\.parquet has 2 columns with the name 'b': give each column"
            ):
                ParquetRows(tmp_path, columns, target=target)
        assert next(ParquetRows(tmp_path, ["a"], target="y").blocks()).X.shape[1] == 1
        parquet.write_table(once, tmp_path / "0.parquet")


def damaged(file, how):
    content = bytearray(file.read_bytes())
    if how == "cut short":
        content = content[: len(content) // 2]
    elif how == "another format":
        content = bytearray(b"a,b\n1,2\n")
    else:
        footer = int.from_bytes(content[-8:-4], "little") + 8
        at = (len(content) - footer) // 3
        content[at : at + 20] = bytes(255 - byte for byte in content[at : at + 20])
    file.write_bytes(content)


@pytest.mark.parametrize("how", ["cut short", "another format", "bits flipped"])
def test_a_damaged_file_is_named_and_nothing_half_fitted_is_kept(tmp_path, how):
    written(tmp_path, [40, 80], group=40, write_page_checksum=True)
    where = {"target": "target", "block_size": 16}
    source = ParquetRows(tmp_path, ["a", "b"], **where)
    damaged(tmp_path / "part-1.parquet", how)
    message = (
        r"ParquetRows: \S*part-1.parquet is damaged or not a Parquet file \(.*write it again or take it out"
    )
    with pytest.raises(ValueError, match=message):
        KRR(alphas=0.1).fit_blocks(ParquetRows(tmp_path, ["a", "b"], **where))
    learner = KRR(alphas=0.1)
    with pytest.raises(ValueError, match=message):
        learner.fit_blocks(source)
    assert vars(learner) == vars(KRR(alphas=0.1))
    learner.fit(np.eye(3), [1, 2, 3])
    before = vars(learner).copy()
    with pytest.raises(ValueError, match=message):
        learner.fit_blocks(source)
    assert vars(learner) == before
    (tmp_path / "part-1.parquet").unlink()
    learner.fit_blocks(ParquetRows(tmp_path, ["a", "b"], **where))
    assert learner.n_features_in_ == 2


def test_the_identity_covers_what_was_read_and_no_more(tmp_path):
    written(tmp_path, [40, 80])

    def source():
        return ParquetRows(tmp_path, ["a", "b"], target="target")

    before = source().identity(60)
    parquet.write_table(table(range(5)), tmp_path / "part-2.parquet")
    assert source().identity(60) == before
    parquet.write_table(table(range(7)), tmp_path / "part-0.parquet")
    assert source().identity(60) != before
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10)
    assert ArrayRows(X, y).identity(4) == ArrayRows(X.copy(), y).identity(4)
    assert ArrayRows(X, y).identity(4) != ArrayRows(X + 1, y).identity(4)
    assert ArrayRows(X, y).identity(4) == ArrayRows(
        np.vstack([X[:4], X[:4]]), np.append(y[:4], y[:4])
    ).identity(4)


def test_arrays_in_memory_on_disk_and_sparse(tmp_path):
    X, y = np.arange(40, dtype=np.float32).reshape(20, 2), np.arange(20)
    np.save(tmp_path / "X.npy", X)
    for rows in (X, np.load(tmp_path / "X.npy", mmap_mode="r"), X.tolist()):
        found = joined(ArrayRows(rows, y, y, block_size=7))
        for part, expected in zip(found, (X, y, y), strict=True):
            np.testing.assert_array_equal(part, expected)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        by_blocks = [block.X for block in ArrayRows(kind(X), y, block_size=7)]
        np.testing.assert_array_equal(sparse.vstack(by_blocks).toarray(), X)
    with pytest.raises(ValueError, match=r"as many rows, got \[19, 20\]"):
        ArrayRows(X, y[1:])


def test_iterables_and_iterators():
    blocks = [(np.eye(2), [1, 2]), (np.zeros((0, 2)), []), (np.eye(2), [3, 4])]
    again = IterableRows(blocks)
    for source in (again, again, IterableRows(iter(blocks))):
        assert source.first() is not None
        assert [block.y.tolist() for block in source] == [[1, 2], [3, 4]]
    once = as_row_source(KRR(), iter(blocks))
    list(once)
    with pytest.raises(ValueError, match="iterated once only"):
        list(once)
    with pytest.raises(
        ValueError, match=r"Block 1 must be a tuple \(X, y\) or \(X, y, weight\), got ndarray"
    ):
        list(IterableRows([blocks[0], np.eye(2)]))
    for rows in (np.eye(3), "folder", 3):
        with pytest.raises(TypeError, match=r"^KRR: rows must be ParquetRows, ArrayRows or an iterable"):
            as_row_source(KRR(), rows)


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 200), max_size=5).map(sorted), size=st.integers(1, 250))
def test_a_sample_does_not_depend_on_the_blocks(cuts, size):
    X = np.arange(400.0).reshape(200, 2)
    one, other = RowSample(size, 0), RowSample(size, 0)
    one.add(X, X[:, 0])
    for rows in np.split(np.arange(200), cuts):
        other.add(sparse.csr_array(X[rows]), X[rows, 0])
    (expected, y), (found, _) = one.rows(), other.rows()
    np.testing.assert_array_equal(found.toarray(), expected)
    assert len(y) == min(size, 200)
    assert np.all(np.diff(y) > 0)


def test_a_sample_is_uniform():
    """Each of 50 rows is in a fifth of 2,000 samples: within five standard deviations, 3e-5 false alarms."""
    counts = np.zeros(50)
    for seed in range(2000):
        sample = RowSample(10, seed)
        for rows in np.split(np.arange(50), 5):
            sample.add(rows[:, None], rows)
        counts[sample.rows()[1]] += 1
    assert np.abs(counts - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)


def test_the_place_of_a_bad_row_is_told(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 2))
    X[25, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"^KRR: in row 25 of the ArrayRows: Input X contains NaN in column 1"
    ):
        KRR(alphas=1.0).fit_blocks(ArrayRows(X, X[:, 0], block_size=10))
    for k, rows in enumerate(np.split(X, [15])):
        parquet.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), tmp_path / f"{k}.parquet")
    source = ParquetRows(tmp_path, ["a", "b"], target="a", block_size=10)
    assert source.where(1, 10, range(10)) == f"{tmp_path}/0.parquet, row 10 to {tmp_path}/1.parquet, row 4"
    with pytest.raises(ValueError, match=r"in \S*/1.parquet, row 10: Input X contains NaN in column 'b'"):
        KRR(alphas=1.0).fit_blocks(source)
