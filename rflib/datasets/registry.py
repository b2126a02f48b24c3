"""The data sets: official files with their checksums, how they are read, split and cited, and their traps."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
ESL = "https://hastie.su.domains/ElemStatLearn/datasets"


@dataclass(frozen=True)
class File:
    """An official file.

    Attributes
    ----------
    name : str
        Name in the folder of raw files, and in mirrors (or with ``.xz`` added).
    url : str or None
        Official address; None if only a mirror can have it.
    sha256, md5 : str or None
        Checksum of the official file; at least one is given.
    size : int or None
        Size in bytes, where it is known.
    """

    name: str
    url: str | None
    sha256: str | None = None
    md5: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Entry:
    """A data set.

    Attributes
    ----------
    task : {"classification", "regression"}
        What the target is.
    columns : int
        Number of input columns.
    rows : int
        Number of rows, training and test rows together.
    classes : int or None
        Number of classes.
    reader : str
        Function of `rflib.datasets.readers` that parses the files.
    files : tuple of File
        Official files; empty for what scikit-learn ships.
    split : str
        "given" (the files hold training and test rows), or how each repetition draws its own: "half",
        "train 405", "2/3" (see `rflib.datasets.load`).
    source : str
        Citation and licence.
    traps : str
        What to know before using it, and how it is handled here.
    """

    task: Literal["classification", "regression"]
    columns: int
    rows: int
    classes: int | None
    reader: str
    split: str
    source: str
    files: tuple[File, ...] = ()
    traps: str = ""


_UCI_SOURCE = "UCI Machine Learning Repository, CC BY 4.0"
_SKLEARN = "shipped with scikit-learn (copy of the UCI set)"

REGISTRY: Mapping[str, Entry] = {
    "digits": Entry("classification", 64, 1797, 10, "digits", "2/3", _SKLEARN, traps="pixels 0..16"),
    "breast_cancer": Entry(
        "classification",
        30,
        569,
        2,
        "breast_cancer",
        "2/3",
        _SKLEARN,
        traps="columns differ in scale by 1e5: standardize",
    ),
    "wine": Entry("classification", 13, 178, 3, "wine", "2/3", _SKLEARN, traps="columns differ in scale"),
    "diabetes": Entry(
        "regression", 10, 442, None, "diabetes", "2/3", "shipped with scikit-learn (Efron et al. 2004)"
    ),
    "letter": Entry(
        "classification",
        16,
        18000,
        2,
        "letter",
        "given",
        f"Frey & Slate 1991, {_UCI_SOURCE}",
        (
            File(
                "letter-recognition.data",
                f"{UCI}/letter-recognition/letter-recognition.data",
                "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
                "6a2d740def5d13ea6096272546f6d41e",
                712565,
            ),
        ),
        "luo2021 uses 18,000 of the 20,000 rows, 12,000 / 6,000, labels A..M against N..Z, scaled to [-1, 1]. "
        "Which rows is not derivable: here a fixed random choice; the authors' own is letter_luo2021. "
        "1,332 rows repeat another",
    ),
    "letter_luo2021": Entry(
        "classification",
        16,
        18000,
        2,
        "luo2021_export",
        "given",
        "export of the authors' letter.mat",
        (
            File(
                "gorf_splits/gorf_letter.npz",
                None,
                "0bb67efa2a307e0e97b530d7f295bc3d68995f307acbbec2f56a8eeae3559a1f",
            ),
        ),
        "from a mirror only; 517 test rows repeat a training row; one column has a test value of -1.14",
    ),
    "ijcnn1": Entry(
        "classification",
        22,
        141691,
        2,
        "libsvm_pair",
        "given",
        "Prokhorov, IJCNN 2001 challenge; LIBSVM data",
        (
            File(
                "ijcnn1.bz2",
                f"{LIBSVM}/binary/ijcnn1.bz2",
                "450dee8470b168e47b9fae1fc160396b8a809c675737837fce3acd51dcdc0481",
                "c3e9162f8e38e0b6c0e02d313a59de2b",
                1398220,
            ),
            File(
                "ijcnn1.t.bz2",
                f"{LIBSVM}/binary/ijcnn1.t.bz2",
                "acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
                "66433ab8089acee9e56dc61ac89a2fe2",
                2597597,
            ),
        ),
        "a time series with overlapping windows; unbalanced (9.7 % positive); equals luo2021's split",
    ),
    "usps": Entry(
        "classification",
        256,
        9298,
        2,
        "usps_halves",
        "given",
        "LeCun et al. 1990; The Elements of Statistical Learning",
        (
            File(
                "zip.train.gz",
                f"{ESL}/zip.train.gz",
                "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
                "206835541ea704bcfb4b6eea872678bf",
                1829071,
            ),
            File(
                "zip.test.gz",
                f"{ESL}/zip.test.gz",
                "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
                "f9350e940232b89f1dc8f8eacac88625",
                439208,
            ),
        ),
        "luo2021: digits 5..9 against 0..4, values + 1 in [0, 2]; LIBSVM's usps is another, smoothed version",
    ),
    "usps_digits": Entry(
        "classification",
        256,
        9298,
        10,
        "usps_digits",
        "given",
        "LeCun et al. 1990; The Elements of Statistical Learning",
        (
            File(
                "zip.train.gz",
                f"{ESL}/zip.train.gz",
                "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
                "206835541ea704bcfb4b6eea872678bf",
                1829071,
            ),
            File(
                "zip.test.gz",
                f"{ESL}/zip.test.gz",
                "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
                "f9350e940232b89f1dc8f8eacac88625",
                439208,
            ),
        ),
        "pennington2015: the ten digits, values + 1 in [0, 2]",
    ),
    "housing": Entry(
        "regression",
        13,
        506,
        None,
        "housing",
        "train 405",
        f"Harrison & Rubinfeld 1978, {_UCI_SOURCE}",
        (
            File(
                "housing.data",
                f"{UCI}/housing/housing.data",
                "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
                "d4accdce7a25600298819f8e28e8d593",
                49082,
            ),
        ),
        "one column is a racial proxy and the target is capped at 50 (16 rows): kept only to reproduce luo2021; "
        "california_housing stands beside it",
    ),
    "california_housing": Entry(
        "regression",
        8,
        20640,
        None,
        "california_housing",
        "2/3",
        "Pace & Barry 1997; StatLib",
        (
            File(
                "cal_housing.tgz",
                "https://ndownloader.figshare.com/files/5976036",
                "aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
            ),
        ),
        "a living regression set without the faults of Boston housing; columns differ in scale",
    ),
    "gisette": Entry(
        "classification",
        5000,
        6000,
        2,
        "gisette",
        "2/3",
        f"Guyon et al. 2004, {_UCI_SOURCE}",
        (
            File(
                "gisette_scale.bz2",
                f"{LIBSVM}/binary/gisette_scale.bz2",
                md5="8a8caa1628c98dafec8d5d7bfa67c20b",
            ),
        ),
        "checksum from one public script (md5 only); the validation part is a file of its own",
    ),
    "adult": Entry(
        "classification",
        123,
        48842,
        2,
        "adult",
        "given",
        f"Kohavi 1996, {_UCI_SOURCE}; LIBSVM's a9a",
        (
            File(
                "a9a",
                f"{LIBSVM}/binary/a9a",
                "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
                "fb3596510d780aaf76a06dc721d49662",
                2329875,
            ),
            File(
                "a9a.t",
                f"{LIBSVM}/binary/a9a.t",
                "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
                "f0bb16cf1ee3e80ff560e9d132ee647e",
                1164628,
            ),
        ),
        "sparse and binary; the largest index of the test file is 122; 5,528 test rows repeat a training row",
    ),
    "eeg": Entry(
        "classification",
        14,
        14976,
        2,
        "eeg",
        "half",
        f"Roesler 2013, {_UCI_SOURCE}",
        (
            File(
                "EEG Eye State.arff",
                f"{UCI}/00264/EEG%20Eye%20State.arff",
                "e6eccba033d8ce56d38d2f0cca2087356705425a5a2ddbb1012ef3b892bd5a4b",
                "8083c4fd0462c7a1d47f32e20172874f",
                1696428,
            ),
        ),
        "four outlier rows (898, 10386, 11509, 13179) removed, without which scaling fails; time ordered, so the "
        "paper's random half split leaks neighbours",
    ),
    "magic04": Entry(
        "classification",
        10,
        19020,
        2,
        "magic04",
        "half",
        f"Bock et al. 2004, {_UCI_SOURCE}",
        (
            File(
                "magic04.data",
                f"{UCI}/magic/magic04.data",
                "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
                "bb3888bd588c4b15b24351218f74491e",
                1477391,
            ),
        ),
        "sorted by class; 115 duplicate rows",
    ),
    "cod_rna": Entry(
        "classification",
        8,
        331152,
        2,
        "libsvm_pair",
        "given",
        "Uzilov et al. 2006; LIBSVM data",
        (
            File(
                "cod-rna",
                f"{LIBSVM}/binary/cod-rna",
                "65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c",
                "cd14eab76f391e288e6e8e592ae658dd",
                4667176,
            ),
            File(
                "cod-rna.t",
                f"{LIBSVM}/binary/cod-rna.t",
                "58cff16df896436b06343df78ccaef37a6979d819abbcadbec3cb16b93938df6",
                "b876c22c86a33ef262342b12d2718655",
                21344555,
            ),
        ),
        "59,535 training rows; liu2020 tests on the 157,413 rows of cod-rna.r, here on cod-rna.t; raw columns "
        "differ in scale by 1e3; 15 rows stand with both labels",
    ),
    "covtype": Entry(
        "classification",
        54,
        581012,
        2,
        "covtype",
        "half",
        f"Blackard & Dean 1999, {_UCI_SOURCE}",
        (
            File(
                "covtype.data.gz",
                f"{UCI}/covtype/covtype.data.gz",
                "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                "99670d8d942f09d459c7d4486fca8af5",
            ),
        ),
        "class 2 against the others, as LIBSVM's covtype.binary",
    ),
    "covtype_sample": Entry(
        "classification",
        54,
        92962,
        2,
        "covtype_sample",
        "half",
        f"16 % sample of covtype, {_UCI_SOURCE}",
        (
            File(
                "covtype_ramp_test_92962.csv.gz",
                None,
                "d1683af154f7279cfb7221e813d44d904346d4965779c56bfbe7c5c74cebf8fd",
            ),
        ),
        "from a mirror only; the first ten columns are scaled to [0, 1] with the ranges of the full set",
    ),
}


def describe(name: str) -> dict[str, Any]:
    """Return task, columns, rows, classes and split of a data set.

    Raises
    ------
    ValueError
        If there is no such data set; the message lists what there is.
    """
    entry = entry_of(name)
    return {key: getattr(entry, key) for key in ("task", "columns", "rows", "classes", "split")}


def files(name: str) -> list[str]:
    """Return the names of a data set's official files; none for what scikit-learn ships."""
    return [file.name for file in entry_of(name).files]


def entry_of(name: str) -> Entry:
    """Return the entry of a data set, or raise ValueError with what there is."""
    if name not in REGISTRY:
        near = difflib.get_close_matches(name, REGISTRY, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"unknown data set {name!r}: {hint}There are {', '.join(sorted(REGISTRY))}.")
    return REGISTRY[name]
