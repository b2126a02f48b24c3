"""Cosines and sines of plane waves at pairs of rows: what they vary by, once control variates are removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.measures.control_variates import ControlVariate, radial_functions
from rflib.measures.harmonics import direction_quadrature
from rflib.measures.row_pairs import RowPairs

KINDS = ("cos", "sin")
_PARITY = {"cos": 0, "sin": 1}


@dataclass(frozen=True, eq=False)
class Stratum:
    """Columns of one atom.

    Attributes
    ----------
    kind : {"cos", "sin", "both"}
        What the columns are; "both": a cosine and a sine of the same frequency.
    atom : int
        Which atom of the measure.
    energies : ndarray of shape (n_degrees,)
        E_n of the product of a column's values at both rows of a pair (`rflib.measures.harmonics`), in the mean
        over the pairs and times the square of the atom's weight.
    means : ndarray of shape (n_pairs,)
        What the columns add to the kernel of the pairs, in expectation.
    """

    kind: str
    atom: int
    energies: NDArray
    means: NDArray


class PlaneWaves:
    """The waves of atoms (r_j, w_j) at pairs of rows, for all directions of a quadrature.

    Parameters
    ----------
    radii, weights : ndarray of shape (n_atoms,)
        Norms and signed weights.
    pairs : RowPairs
        The pairs.
    """

    def __init__(self, radii: NDArray, weights: NDArray, pairs: RowPairs) -> None:
        self._radii, self._weights, self._pairs = radii, weights, pairs
        self._quadrature = quadrature = direction_quadrature(len(pairs.centre))
        sine = np.sqrt(1 - pairs.cosines**2)
        unit = np.array(
            [
                np.broadcast_to(quadrature.first, (len(sine), len(quadrature.first))),
                np.outer(pairs.cosines, quadrature.first) + np.outer(sine, quadrature.second),
            ]
        )
        self._projections = pairs.norms[..., None] * unit
        phases = radii[:, None, None, None] * self._projections
        self._values = {"cos": np.cos(phases), "sin": np.sin(phases)}

    def strata(self, kind: str, controls: Sequence[ControlVariate]) -> list[Stratum]:
        """Return the strata of all atoms, from whose columns the control variates are removed.

        Control variates of an even degree concern the cosines, of an odd degree the sines.
        """
        kinds = KINDS if kind == "both" else (kind,)
        products = np.sum(
            [self._products(each, [c for c in controls if _PARITY[each] == c.degree % 2]) for each in kinds],
            axis=0,
        )
        energies = self._energies(products)
        means = self._weights[:, None] * (products @ self._quadrature.probabilities)
        return [Stratum(kind, atom, *each) for atom, each in enumerate(zip(energies, means, strict=True))]

    def _products(self, kind: str, controls: Sequence[ControlVariate]) -> NDArray[np.float64]:
        """Products of a column's values at both rows, shape (n_atoms, n_pairs, n_nodes)."""
        values = self._values[kind]
        for control in controls:
            functions = control.functions(self._pairs.norms) @ control.removal(self._radii).T
            values = values - np.moveaxis(functions, -1, 0)[..., None] * self._polynomial(control.degree)
        return values[:, 0] * values[:, 1]

    def own_removed(self, kind: str) -> NDArray[np.float64]:
        """Return the energies of all atoms' columns without their harmonic of degree 0 (cosines) or 1 (sines)."""
        degree = KINDS.index(kind)
        functions = radial_functions(len(self._pairs.centre), degree, self._radii, self._pairs.norms)
        values = self._values[kind] - np.moveaxis(functions, -1, 0)[..., None] * self._polynomial(degree)
        return self._energies(values[:, 0] * values[:, 1])

    def _energies(self, products: NDArray) -> NDArray[np.float64]:
        by_pair = self._quadrature.energies(products)
        return self._weights[:, None] ** 2 * np.einsum("p,ape->ae", self._pairs.shares, by_pair)

    def _polynomial(self, degree: int) -> NDArray | float:
        """The factor of a degree's harmonics that does not depend on the norm of the wave."""
        p, d = self._projections, len(self._pairs.centre)
        squares = self._pairs.norms[..., None] ** 2
        if degree < 2:
            return p if degree else 1.0
        return (squares / d - p**2) / 2 if degree == 2 else p * (3 * squares / (d + 2) - p**2) / 6
