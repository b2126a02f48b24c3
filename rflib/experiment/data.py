"""The rows that jobs read, and what is known of them before they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rflib.datasets.dense_rows import DENSE_MEGABYTES
from rflib.experiment.specs import shorten
from rflib.experiment.values import Value

if TYPE_CHECKING:
    from rflib.datasets.entry import Entry

_UNKNOWN_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Data(Value):
    """Prepared rows, as jobs read them: their folder among the prepared data, and how they are preprocessed.

    Maps are fitted to the same rows, preprocessed in the way ``fit_preprocess`` if that is given. ``precision`` is
    not part of the name: results of another precision replace the old ones.
    """

    folder: str
    preprocess: str = "raw"
    max_train: int | None = None
    max_test: int | None = None
    precision: str = "float64"
    fit_preprocess: str | None = None

    @cached_property
    def id(self) -> str:
        """Readable identity, safe as a file name."""
        settings = ("fit_preprocess", "max_train", "max_test")
        words = [self.folder, *([self.preprocess] if self.preprocess != "raw" else [])]
        words += [f"{name}={value}" for name in settings if (value := getattr(self, name)) is not None]
        return shorten(".".join(words))

    @property
    def for_fit(self) -> Data:
        """The same rows as maps are fitted to them."""
        return replace(self, preprocess=self.fit_preprocess or self.preprocess, fit_preprocess=None)

    @property
    def meta(self) -> str:
        """The file in the folder of the results that exists if the data are prepared."""
        return f"data/{self.folder}/meta.json"

    @cached_property
    def entry(self) -> Entry | None:
        """The entry in the registry; None for a user's file, of which nothing is known before it is read."""
        from rflib.datasets.registry import REGISTRY

        return REGISTRY.get(self.folder)

    @property
    def rows(self) -> tuple[int, int]:
        """Upper bounds of the numbers of training and test rows; without limits, all rows may be training rows."""
        rows = self.entry.rows if self.entry else _UNKNOWN_ROWS
        train = min(rows, self.max_train or rows)
        return train, min(rows - train, self.max_test or rows)

    @property
    def megabytes(self) -> int:
        """Memory of a process before it computes. Sparse rows of a user's file may be made dense."""
        return 1000 if self.entry else 1000 + DENSE_MEGABYTES
