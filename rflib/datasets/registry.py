"""The data sets by name: those that the modules of `rflib.datasets.entries` define."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from rflib.datasets import entries
from rflib.datasets.entry import Entry
from rflib.datasets.raw_columns import RawColumns
from rflib.validation import hint

REGISTRY: dict[str, Entry] = {}
MODULES: dict[str, str] = {}
RAW_COLUMNS: dict[str, RawColumns] = {}
for _module in iter_modules(entries.__path__, "rflib.datasets.entries."):
    _entries = import_module(_module.name)
    _found = _entries.ENTRIES
    REGISTRY |= _found
    RAW_COLUMNS |= getattr(_entries, "RAW_COLUMNS", {})
    MODULES |= dict.fromkeys(_found, _module.name)


def entry_of(name: str) -> Entry:
    """Return the entry of a data set.

    Raises
    ------
    ValueError
        If there is no such data set. The message suggests a similar name and lists all names.
    """
    if name not in REGISTRY:
        raise ValueError(
            f"There is no data set {name!r} in the registry.{hint(name, REGISTRY)} "
            f"The data sets are {', '.join(sorted(REGISTRY))}."
        )
    return REGISTRY[name]


def describe(name: str) -> dict[str, Any]:
    """Return the task, rows, columns, classes and split of a data set without reading it."""
    entry = entry_of(name)
    return {key: getattr(entry, key) for key in ("task", "rows", "columns", "classes", "split")}


def files(name: str) -> list[str]:
    """Return the names of the official files of a data set; none if scikit-learn ships it or it is generated."""
    return [file.name for file in entry_of(name).files]
