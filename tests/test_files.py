"""Files of results: whole or not there, any changed bit is noticed, and messages name the file and the remedy."""

import errno
import hashlib
import zipfile

import numpy as np
import pandas as pd
import pytest

from rflib.datasets.prepare import prepare
from rflib.files import read_arrays, read_table, replacing, write_arrays, write_table

TABLE = pd.DataFrame({"name": ["a", "b"], "value": [1.5, np.nan]})
ARRAYS = {"X": np.arange(6.0).reshape(2, 3), "empty": np.empty(0), "name": np.array("text")}
SEAL = b"rflib.sha256:"


def write(path):
    if path.suffix == ".npz":
        write_arrays(path, ARRAYS)
    else:
        write_table(path, TABLE)
    return path


def read(path):
    return read_arrays(path) if path.suffix == ".npz" else read_table(path)


def assert_as_written(path):
    if path.suffix == ".npz":
        found = read_arrays(path)
        assert set(found) == set(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name], array)
    else:
        pd.testing.assert_frame_equal(read_table(path), TABLE)


@pytest.fixture(params=["x.npz", "x.parquet"])
def path(request, tmp_path):
    return write(tmp_path / request.param)


def test_round_trip(path):
    assert_as_written(path)


def test_the_same_content_gives_the_same_file(path):
    first = path.read_bytes()
    assert write(path).read_bytes() == first


def test_the_digest_is_that_of_the_content_with_zeros_in_its_place(path):
    content = path.read_bytes()
    before, digest = content.split(SEAL)
    zeroed = before + SEAL + b"0" * 64 + digest[64:]
    assert digest[:64] == hashlib.sha256(zeroed).hexdigest().encode()


def test_other_programs_read_the_file(path):
    if path.suffix == ".npz":
        with np.load(path) as archive:
            np.testing.assert_array_equal(archive["X"], ARRAYS["X"])
    else:
        pd.testing.assert_frame_equal(pd.read_parquet(path), TABLE)


def test_a_changed_bit_anywhere_is_noticed(path):
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=rf"{path.name} is damaged .*: delete it and run again"):
            read(path)


@pytest.mark.parametrize("damage", ["emptied", "cut", "longer", "something else", "without digest"])
def test_a_damaged_file_is_named_with_the_remedy(damage, path):
    content = path.read_bytes()
    path.write_bytes(
        {
            "emptied": b"",
            "cut": content[:-10],
            "longer": content + b"0",
            "something else": b"something else",
            "without digest": content.replace(SEAL, b"else"),
        }[damage]
    )
    with pytest.raises(ValueError, match=rf"{path.name} is damaged .*: delete it and run again"):
        read(path)


def test_a_missing_file_is_missing(path):
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read(path)


def test_pickles_are_not_read_though_the_digest_is_right(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.array([{}], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = SEAL + b"0" * 64
    content = path.read_bytes()
    path.write_bytes(content.replace(b"0" * 64, hashlib.sha256(content).hexdigest().encode()))
    with pytest.raises(ValueError, match=r"x\.npz is damaged .*allow_pickle=False"):
        read_arrays(path)


def test_a_full_disk_is_named_with_the_remedy_and_the_old_file_stays(path):
    with (
        pytest.raises(OSError, match=r"cannot write .*x\..*: No space left.*Make room.*run again"),
        replacing(path) as file,
    ):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert_as_written(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_is_named_while_data_are_prepared(tmp_path, monkeypatch):
    def full(self, array):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rflib.datasets.npy.NpyWriter.append", full)
    with pytest.raises(OSError, match=r"cannot write .*digits: No space left.*Make room.*run again"):
        prepare("digits", tmp_path, tmp_path / "digits")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_writer_leaves_the_old_file(path):
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert_as_written(path)
    assert list(path.parent.iterdir()) == [path]
