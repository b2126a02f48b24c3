"""MVORF: eigenfunctions of the kernel, and orthogonal waves for what they lack, a method introduced in rflib."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve

from rflib.kernels.namespaces import Array, held_beside
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axes import Axes
from rflib.maps.held_out import RowSamples, held_out_error, mean_product, relative_error
from rflib.maps.mercer import FittedToSample, MercerFeatures
from rflib.maps.mercer_columns import MercerColumns
from rflib.maps.orf import ORF
from rflib.maps.waves import Waves

# The shares of the columns that may be waves.
_SHARES = (0, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 15 / 16, 31 / 32, 1)
# Waves are drawn only where they are predicted to lower the error by this factor, and kept only if they do. Of the
# divisions, those are drawn whose prediction is at most this multiple of the least one.
_WORTHWHILE, _NEARLY = 0.99, 1.15
_TINY, _ROUNDING = 1e-300, 1e-12


@dataclass(frozen=True, eq=False)
class ResidualWaves:
    """Waves, whose weights are shrunk, less their projection on other columns.

    The ``projection`` (n_columns, n_waves) has the coefficients of the other columns.
    """

    waves: Waves
    projection: NDArray[np.float64]

    def fill(self, X: Rows, columns: Array, out: Array) -> None:
        """Write the waves at rows X less their projection on the columns (n, n_columns) there into an array."""
        self.waves.fill(X, out)
        if len(self.projection):
            out -= columns @ held_beside(self.projection, X)

    def at(self, X: Rows, columns: NDArray) -> NDArray:
        """Return what `fill` writes, in an array of numpy."""
        out = np.empty((X.shape[0], len(self.waves.signs)), columns.dtype)
        self.fill(X, columns, out)
        return out


class MVORF(MercerFeatures):
    """Approximate a kernel by its eigenfunctions, and by orthogonal random waves for what these lack.

    The columns are divided between two parts of the kernel. The eigenfunctions of `MercerFeatures` represent as
    much of the kernel as their number allows, without any variance. Cosines and sines of orthogonal random
    frequencies (`ORF`), less their projection on the eigenfunctions, represent what is left without bias, but with
    a variance that falls with their number. So a wide kernel has eigenfunctions alone, and a narrow one with many
    columns has mostly waves; held-out training rows decide. Kernels that `ORF` does not take, because they are no
    function of the distance or not positive definite, have eigenfunctions alone. These minimum-variance orthogonal
    random features (MVORF) were introduced in rflib; docs/mvorf.md derives them.

    Parameters
    ----------
    kernel, n_components, axes
        As for `MercerFeatures`.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the waves, and of the choice of the rows that are held out and sampled.

    Attributes
    ----------
    axes_, mean_, is_fitted_to_rows_, predicted_error_
        As for `MercerFeatures`.
    n_waves_ : int
        How many of the columns are waves, the last ones.

    See Also
    --------
    MercerFeatures : Eigenfunctions alone, which are deterministic, and mostly as good for a learner.
    ORF : Waves alone, which are unbiased everywhere.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import MVORF
    >>> X, _ = load_digits(return_X_y=True)
    >>> features = MVORF(Gaussian("median"), 200, random_state=0).fit(X)
    >>> features.transform(X).shape
    (1797, 200)
    """

    waves_ = FittedToSample()

    @property
    def n_waves_(self) -> int:
        """How many of the columns are waves, the last ones."""
        return 0 if self.waves_ is None else len(self.waves_.waves.signs)

    def _choose(self, axes: list[Axes], sample: RowSamples, rng: Generator) -> None:
        super()._choose(axes, sample, rng)
        self.waves_ = None
        if ORF.unsupported(sample.kernel):
            return
        found = _best_division(self.columns_, sample, rng)
        if found is not None:
            self.columns_, self.waves_, error = found
            self.signature_ = np.append(self.columns_.signs, self.waves_.waves.signs)
            self.predicted_error_ = sample.fresh_error(self._columns, self.signature_, error)

    def _fill(self, X: Rows, out: Array) -> None:
        n = out.shape[1] - self.n_waves_
        super()._fill(X, out[:, :n])
        if self.waves_ is not None:
            self.waves_.fill(X, out[:, :n], out[:, n:])

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.waves_ is None:
            return super()._gradients(X, weights)
        of_functions, of_waves = np.split(weights, [len(self.columns_.signs)])
        of_functions = of_functions - self.waves_.projection @ of_waves
        return super()._gradients(X, of_functions) + self.waves_.waves.gradients(X, of_waves)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return a name for each column: those of `MercerFeatures`, and "wave1", "wave2" and so on."""
        waves = [f"wave{i + 1}" for i in range(self.n_waves_)]
        return np.append(super().get_feature_names_out(input_features), np.array(waves, dtype=object))


