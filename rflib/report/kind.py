"""A kind of table, figure or claim: the keys of its entries in a study file, what it makes, and what it shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
    """What tables, figures and claims are made from: the study, its cells and the folder of published numbers."""

    study: Options
    cells: DataFrame
    published: Path

    def kernel(self, label: str) -> Kernel:
        """Return the study's kernel with this label."""
        from rflib.experiment.specs import build_kernel

        spec, others = self.study["kernels"][label], ("datasets", "methods", "preprocess", "fit_preprocess")
        return build_kernel({key: spec[key] for key in spec if key not in others})


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of entries of a study file. Its ``name`` is their ``type``.

    ``make`` makes an entry from its options and the results; the first paragraph of its docstring documents the
    kind. ``options`` has a JSON schema for each key except ``type``, ``title`` and ``caption``.
    """

    name: str
    make: Callable[..., Any]
    options: Mapping[str, Options]
    required: tuple[str, ...]

    @classmethod
    def with_options(
        cls, options: Mapping[str, Options], required: tuple[str, ...] | None = None, **more: Any
    ) -> Callable[[Callable[..., Any]], Kind]:
        """Return a decorator that turns a function into a kind of its name; all keys are required by default."""
        keys = tuple(options) if required is None else required
        if issubclass(cls, Shown) and "caption" not in more:
            keys += ("caption",)

        def decorate(make: Callable[..., Any]) -> Kind:
            return cls(**{"name": make.__name__, **more}, make=make, options=options, required=keys)

        return decorate

    @property
    def shows(self) -> str:
        """What it shows, in one sentence."""
        return " ".join((inspect.getdoc(self.make) or "").partition("\n\n")[0].split())


@dataclass(frozen=True, kw_only=True)
class Shown(Kind):
    """A table or figure, with the ``caption`` of the entry or else of the kind, and the ``note`` of the kind."""

    caption: Callable[[Options], str] | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Shown):
    """A table; ``make(entry, results)`` returns a DataFrame, or a list of mappings, which are its rows.

    Two columns "x" and "x std" are shown as one, mean ± standard deviation. ``bold(entry, results, table)``
    returns the row and column of each number that is bold.
    """

    bold: Callable[[Options, Results, DataFrame], list[tuple[int, str]]] | None = None


@dataclass(frozen=True, kw_only=True)
class Figure(Shown):
    """A figure; ``make(entry, results, figure)`` draws on an empty figure of matplotlib and sets its size.

    With ``switch``, the page can change the horizontal axis: the function returns the values that the key ``x`` of
    an entry can have, beginning with its own.
    """

    switch: Callable[[Options, Results], list[str]] | None = None


class Checked(NamedTuple):
    """What the check of a claim found: its verdict, the evidence, and the smallest difference that it detects."""

    verdict: str
    evidence: str
    detectable: str = ""


class Check(Kind):
    """The check of a claim; ``make(claim, results)`` returns a `Checked`."""


def kinds(cls: type[K]) -> dict[str, K]:
    """Return the kinds of tables, figures or checks that the folder ``kinds`` defines, by their names."""
    return {kind.name: kind for kind in _all() if isinstance(kind, cls)}


def modules() -> list[str]:
    """Return the modules that define kinds. They are in the fingerprint of all tables, figures and claims."""
    package = import_module("rflib.report.kinds")
    return [f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)]


@cache
def _all() -> tuple[Kind, ...]:
    found = [value for name in modules() for value in vars(import_module(name)).values()]
    return tuple(value for value in found if isinstance(value, Kind))
