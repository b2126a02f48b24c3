"""Columns that are waves: a cosine and a sine for each frequency, or one cosine with a phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from rflib.kernels.namespaces import Array
from rflib.kernels.sparse_rows import Rows
from rflib.maps.cosine_features import cosine_features, cosine_gradients


@dataclass(frozen=True, eq=False)
class Waves:
    """Frequencies v_f (n_frequencies, d) with weights w_f (n_frequencies,).

    The first n_pairs have the two columns sqrt(|w_f|) cos(<v_f, x>) and sqrt(|w_f|) sin(<v_f, x>), all cosines
    before all sines. The others have one column sqrt(2 |w_f|) cos(<v_f, x> + b_f). The phases b_f are added to the
    argument of sines, too; None means that all are zero.
    """

    frequencies: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_pairs: int
    given_phases: NDArray[np.float64] | None = None

    @staticmethod
    def of(frequencies: NDArray, weights: NDArray, n_pairs: int, rng: Generator) -> Waves:
        """Return waves with random phases for the frequencies after the first n_pairs.

        A zero frequency, which stands for a constant, has the phase pi/4, so that none of its columns is zero.
        """
        phases = np.append(np.zeros(n_pairs), rng.uniform(0, 2 * np.pi, len(weights) - n_pairs))
        phases = np.where(frequencies.any(axis=1), phases, np.pi / 4)
        return Waves(frequencies, weights, n_pairs, phases if phases.any() else None)

    @property
    def phases(self) -> NDArray[np.float64]:
        """The phases b_f in radians."""
        return np.zeros(len(self.weights)) if self.given_phases is None else self.given_phases

    @property
    def signs(self) -> NDArray[np.float64]:
        """The signs of the columns."""
        sign = np.where(self.weights < 0, -1.0, 1.0)
        return np.concatenate([sign[: self.n_pairs], sign])

    def largest_phase(self, entry: float) -> float:
        """Return a bound on |<v_f, x>| for rows without an entry above ``entry``."""
        return entry * float(self.frequencies.shape[1] ** 0.5 * row_norms(self.frequencies).max(initial=0.0))

    def fill(self, X: Rows, out: Array) -> None:
        """Write the columns of the rows into ``out``, shape (n, n_columns)."""
        cosine_features(X, *self._arguments(), out=out)

    def gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `cosine_gradients` of sums of the columns with these weights (n_columns, n_functions)."""
        return cosine_gradients(X, weights, *self._arguments())

    def _arguments(self) -> tuple[NDArray, NDArray, NDArray, int]:
        """Return frequencies, phases, amplitudes and the number of pairs, as `cosine_features` takes them."""
        amplitudes = np.sqrt(np.abs(self.weights))
        amplitudes[self.n_pairs :] *= np.sqrt(2)
        return self.frequencies, self.phases, amplitudes, self.n_pairs
