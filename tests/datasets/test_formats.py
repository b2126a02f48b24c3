"""File formats: blocks, exact values, and malformed input, which gives a ValueError that names the file."""

import bz2
import gzip
import lzma
import struct

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rflib.datasets.formats import delimited, libsvm
from rflib.datasets.formats.delimited import csv_blocks, read_csv
from rflib.datasets.formats.idx import read_idx, read_images
from rflib.datasets.formats.libsvm import libsvm_blocks, read_libsvm
from rflib.datasets.formats.numbers import numbers
from rflib.datasets.npy import NpyWriter
from rflib.datasets.user import read_user_file


@pytest.mark.parametrize("read", [csv_blocks, libsvm_blocks])
def test_blocks_make_the_whole(read, monkeypatch, tmp_path):
    monkeypatch.setattr(delimited, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(libsvm, "_BLOCK_BYTES", 70)
    path = tmp_path / "file"
    separator = "," if read is csv_blocks else " "
    path.write_text(
        "".join(f"{i}{separator}{'' if read is csv_blocks else '1:'}{i * i}\n" for i in range(50))
    )
    blocks = list(read(path))
    assert len(blocks) > 3
    if read is csv_blocks:
        whole = pd.concat(blocks).to_numpy()
    else:
        whole = np.column_stack(
            [
                np.concatenate([y for _, y in blocks]).astype(float),
                np.vstack([X.toarray() for X, _ in blocks]),
            ]
        )
    assert whole.tolist() == [[i, i * i] for i in range(50)]


def test_the_bad_line_is_named_in_a_later_block(monkeypatch, tmp_path):
    monkeypatch.setattr(libsvm, "_BLOCK_BYTES", 70)
    path = tmp_path / "file"
    path.write_text("1 1:2\n" * 40 + "1 2:3 1:2\n" + "1 1:2\n" * 40)
    with pytest.raises(ValueError, match="file cannot be read as LIBSVM data: line 41: "):
        read_libsvm(path)


def test_index_beyond_the_columns(tmp_path):
    path = tmp_path / "file"
    path.write_text("1 1:2\n1 5:2\n")
    assert read_libsvm(path)[0].shape == (2, 5)
    with pytest.raises(ValueError, match="cannot be read as LIBSVM data"):
        read_libsvm(path, 4)


def test_numbers_accept_text_of_numbers_and_booleans(tmp_path):
    table = pd.DataFrame({"a": ["1", " 2.5"], "b": [True, False], "c": pd.array([1, 2], dtype="Int64")})
    assert numbers(tmp_path, table).tolist() == [[1, 1, 1], [2.5, 0, 2]]


@pytest.mark.parametrize("options", [{"header": True}, {"names": ["t", "z", "y"]}])
@pytest.mark.parametrize("step", [0, 1, 2])
def test_more_values_than_names_are_an_error_whatever_the_first_column_holds(options, step, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text("t,z,y\n" * ("header" in options) + "".join(f"{step * k},0.5,3,{k}\n" for k in range(4)))
    with pytest.raises(ValueError, match=r"file\.csv cannot be read as delimited text: "):
        read_csv(path, **options)


@pytest.mark.parametrize(
    "times",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_timedelta([1, 2], unit="D"),
        pd.period_range("2020", periods=2, freq="M"),
    ],
)
def test_times_are_no_numbers(times, tmp_path):
    message = r"row 0 \(from 0\), column 'when' is .* of type .*, not a number \(2 such values\)\. Encode the"
    with pytest.raises(ValueError, match=message):
        numbers(tmp_path, pd.DataFrame({"when": times}))


def damaged(content, step):
    """Yield the content cut, or with one byte changed, at every ``step`` bytes."""
    for at in range(0, len(content), step):
        yield content[:at]
        yield content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]


