"""House prices of California: the living regression set."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rflib.datasets.entry import NOT_STATED, Block, Blocks, Entry, File, Paths
from rflib.datasets.formats.checked import reading
from rflib.datasets.formats.delimited import read_csv
from rflib.datasets.formats.numbers import numbers

if TYPE_CHECKING:
    import pandas as pd

_MAX_BYTES = 1 << 24


def _read(paths: Paths) -> Blocks:
    """Read the columns as scikit-learn makes them: averages per household, target in units of 100,000."""
    table = numbers(paths[0], _from_archive(paths[0]) if paths[0].suffix == ".tgz" else read_csv(paths[0]))
    longitude, latitude, age, rooms, bedrooms, population, households, income, value = table.T
    averages = (rooms / households, bedrooms / households, population, population / households)
    yield Block("all", np.column_stack([income, age, *averages, latitude, longitude]), value / 100_000)


def _from_archive(path: Path) -> pd.DataFrame:
    import pandas as pd

    with reading(path, "tar archive"), tarfile.open(path, "r:gz") as archive:
        members = [m for m in archive if m.name == "CaliforniaHousing/cal_housing.data" and m.isreg()]
        if not members or members[0].size > _MAX_BYTES:
            raise ValueError("it has no member CaliforniaHousing/cal_housing.data of the expected size")
        return pd.read_csv(cast(Any, archive.extractfile(members[0])), header=None)


ENTRIES = {
    "california_housing": Entry(
        rows=20_640,
        columns=8,
        split="2/3",
        read=_read,
        files=(
            File(
                "cal_housing.tgz",
                ("https://ndownloader.figshare.com/files/5976036",),
                sha256="aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
                plain=File(
                    "cal_housing.data",
                    sha256="d3d8a1a722ae78f91134862727d27a70b1415e7d512a89140406248687f4b902",
                    size=2_092_122,
                ),
            ),
        ),
        scaling="The values are raw, in the columns of scikit-learn's fetch_california_housing. The columns "
        "differ in scale, so use standardize.",
        citation="Pace & Barry 1997, StatLib; the file and checksum of scikit-learn",
        licence=NOT_STATED,
        traps="scikit-learn recommends this data set in place of Boston housing. It has forty times as many rows "
        "and none of its faults. Targets are capped at 5. Rows are places, so neighbouring places have similar "
        "rows.",
    ),
}
