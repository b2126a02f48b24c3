"""Steps of doubly stochastic gradients without an estimator: blocks of features that their seeds make again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone

from rflib.learners.signed_features import Signed, features_of, signature_of, signed_columns, used_columns
from rflib.maps.row_blocks import row_blocks

PREDICTION_ROWS = 4096
DIVERGED = 1e100

# Derivative of the loss by the value f, for a target y (+1 or -1 for the last two).
LOSS_DERIVATIVES: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "squared_error": lambda f, y: f - y,
    "log_loss": lambda f, y: -y * expit(-y * f),
    "hinge": lambda f, y: -y * (y * f < 1),
}


@dataclass
class StochasticSteps:
    """The steps so far, and what makes their blocks: a map that is fitted to rows (m, d), with a seed for each.

    ``coefs`` (n_blocks, n_columns, n_targets) has room for steps to come, ``rows_drawn`` (n_steps,) counts rows.
    ``signs`` tells the signs of the columns of a fitted block, and ``name`` is for messages.
    """

    block: Any
    fit_rows: NDArray
    fit_targets: NDArray
    seed: int
    loss: str
    alpha: float
    step_size: float
    signed: Signed
    signs: Callable[[int, Any], NDArray[np.float64]]
    name: str
    coefs: NDArray[np.float64]
    rows_drawn: NDArray[np.intp]

    def step(
        self,
        step: int,
        n_steps: int,
        batch: NDArray,
        targets: NDArray,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """Make step number ``step`` of ``n_steps``, with the rows of a batch, their targets (n, t) and weights."""
        features, signs = self._features(step)
        if step == 0 or len(self.coefs) < n_steps:
            known, self.coefs = self.coefs, np.zeros((n_steps, len(signs), targets.shape[1]))
            self.coefs[:step] = known if step else 0
        values = np.zeros(targets.shape)
        for earlier, coef in enumerate(self.coefs[:step]):
            self._add_block(values, batch, earlier, coef)
        gradient = LOSS_DERIVATIVES[self.loss](values, targets)
        gradient = gradient / len(batch) if weights is None else gradient * (weights / weights.sum())[:, None]
        size = self.sizes(step)
        self.coefs[:step] *= 1 - size * self.alpha
        self.coefs[step, used_columns(signs, self.signed)] = -size * (features(batch).T @ gradient)
        self.rows_drawn = np.append(self.rows_drawn, sum(self.rows_drawn[-1:]) + len(batch))
        if not np.abs(self.coefs[step]).max() < DIVERGED:
            raise ValueError(f"{self.name}: the steps diverged at block {step}. Lower step_size.")

    def sizes(self, step: Any) -> Any:
        """Return the size of steps by their numbers."""
        return self.step_size / (1 + self.alpha * self.step_size * step)

    def values(self, X: NDArray) -> NDArray[np.float64]:
        """Return the sum over the blocks of features times coefficients, (n_samples, n_targets)."""
        values = np.zeros((len(X), self.coefs.shape[2]))
        for step, coef in enumerate(self.coefs):
            self._add_block(values, X, step, coef)
        return values

    def staged(self, X: NDArray) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows drawn so far and the values then, after each step: the end's, without the later shrinking."""
        kept = 1 - self.alpha * self.sizes(np.arange(len(self.coefs)))
        kept_later = np.append(np.cumprod(kept[::-1])[::-1][1:], 1.0)
        values = np.zeros((len(X), self.coefs.shape[2]))
        for step, coef in enumerate(self.coefs):
            self._add_block(values, X, step, coef)
            yield int(self.rows_drawn[step]), values / kept_later[step]

    def features(self, X: NDArray, step: int) -> NDArray:
        """Return the features used of block number ``step``."""
        return self._features(step)[0](X)

    def _features(self, step: int) -> tuple[Callable[[NDArray], NDArray], NDArray[np.float64]]:
        """Return block number ``step``, made from its seed: the features used, of rows, and the signs of all."""
        seed = int(np.random.SeedSequence((self.seed, step)).generate_state(1)[0])
        block = clone(self.block).set_params(random_state=seed).fit(self.fit_rows, self.fit_targets)
        known = signature_of(block)
        example = features_of(block, self.fit_rows[:1])[0] if known is None else known
        signs = self.signs(len(example), block)
        return lambda X: signed_columns(features_of(block, X), signs, self.signed), signs

    def _add_block(self, values: NDArray[np.float64], X: NDArray, step: int, coef: NDArray) -> None:
        features, signs = self._features(step)
        used = coef[used_columns(signs, self.signed)]
        for rows in row_blocks(len(X), PREDICTION_ROWS):
            values[rows] += features(X[rows]) @ used


def prepared_block(prototype: Any, X: NDArray, y: ArrayLike, n_rows: int) -> tuple[Any, NDArray, NDArray]:
    """Return what every block needs: the map with its spectral measure computed once, and rows to fit it to."""
    rows, targets = X[:n_rows].copy(), np.asarray(y)[:n_rows].copy()
    block = clone(prototype)
    if "measure" in prototype.get_params() and hasattr(prototype, "spectrum"):
        measure = prototype.spectrum(rows)
        if measure is not None:
            block.set_params(measure=measure)
            fitted = clone(block).fit(rows, targets)
            # the measure for this number of columns, where that matters
            block.set_params(measure=getattr(fitted, "measure_", measure))
    return block, rows, targets


def drawn_places(seed: int, n_blocks: int, size: int, end: Any) -> NDArray:
    """Return the sorted places of the rows that each step draws with replacement, (n_blocks, size).

    They are numbers of rows for an integer ``end``, else they lie on the line of `ends`.
    """
    rng = np.random.default_rng(seed)
    if isinstance(end, np.integer):
        return np.array([np.sort(rng.integers(int(end), size=size)) for _ in range(n_blocks)])
    return np.array([np.sort(end * rng.random(size)) for _ in range(n_blocks)])


def ends(start: Any, n_rows: int, weights: NDArray[np.float64] | None) -> NDArray:
    """Return where rows end on a line, from ``start`` on, that each takes as much of as its weight, or one.

    The sums are the same, to the bit, as those of all rows at once.
    """
    lengths = np.ones(n_rows, dtype=np.intp) if weights is None else weights
    return np.cumsum(np.append(start, lengths))[1:]