def other_data_or_clear_error(read, path, content, step):
    """Damaged content gives other data or a ValueError that names the file, never another exception."""
    for data in damaged(content, step):
        path.write_bytes(data)
        try:
            read(path)
        except ValueError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_archives(compress, tmp_path):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}[compress]
    content = compress("".join(f"{i},{i}\n" for i in range(60)).encode())
    path = tmp_path / f"file.csv{suffix}"
    path.write_bytes(content)
    assert len(read_csv(path)) == 60
    other_data_or_clear_error(read_csv, path, content, 3)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_damaged_arrays(suffix, tmp_path):
    path = tmp_path / f"mine{suffix}"
    spec = {"file": path, "task": "classification"}
    if suffix == ".npz":
        np.savez_compressed(path, X=np.arange(20.0).reshape(10, 2), y=np.arange(10) % 2)
    else:
        pd.DataFrame({"a": np.arange(10.0), "y": np.arange(10) % 2}).to_parquet(path)
        spec["target"] = "y"
    read_user_file(spec)
    other_data_or_clear_error(lambda _: read_user_file(spec), path, path.read_bytes(), 5)


LINES = st.lists(st.text("0123456789.:+-eE ,;nainf%@{}\"'\t", max_size=20), max_size=8).map("\n".join)


@pytest.mark.parametrize("read", [read_csv, read_libsvm])
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=80), LINES.map(str.encode)))
def test_malformed_text_is_a_clear_error_or_data(read, content, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    try:
        found = read(path)
        if isinstance(found, pd.DataFrame):
            numbers(path, found)
    except ValueError as error:
        assert str(path) in str(error)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1
    )
)
def test_csv_and_libsvm_give_the_values_written(rows, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))
    assert np.allclose(numbers(path, read_csv(path)), rows, rtol=1e-14)
    path.write_text("".join(f"{row[0]!r} 1:{row[1]!r} 2:{row[2]!r}\n" for row in rows))
    X, y = read_libsvm(path, 2)
    assert np.allclose(np.column_stack([y.astype(float), X.toarray()]), rows, rtol=1e-14)


def test_npy_writer(tmp_path):
    """The header keeps its length while the rows grow from 1 to 7 digits."""
    blocks = [np.arange(3.0)[None], np.ones((1_000_000, 3)), np.asfortranarray(np.arange(12.0).reshape(4, 3))]
    with NpyWriter(tmp_path / "X.npy") as writer:
        for block in blocks:
            writer.append(block)
    assert writer.shape == (1_000_005, 3)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert X.shape == (1_000_005, 3)
    assert X[0].tolist() == [0, 1, 2]
    assert np.array_equal(X[-4:], blocks[2])
    with NpyWriter(tmp_path / "y.npy") as writer:
        writer.append(np.arange(3))
        with pytest.raises(ValueError, match=r"a block of float64 \(2,\) does not continue int64 \(3,\)"):
            writer.append(np.ones(2))


def _idx(shape, values, kind=8):
    return struct.pack(f">HBB{len(shape)}I", 0, kind, len(shape), *shape) + bytes(values)


@pytest.mark.parametrize("packed", [False, True])
def test_idx(packed, tmp_path):
    content = _idx((2, 3, 1), range(250, 256))
    path = tmp_path / f"images-idx3-ubyte{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read_idx(path).tolist() == [[[250], [251], [252]], [[253], [254], [255]]]


def test_images_and_labels_that_do_not_fit(tmp_path):
    paths = [tmp_path / name for name in ("images", "labels", "images", "labels")]
    paths[0].write_bytes(_idx((2, 1, 2), [0, 1, 2, 255]))
    paths[1].write_bytes(_idx((2,), [7, 1]))
    train, test = read_images(paths)
    assert (train.part, train.X.tolist(), train.y.tolist()) == ("train", [[0, 1], [2, 255]], [7, 1])
    assert (test.part, train.X.dtype) == ("test", np.float32)
    paths[1].write_bytes(_idx((1,), [7]))
    with pytest.raises(ValueError, match=r"images has 2 images, but .*labels has 1 labels"):
        next(read_images(paths))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00", "unpack requires"),
        (b"<html>", "the header begins with"),
        (_idx((2,), [1, 2], kind=13), "the header begins with 0, 13, 1"),
        (_idx((3,), [1, 2]), "it has 2 of the 3 values"),
        (_idx((1,), [1, 2]), "it has more than the 1 values"),
        (_idx((1 << 20, 1 << 20), []), "1,099,511,627,776 values, of which at most"),
    ],
    ids=["empty", "page", "other type", "short", "long", "huge"],
)
def test_damaged_idx(content, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"file cannot be read as IDX data: .*{message}"):
        read_idx(path)
