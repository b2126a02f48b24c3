"""The data sets by name: all families of `rflib.datasets.entries` in one table."""

from __future__ import annotations

from typing import Any

from rflib.datasets.entries.adult import ADULT
from rflib.datasets.entries.bundled import BUNDLED
from rflib.datasets.entries.cod_rna import COD_RNA
from rflib.datasets.entries.covtype import COVTYPE
from rflib.datasets.entries.eeg import EEG
from rflib.datasets.entries.generated import GENERATED
from rflib.datasets.entries.gisette import GISETTE
from rflib.datasets.entries.housing import HOUSING
from rflib.datasets.entries.ijcnn1 import IJCNN1
from rflib.datasets.entries.letter import LETTER
from rflib.datasets.entries.magic04 import MAGIC04
from rflib.datasets.entries.usps import USPS
from rflib.datasets.entry import Entry
from rflib.validation import hint

REGISTRY: dict[str, Entry] = {
    **BUNDLED,
    **LETTER,
    **IJCNN1,
    **USPS,
    **HOUSING,
    **GISETTE,
    **ADULT,
    **EEG,
    **MAGIC04,
    **COD_RNA,
    **COVTYPE,
    **GENERATED,
}


def entry_of(name: str) -> Entry:
    """Return the entry of a data set.

    Raises
    ------
    ValueError
        If there is no such data set; the message names the nearest and lists what there is.
    """
    if name not in REGISTRY:
        raise ValueError(
            f"There is no data set {name!r} in the registry.{hint(name, REGISTRY)} "
            f"There are {', '.join(sorted(REGISTRY))}."
        )
    return REGISTRY[name]


def describe(name: str) -> dict[str, Any]:
    """Return task, rows, columns, classes and split of a data set, without reading it."""
    entry = entry_of(name)
    return {key: getattr(entry, key) for key in ("task", "rows", "columns", "classes", "split")}


def files(name: str) -> list[str]:
    """Return the names of a data set's official files; none for what scikit-learn ships or is generated."""
    return [file.name for file in entry_of(name).files]
