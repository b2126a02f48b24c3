"""Census income, as UCI's table."""

import numpy as np

from rflib.datasets.entry import CC_BY, UCI, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers
from rflib.datasets.raw_columns import Numbers, OneHot

_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "income",
)
RAW_COLUMNS = {
    "adult_uci": (
        Numbers(("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")),
        *(
            OneHot(name, tuple(levels.split()), "?" if levels.startswith("?") else None)
            for name, levels in {
                "workclass": "? Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc "
                "State-gov Without-pay",
                "education": "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors "
                "Doctorate HS-grad Masters Preschool Prof-school Some-college",
                "marital-status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent "
                "Never-married Separated Widowed",
                "occupation": "? Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing "
                "Handlers-cleaners Machine-op-inspct Other-service Priv-house-serv Prof-specialty "
                "Protective-serv Sales Tech-support Transport-moving",
                "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
                "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
                "sex": "Female Male",
                "native-country": "? Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador "
                "El-Salvador England France Germany Greece Guatemala Haiti Holand-Netherlands Honduras Hong "
                "Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico Nicaragua "
                "Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South "
                "Taiwan Thailand Trinadad&Tobago United-States Vietnam Yugoslavia",
            }.items()
        ),
    )
}


def _read(paths: Paths) -> Blocks:
    """Read the table with its numbers first, then one column for each value of the others."""
    import pandas as pd

    tables = [
        read_csv(path, names=_COLUMNS, skiprows=skip, skipinitialspace=True, keep_default_na=False)
        for path, skip in zip(paths, (0, 1), strict=True)
    ]
    whole = pd.concat(tables, ignore_index=True)
    y = np.where(whole.pop("income").str.rstrip(".") == ">50K", 1, -1)
    nominal = [name for name in whole.columns if not pd.api.types.is_numeric_dtype(whole[name])]
    X = numbers(paths[0], pd.get_dummies(whole, columns=nominal, dtype=np.float64))
    n_train = len(tables[0])
    yield Block("train", X[:n_train], y[:n_train])
    yield Block("test", X[n_train:], y[n_train:])


ENTRIES = {
    "adult_uci": Entry(
        rows=48_842,
        columns=108,
        classes=2,
        split="given",
        train_rows=32_561,
        read=_read,
        files=(
            File(
                "adult.data",
                (f"{UCI}/adult/adult.data",),
                sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                size=3_974_305,
            ),
            File(
                "adult.test",
                (f"{UCI}/adult/adult.test",),
                sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                size=2_003_153,
            ),
        ),
        scaling="There are six columns of raw numbers, and a column of 0 or 1 for each value of the eight other "
        "variables. Use standardize or minmax.",
        citation="Kohavi 1996, UCI",
        licence=CC_BY,
        traps="The label +1 means an income over 50K. In 3,620 rows, values are unknown (?), which counts as a "
        "value of its own. In the test file, labels end with a dot and the first line is a comment.",
    ),
}
