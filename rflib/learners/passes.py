"""Passes over a source of rows: progress, the place of an error, and a checkpoint to go on from after a kill."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, TypedDict, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray

from rflib.kernels.row_faults import RowError
from rflib.learners.row_sources import Block, RowSource, as_row_source
from rflib.sklearn_bases import BaseEstimator

State = Mapping[str, NDArray]
Checked = TypeVar("Checked")

# rows whose features tell a map from another, when a checkpoint is taken up
PROBED_ROWS = 10
# seconds between two lines of progress
_LINE_SECONDS = 10.0


class PassOptions(TypedDict, total=False):
    """What the methods ``fit_blocks`` take besides rows and labels; `Passes` says what they are."""

    sample_size: int
    checkpoint: str | PathLike[str] | None
    checkpoint_seconds: float
    verbose: bool


class Passes:
    """The passes of one call of ``fit_blocks`` over its rows.

    Parameters
    ----------
    learner : estimator
        Its class names it in messages.
    rows : RowSource or iterable of blocks
        As `as_row_source` takes them.
    sample_size : int
        Rows that a feature map which depends on rows is fitted on.
    checkpoint : str or path, optional
        File for the state of the pass, written whole: under another name that is then changed.
    checkpoint_seconds : float
        Time between two writes of it; 0 writes after each block.
    verbose : bool
        Print rows, rows a second and the time left every ten seconds, and at the end of each pass.
    seeds_map : bool
        Whether the learner gives its feature map a seed, so that a checkpoint asks none of the map.

    Attributes
    ----------
    done : int
        Blocks of the pass, or steps, that an earlier call had done when `resume` found its state.
    """

    def __init__(
        self,
        learner: BaseEstimator,
        rows: Any,
        *,
        sample_size: int = 10_000,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        verbose: bool = False,
        seeds_map: bool = False,
    ):
        self._learner, self._name = learner, type(learner).__name__
        self.source: RowSource = as_row_source(learner, rows)
        self.sample_size, self._seconds, self._verbose = sample_size, checkpoint_seconds, verbose
        for name, value, least in (
            ("sample_size", sample_size, 1),
            ("checkpoint_seconds", checkpoint_seconds, 0),
        ):
            if not value >= least:
                raise ValueError(f"{self._name}: {name} must be a number of at least {least}, got {value!r}.")
        self._path = None if checkpoint is None else Path(checkpoint)
        if self._path is not None:
            _check_repeatable(learner, learner.get_params(deep=not seeds_map))
        self._about: dict[str, str] = {}
        self._features = np.zeros((0, 0))
        self._first: Block | None = None
        self.done = self._rows_done = 0
        self._written = monotonic()

    def first(self, checked: Callable[[Block], Checked]) -> Checked:
        """Return the first block after checks, as in `over`; ValueError if there is none."""
        self._first = self.source.first() if self._first is None else self._first
        if self._first is None:
            raise ValueError(f"{self._name}: there are no rows.")
        with self._placed(0, 0, len(self._first.y)):
            return checked(self._first)

    def needs_another(self, why: str, remedy: str) -> None:
        """Raise ValueError if the rows can be iterated once only; ``why`` is what needs the pass."""
        if not self.source.begins_anew:
            raise ValueError(
                f"{self._name}: {why} takes another pass over the rows, but these blocks can be iterated once "
                "only. Pass something that can be iterated again (ParquetRows, ArrayRows, a list of blocks, or an "
                f"object whose __iter__ begins anew), or {remedy}."
            )

    def resume(self, about: Mapping[str, Any], features: NDArray) -> dict[str, NDArray] | None:
        """Return the state at which an earlier call ended, for `over` to go on from; None to begin.

        ``about`` is what the state depends on, by names for the message, and ``features`` are those of a few rows,
        by which a feature map is known. It also depends on the names of the rows' columns.

        Raises
        ------
        ValueError
            If the checkpoint is of another call, or damaged.
        """
        if self._path is None:
            return None
        from rflib.files import read_arrays

        names = getattr(self._learner, "feature_names_in_", None)
        about = {"learner": self._name, **({} if names is None else {"feature names": list(names)}), **about}
        self._about = {name: str(joblib.hash(value)) for name, value in about.items()}
        self._features = features
        try:
            state = read_arrays(self._path)
        except FileNotFoundError:
            return None
        done, rows_done = map(int, state.pop("done"))
        found = json.loads(str(state.pop("about")))
        known_rows = self.source.n_rows is None or self.source.n_rows >= rows_done
        now = self._about | {"rows": self.source.identity(rows_done) if known_rows else ""}
        differing = [name for name in now | found if now.get(name) != found.get(name)]
        known = state.pop("features")
        if not (known.shape == features.shape and np.allclose(known, features, rtol=1e-3, atol=1e-4)):
            differing.append("features")
        if differing:
            raise ValueError(
                f"{self._name}: the checkpoint {self._path} belongs to another call, which differs in "
                f"{', '.join(differing)}. Repeat that call, or delete the file to begin anew."
            )
        self.done, self._rows_done = done, rows_done
        return state

    def over(
        self,
        what: str,
        checked: Callable[[Block], Checked],
        *,
        features: bool = True,
        state: Callable[[], State] | None = None,
    ) -> Iterator[Checked]:
        """Yield the blocks of a pass after checks, whose errors are told with the place.

        With ``state``, which returns what is known after the blocks so far, the pass goes on where `resume` left
        off, and the checkpoint is written.
        """
        done, rows_done = (self.done, self._rows_done) if state else (0, 0)
        progress = _Progress(f"{self._name}: {what}", self.source.n_rows, rows_done, self._verbose)
        for block in self.source.blocks(done, features=features):
            n = len(block.y)
            with self._placed(done, rows_done, n):
                ready = checked(block)
            yield ready
            done, rows_done = done + 1, rows_done + n
            progress.tell(rows_done)
            if state:
                self.save(done, rows_done, state)
        progress.end(rows_done)
        self.done = self._rows_done = 0

    @contextmanager
    def _placed(self, number: int, start: int, n_rows: int) -> Iterator[None]:
        """Tell an error in block ``number``, the rows from ``start`` on, with its place."""
        try:
            yield
        except RowError as error:
            _, row, why = error.args
            where = self.source.where(number, start, range(row, row + 1))
            raise ValueError(f"{self._name}: in {where}: {why}") from error
        except ValueError as error:
            where = self.source.where(number, start, range(n_rows))
            why = str(error).removeprefix(f"{self._name}: ")
            raise ValueError(f"{self._name}: in {where}: {why}") from error

    def save(self, done: int, rows_done: int, state: Callable[[], State]) -> None:
        """Write the checkpoint if one is due, after ``done`` blocks or steps that depend on ``rows_done`` rows."""
        if self._path is None or monotonic() - self._written < self._seconds:
            return
        from rflib.files import write_arrays

        about = json.dumps(self._about | {"rows": self.source.identity(rows_done)})
        own = {"done": np.array([done, rows_done]), "about": np.array(about), "features": self._features}
        write_arrays(self._path, {**state(), **own})
        self._written = monotonic()

    def finish(self) -> None:
        """Remove the checkpoint, and what killed processes left of it."""
        if self._path is not None:
            for file in (self._path, *self._path.parent.glob(f".{self._path.name}.*.part")):
                file.unlink(missing_ok=True)


class _Progress:
    def __init__(self, what: str, n_rows: int | None, done: int, verbose: bool):
        self._what, self._n_rows, self._first, self._verbose = what, n_rows, done, verbose
        self._start = self._told = monotonic()

    def tell(self, done: int) -> None:
        if self._verbose and monotonic() - self._told >= _LINE_SECONDS:
            self._told = monotonic()
            rate = self._rate(done)
            left = "" if self._n_rows is None else f", {_clock((self._n_rows - done) / rate)} left"
            total = "" if self._n_rows is None else f" of {self._n_rows:,}"
            print(f"{self._what}: {done:,}{total} rows, {rate:,.0f} rows a second{left}", flush=True)

    def end(self, done: int) -> None:
        if self._verbose:
            took = _clock(monotonic() - self._start)
            rate = self._rate(done)
            print(f"{self._what}: {done:,} rows in {took}, {rate:,.0f} rows a second", flush=True)

    def _rate(self, done: int) -> float:
        return max(done - self._first, 1) / max(monotonic() - self._start, 1e-9)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def _check_repeatable(learner: BaseEstimator, parameters: Mapping[str, Any]) -> None:
    """Raise ValueError unless the same call in another process draws the same numbers."""
    for name, value in parameters.items():
        if name.split("__")[-1] == "random_state" and not isinstance(value, Integral):
            raise ValueError(
                f"{type(learner).__name__}: with a checkpoint {name} must be an integer, so that the same call "
                f"draws the same numbers again, got {value!r}."
            )
