"""Every data set that the mirror holds, through the real path: fetch, verify, prepare, load."""

import json

import numpy as np
import pytest

from rflib.datasets.fetch import FetchError, fetch
from rflib.datasets.load import load
from rflib.datasets.prepare import prepare
from rflib.datasets.registry import REGISTRY

# Training rows, test rows, and the share of the training rows with the largest label.
EXPECTED = {
    "digits": (1198, 599, None),
    "breast_cancer": (379, 190, None),
    "wine": (118, 60, None),
    "diabetes": (294, 148, None),
    "letter": (12000, 6000, None),
    "letter_luo2021": (12000, 6000, 5937 / 12000),
    "ijcnn1": (49990, 91701, 4853 / 49990),
    "usps": (7291, 2007, 3051 / 7291),
    "usps_digits": (7291, 2007, None),
    "housing": (405, 101, None),
    "adult": (32561, 16281, 7841 / 32561),
    "eeg": (7488, 7488, None),
    "magic04": (9510, 9510, None),
    "cod_rna": (59535, 271617, 19845 / 59535),
    "covtype_sample": (46481, 46481, None),
}
NOT_HELD = {"california_housing", "gisette", "covtype"}


def test_every_data_set_is_accounted_for():
    assert set(EXPECTED) | NOT_HELD == set(REGISTRY)


@pytest.mark.parametrize("name", EXPECTED)
def test_real_data(name, mirror, raw, tmp_path):
    entry = REGISTRY[name]
    fetch(name, raw, [str(mirror)])
    prepare(name, raw, tmp_path / name)
    data = load(tmp_path / name)
    n_train, n_test, share = EXPECTED[name]
    assert data.X_train.shape == (n_train, entry.columns)
    assert data.X_test.shape == (n_test, entry.columns)
    assert entry.rows == n_train + n_test
    assert np.isfinite(data.X_train).all()
    if entry.task == "classification":
        assert len(np.unique(data.y_train)) == len(np.unique(data.y_test)) == entry.classes
    if share is not None:
        assert np.mean(data.y_train == data.y_train.max()) == pytest.approx(share)


def test_usps_equals_the_export_of_the_authors(mirror, raw, tmp_path):
    fetch("usps", raw, [str(mirror)])
    prepare("usps", raw, tmp_path / "usps")
    data = load(tmp_path / "usps")
    with np.load(mirror / "gorf_splits/gorf_usps.npz", allow_pickle=False) as theirs:
        assert np.allclose(data.X_train, theirs["X_train"], atol=1e-12)
        assert np.array_equal(data.y_test, theirs["Y_test"].ravel())


def test_ijcnn1_equals_the_export_of_the_authors(mirror, raw, tmp_path):
    fetch("ijcnn1", raw, [str(mirror)])
    prepare("ijcnn1", raw, tmp_path / "ijcnn1")
    with np.load(mirror / "gorf_splits/gorf_ijcnn.npz", allow_pickle=False) as theirs:
        assert np.array_equal(load(tmp_path / "ijcnn1").X_test, theirs["X_test"])


def test_the_rows_and_scaling_of_letter_are_those_of_the_export(mirror, raw, tmp_path):
    """The same multiset of rows but for the 2,000 that are left out, on which the authors' choice is not known."""
    fetch("letter", raw, [str(mirror)])
    prepare("letter", raw, tmp_path / "letter")
    data = load(tmp_path / "letter")
    with np.load(mirror / "gorf_splits/gorf_letter.npz", allow_pickle=False) as theirs:
        assert np.allclose(
            np.sort(np.unique(data.X_train[:, 0])), np.sort(np.unique(theirs["X_train"][:, 0]))
        )
        assert data.y_train.mean() == pytest.approx(theirs["Y_train"].mean(), abs=0.03)


def test_outliers_of_eeg_are_gone(mirror, raw, tmp_path):
    fetch("eeg", raw, [str(mirror)])
    prepare("eeg", raw, tmp_path / "eeg")
    data = load(tmp_path / "eeg")
    assert data.X_train.max() < 10_000


def test_prepared_arrays_are_memory_mapped(mirror, raw, tmp_path):
    fetch("usps", raw, [str(mirror)])
    prepare("usps", raw, tmp_path / "usps")
    meta = json.loads((tmp_path / "usps/meta.json").read_text())
    assert meta["shapes"]["X_train"] == [7291, 256]
    assert isinstance(np.load(tmp_path / "usps/X_train.npy", mmap_mode="r"), np.memmap)


def test_sparse_data_stay_sparse_on_disk(mirror, raw, tmp_path):
    fetch("adult", raw, [str(mirror)])
    prepare("adult", raw, tmp_path / "adult")
    assert (tmp_path / "adult/X_train.npz").exists()
    assert load(tmp_path / "adult", max_train=10).X_train.shape == (10, 123)


def test_damaged_official_file_is_named_with_both_checksums(mirror, tmp_path):
    fetch("housing", tmp_path, [str(mirror)])
    path = tmp_path / "housing.data"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(
        FetchError, match=r"housing\.data is not the official file: sha256 is [0-9a-f]{64}, expected"
    ):
        fetch("housing", tmp_path, [str(mirror)])
    with pytest.raises(FetchError, match="missing or not the official file"):
        prepare("housing", tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