def _best_division(
    columns: MercerColumns, sample: RowSamples, rng: Generator
) -> tuple[MercerColumns, ResidualWaves, float] | None:
    """Return the first columns, the waves that have the least error beside them on held-out rows, and this error.

    Of all divisions, those are drawn whose price is near the least one (docs/mvorf.md). None is returned unless
    waves lower the error on each half of the held-out rows: a few strange rows are in one of them.
    """
    signs, at_held = columns.signs, columns.at(sample.held)
    n_columns = len(signs)
    numbers = sorted({max(1, round(n_columns * (1 - share))) for share in _SHARES})
    prices = {}
    for n, residual in zip(numbers, sample.residuals(at_held, signs, numbers), strict=True):
        bias = mean_product(residual, residual, sample.n_rows)
        if n < n_columns:
            variance = float(np.mean(np.maximum(residual.diagonal(), 0))) ** 2 / (n_columns - n)
            prices[n] = float(np.sqrt(bias * variance / max(bias + variance, _TINY)))
    limit = min(_WORTHWHILE * np.sqrt(bias), _NEARLY * min(prices.values(), default=0.0))
    drawn = [n for n, price in prices.items() if price < limit]
    if not drawn:
        return None
    at_rows = columns.at(sample.rows)
    divisions = []
    for n in drawn:
        orf = ORF(sample.kernel, n_columns - n, radii="stratified", random_state=int(rng.integers(2**63)))
        waves = orf.fit(sample.rows[:1]).waves_
        divisions.append((n, *_residual_waves(waves, at_rows[:, :n], at_held[:, :n], signs[:n], sample)))
    n, residual_waves, error = min(divisions, key=lambda division: division[2])
    first = at_held[:, :n]
    both = np.hstack([first, residual_waves.at(sample.held, first)])
    after = _errors(both, np.append(signs[:n], residual_waves.waves.signs), sample)
    if (after >= _WORTHWHILE * _errors(at_held, signs, sample)).any():
        return None
    return columns.first(n), residual_waves, error


def _errors(columns: NDArray, signs: NDArray, sample: RowSamples) -> NDArray[np.float64]:
    """Return the errors of columns on each half of the held-out rows."""
    halves = slice(0, None, 2), slice(1, None, 2)
    return np.array([held_out_error(columns[i], signs, sample.target[i, i], sample.n_rows) for i in halves])


def _residual_waves(
    waves: Waves, at_rows: NDArray, at_held: NDArray, signs: NDArray, sample: RowSamples
) -> tuple[ResidualWaves, float]:
    """Return waves less their projection on columns, with the factor of the least error, and the error of both.

    The columns are given at the rows to fit (n, n_columns), on which the projection is fitted, and at the held-out
    rows, whose error decides. The ridge is the mean of what the columns lack of k(x, x), over n (docs/mvorf.md,
    "The projection").
    """
    n, residual = len(at_rows), next(sample.residuals(at_held, signs, [len(signs)]))
    waves_at_rows = np.empty((n, len(waves.signs)))
    waves.fill(sample.rows, waves_at_rows)
    gram = at_rows.T @ at_rows / n
    ridge = float(np.mean(np.maximum(residual.diagonal(), 0))) / n
    gram.flat[:: len(gram) + 1] += max(ridge, _ROUNDING * float(gram.trace())) + _TINY
    projection = solve(gram, at_rows.T @ waves_at_rows / n, assume_a="pos")
    found = ResidualWaves(waves, projection).at(sample.held, at_held)
    estimate = (found * waves.signs) @ found.T
    size = mean_product(estimate, estimate, sample.n_rows)
    factor = min(max(mean_product(estimate, residual, sample.n_rows) / max(size, _TINY), 0.0), 1.0)
    shrunk = ResidualWaves(replace(waves, weights=waves.weights * factor), projection * np.sqrt(factor))
    return shrunk, relative_error(residual - factor * estimate, sample.target, sample.n_rows)
