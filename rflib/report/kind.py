"""A kind of table, figure or claim: the keys of its entries in a study file, what it makes, and what it shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing
    from pandas import DataFrame, Series

    from rflib.kernels.base import Kernel
else:  # libraries that take long to import, and are needed as types only
    DataFrame = Series = Drawing = Any

Options = Mapping[str, Any]
Rows = list[dict[str, Any]]
K = TypeVar("K", bound="Kind")


@dataclass(frozen=True)
class Results:
    """What all is made from: a study's file and cells (as `read_cells` returns them), and the papers' numbers."""

    study: Options
    cells: DataFrame
    published: Path

    def kernel(self, label: str) -> Kernel:
        """Return the study's kernel with this label."""
        from rflib.experiment.specs import build_kernel

        spec = self.study["kernels"][label]
        return build_kernel(
            {key: spec[key] for key in spec if key not in ("datasets", "methods", "preprocess")}
        )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What an entry of a study file is, by its ``type``, which is the ``name``.

    ``make`` makes it from an entry and the results; the first paragraph of its docstring is its documentation.
    ``options`` has a JSON schema for each key besides ``type``, ``title`` and ``caption``.
    """

    name: str
    make: Callable[..., Any]
    options: Mapping[str, Options]
    required: tuple[str, ...]

    @classmethod
    def with_options(
        cls, options: Mapping[str, Options], required: tuple[str, ...] | None = None, **more: Any
    ) -> Callable[[Callable[..., Any]], Kind]:
        """Return a decorator that makes a kind of a function, with its name; by default all keys are required."""
        keys = tuple(options) if required is None else required
        if issubclass(cls, Shown) and "caption" not in more:
            keys += ("caption",)

        def decorate(make: Callable[..., Any]) -> Kind:
            return cls(**{"name": make.__name__, **more}, make=make, options=options, required=keys)

        return decorate

    @property
    def shows(self) -> str:
        """What it shows, in a sentence."""
        return " ".join((inspect.getdoc(self.make) or "").partition("\n\n")[0].split())


@dataclass(frozen=True, kw_only=True)
class Shown(Kind):
    """A table or figure: below stand the entry's ``caption`` or else the kind's own, and the kind's ``note``."""

    caption: Callable[[Options], str] | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Shown):
    """A table; ``make(entry, results)`` returns a DataFrame, or a list of mappings, its rows.

    A column "x" with a column "x std" beside it is shown as mean ± deviation. With ``best_is_bold`` the best
    number of a data set and kernel is bold, in each column after the first three.
    """

    best_is_bold: bool = False


class Figure(Shown):
    """A figure; ``make(entry, results, figure)`` draws on an empty figure of matplotlib and sets its size."""


class Check(Kind):
    """What a claim is checked by; ``make(claim, results)`` returns verdict and evidence."""


def kinds(cls: type[K]) -> dict[str, K]:
    """Return the kinds of tables, figures or checks that the folder ``kinds`` defines, by their names."""
    return {kind.name: kind for kind in _all() if isinstance(kind, cls)}


def modules() -> list[str]:
    """Return the modules that define kinds, which belong to the fingerprint of all tables, figures and claims."""
    package = import_module("rflib.report.kinds")
    return [f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)]


@cache
def _all() -> tuple[Kind, ...]:
    found = [value for name in modules() for value in vars(import_module(name)).values()]
    return tuple(value for value in found if isinstance(value, Kind))
