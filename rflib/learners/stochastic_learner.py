"""What the learners by doubly stochastic gradients share: which rows each step draws, in memory and in passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from rflib.keywords import Keywords
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.class_weight import class_weights
from rflib.learners.parameter_checks import check_seed
from rflib.learners.passes import PROBED_ROWS, Passes, PassOptions
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import FLOATS, Signed, check_feature_map, check_signed, find_signs
from rflib.learners.stochastic_steps import StochasticSteps, drawn_places, ends, prepared_block
from rflib.learners.values import as_labels, as_numbers, check_weights, joined_labels, refuse_zeros
from rflib.maps.rff import RFF
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import BaseEstimator
from rflib.validation import check_integer, check_number, refuse


@dataclass(eq=False, repr=False)
class StochasticParameters:
    """The parameters that both learners have."""

    feature_map: Any = None
    _: KW_ONLY
    n_blocks: int = 50
    batch_size: int = 256
    alpha: float = 1e-3
    step_size: float = 1.0
    signed: Signed = "associated"
    random_state: Any = 0


class StochasticLearner(StochasticParameters, CheckedRows, Keywords, BaseEstimator):
    """The algorithm of both learners, for one or several columns of targets."""

    _row_types: ClassVar[Any] = FLOATS

    loss: Any = "squared_error"

    def _check_parameters(self) -> None:
        check_feature_map(self)
        if self.feature_map is not None and "random_state" not in self.feature_map.get_params():
            refuse(self, "feature_map", "a transformer with a parameter random_state or None")
        check_integer(self, "n_blocks", at_least=1)
        check_integer(self, "batch_size", at_least=1)
        check_number(self, "alpha", above=0)
        check_number(self, "step_size", above=0)
        check_signed(self)
        check_seed(self)

    def _descend(
        self,
        X: NDArray,
        y: NDArray,
        targets: Callable[[NDArray], NDArray],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Run the steps; ``targets(rows)`` are the (n, n_targets) targets of rows, y is what the map gets."""
        self._begin()
        counted = _counted(weights)
        self._prepare_block(X[counted], y[counted])
        steps, places = self._steps(), ends(0, len(X), weights)
        for step, drawn in enumerate(drawn_places(self.seed_, self.n_blocks, self.batch_size, places[-1])):
            rows = np.searchsorted(places, drawn, side="right")
            steps.step(step, self.n_blocks, X[rows], targets(rows))
        self._keep(steps)

    def _descend_in_passes(
        self,
        passes: Passes,
        checked: Callable[[Block], tuple[NDArray, NDArray, NDArray, NDArray | None]],
        n_rows: int,
        end: Any,
    ) -> None:
        """Gather the rows that `_descend` would draw in one pass, and run the steps with these alone.

        ``checked`` gives rows, what the map gets, (n, n_targets) targets, and weights; ``end`` is that of
        `drawn_places`.
        """
        self._begin()
        places = drawn_places(self.seed_, self.n_blocks, self.batch_size, end).ravel()
        gathered: list[NDArray] = []
        heads: list[tuple[NDArray, NDArray]] = []
        start: Any = 0
        for X, y, targets, weights in passes.over("rows of the steps", checked):
            gathered = gathered or [
                np.empty((len(places), part.shape[1]), dtype=part.dtype) for part in (X, targets)
            ]
            if sum(len(head) for head, _ in heads) < self.batch_size:
                counted = _counted(weights)
                heads.append((X[counted][: self.batch_size], y[counted][: self.batch_size]))
            here_ends = ends(start, len(X), weights)
            here = (places >= start) & (places < here_ends[-1])
            drawn = np.searchsorted(here_ends, places[here], side="right")
            gathered[0][here], gathered[1][here] = X[drawn], targets[drawn]
            start = here_ends[-1]
        self._prepare_block(*(np.concatenate(parts) for parts in zip(*heads, strict=True)))
        about = {name: value for name, value in self.get_params(deep=False).items() if name != "feature_map"}
        steps = self._steps()
        if (state := passes.resume(about, steps.features(self.fit_rows_[:PROBED_ROWS], 0))) is not None:
            steps.coefs, steps.rows_drawn = state["coefs"], state["rows_drawn"]
        for step, rows in enumerate(row_blocks(len(places), self.batch_size)):
            if step >= passes.done:
                steps.step(step, self.n_blocks, gathered[0][rows], gathered[1][rows])
                passes.save(step + 1, n_rows, lambda: {"coefs": steps.coefs, "rows_drawn": steps.rows_drawn})
        self._keep(steps)
        passes.finish()

    def _surveyed(self, passes: Passes) -> _Survey:
        """Check the first block, and return what a pass over the targets counts."""
        passes.first(lambda block: self._checked(block.X, block.y, reset=True))
        survey = _Survey()
        for _ in passes.over("first pass", lambda block: survey.count(self, block), features=False):
            pass
        if not survey.end:
            refuse_zeros(self)
        return survey

    def _passes(self, rows: Any, options: PassOptions) -> Passes:
        passes = Passes(self, rows, seeds_map=True, **options)
        passes.needs_another(
            "drawing rows at random", "use partial_fit, which makes its steps with the rows in their order"
        )
        return passes

    def _begins(self, first: bool, X: NDArray, y: NDArray, weights: NDArray[np.float64] | None) -> bool:
        """Prepare the blocks for the first rows of a stream with weight, and return whether these are."""
        if first:
            self._begin()
        if hasattr(self, "block_") or not (weights is None or weights.any()):
            return False
        counted = _counted(weights)
        self._prepare_block(X[counted], y[counted])
        return True

    def _go_on(self, X: NDArray, targets: NDArray, weights: NDArray[np.float64] | None) -> None:
        """Make a step with every batch_size rows, in their order."""
        batches = row_blocks(len(X), self.batch_size)
        if weights is not None:
            batches = [rows for rows in batches if weights[rows].any()]
        if not batches:
            return
        steps, done = self._steps(), len(self.coefs_)
        for step, rows in enumerate(batches, start=done):
            given = None if weights is None else weights[rows]
            steps.step(step, done + len(batches), X[rows], targets[rows], given)
        self._keep(steps)

    def _begin(self) -> None:
        self.__dict__.pop("block_", None)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.coefs_ = np.zeros((0, 0, 0))
        self.rows_drawn_ = np.zeros(0, dtype=int)

    def _prepare_block(self, X: NDArray, y: ArrayLike) -> None:
        prototype = RFF(n_components=512) if self.feature_map is None else self.feature_map
        self.block_, self.fit_rows_, self.fit_targets_ = prepared_block(prototype, X, y, self.batch_size)

    def _steps(self) -> StochasticSteps:
        return StochasticSteps(
            self.block_,
            self.fit_rows_,
            self.fit_targets_,
            self.seed_,
            self.loss,
            self.alpha,
            self.step_size,
            self.signed,
            partial(find_signs, self),
            type(self).__name__,
            self.coefs_,
            self.rows_drawn_,
        )

    def _keep(self, steps: StochasticSteps) -> None:
        self.coefs_, self.rows_drawn_ = steps.coefs, steps.rows_drawn

    def _staged_values(self, X: ArrayLike) -> Iterator[tuple[int, NDArray[np.float64]]]:
        rows = self._rows_to_predict(X)
        yield from self._steps().staged(rows)

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        rows = self._rows_to_predict(X)
        return self._steps().values(rows)

    def _rows_to_predict(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        if not len(self.coefs_):
            refuse_zeros(self, "all rows so far")
        rows: NDArray = self._rows(X)
        return rows


def _counted(weights: NDArray[np.float64] | None) -> Any:
    """Return the index of the rows that have weight."""
    return slice(None) if weights is None else weights > 0


@dataclass
class _Survey:
    """What a first pass over the targets counts: rows, the end of their line, their weighted sum, and labels."""

    n_rows: int = 0
    end: Any = 0
    total: float = 0.0
    labels: NDArray = field(default_factory=lambda: np.zeros(0))

    def count(self, owner: Any, block: Block) -> None:
        if is_classifier(owner):
            labels = as_labels(owner, block.y)
            weights = class_weights(owner, labels, block.weight, only_zeros=True)
            counted = np.unique(labels if weights is None else labels[weights > 0])
            self.labels = joined_labels(owner, [self.labels, counted])
        else:
            y = column_or_1d(as_numbers(owner, block.y)).astype(np.float64)
            weights = check_weights(owner, block.weight, len(y), only_zeros=True)
            self.total += float(np.sum(y if weights is None else weights * y))
        self.n_rows += len(block.y)
        self.end = ends(self.end, len(block.y), weights)[-1]
