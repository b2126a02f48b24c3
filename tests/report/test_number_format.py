"""How tables show numbers."""

import numpy as np
import pandas as pd
import pytest

from rflib.report.number_format import columns, plain, plus_minus


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        (0.04197, 0.007301, "0.0420 ± 0.0073"),
        (12.5, 0.25, "12.50 ± 0.25"),
        (1.2345e-5, 3.2e-7, "(1.234 ± 0.032)e-5"),
        (0.5, 0.0, "0.5"),
        (0.5, np.nan, "0.5"),
        (np.nan, np.nan, ""),
        (1, 1e-12, "1 ± 1e-12"),
    ],
)
def test_plus_minus(mean, std, text):
    assert plus_minus(mean, std) == text


def test_plain():
    assert [plain(x) for x in (10, 3.0, 0.123456, np.nan)] == ["10", "3", "0.1235", ""]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, 2.1389, np.nan], ["1.00", "2.14", ""]),
        ([-0.01381, 0.00267], ["-0.0138", "0.0027"]),
        ([10.0, 0.0], ["10", "0"]),
        ([0.1333, 0.0001653], ["0.1333", "0.0001653"]),
        ([127.41, 1.0349], ["127.4", "1.035"]),
        ([12.741, 2.0349], ["12.7", "2.0"]),
        ([np.nan, np.nan], ["", ""]),
    ],
)
def test_a_column_has_equally_many_decimals(values, texts):
    assert columns(pd.DataFrame({"x": values}))[0].texts == texts


def test_columns_join_mean_and_deviation_and_keep_the_sorting_keys():
    shown = columns(pd.DataFrame({"m": ["a"], "ours": [0.1], "ours std": [0.02]}))
    assert [(c.name, c.texts, c.keys) for c in shown] == [
        ("m", ["a"], None),
        ("ours", ["0.100 ± 0.020"], [0.1]),
    ]
