"""Prices of diamonds: a regression set with ordered categories."""

import numpy as np

from rflib.datasets.entry import Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers
from rflib.datasets.raw_columns import Grades, Numbers

# From the worst to the best.
_GRADES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": ("J", "I", "H", "G", "F", "E", "D"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}

RAW_COLUMNS = {
    "diamonds": (
        Numbers(("carat",)),
        *(Grades(name, grades) for name, grades in _GRADES.items()),
        Numbers(("depth", "table", "x", "y", "z")),
    )
}


def _read(paths: Paths) -> Blocks:
    """Read the columns in the order of the file, each grade as its place from 0, the worst."""
    table = read_csv(paths[0], header=True)
    y = np.log(table.pop("price").to_numpy(np.float64))
    for name, grades in _GRADES.items():
        table[name] = table[name].map({grade: place for place, grade in enumerate(grades)})
    yield Block("all", numbers(paths[0], table), y)


ENTRIES = {
    "diamonds": Entry(
        rows=53_940,
        columns=9,
        split="2/3",
        read=_read,
        files=(
            File(
                "diamonds_ggplot2.csv",
                (
                    "https://raw.githubusercontent.com/tidyverse/ggplot2/main/data-raw/diamonds.csv",
                    "https://raw.githubusercontent.com/mwaskom/seaborn-data/master/diamonds.csv",
                ),
                sha256="9574730b03aba241d899c4a97511c5061b19358fab89510774fb6c24168345c4",
                size=2_772_143,
                plain=File(
                    "diamonds.csv",
                    sha256="0e7164799468299f8dc09b006cf396c43717c3dc71f947f0a32cc6e199895b46",
                    size=2_571_905,
                ),
            ),
        ),
        scaling="The columns are carat, cut, color, clarity, depth, table, x, y and z. The three grades are "
        "their places in order, from 0, the worst: cut from Fair to Ideal, color from J to D, clarity from "
        "I1 to IF. All else is raw. The columns differ in scale, so use standardize.",
        citation="Wickham 2016, ggplot2",
        licence="MIT",
        traps="The target is the natural logarithm of the price in US dollars, because prices range from "
        "326 to 18,823 and errors grow with them. Grades have an order, so each is one column, other than "
        "the unordered variables of adult_uci. In 20 rows x, y or z is 0, which means that it is unknown, "
        "and in three rows y or z is far too large (31.8 and 58.9 mm); all are kept. There are 146 repeated "
        "rows. The mirror's file has the same values without quotes.",
    ),
}
