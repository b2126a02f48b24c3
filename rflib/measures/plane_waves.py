"""The variance of cosines and sines of plane waves at pairs of rows, without their control variates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rflib.measures.control_variates import ControlVariate, radial_functions
from rflib.measures.harmonics import direction_quadrature
from rflib.measures.row_pairs import RowPairs

KINDS = ("cos", "sin")


@dataclass(frozen=True, eq=False)
class WaveGroup:
    """The columns of one atom and of one kind.

    Attributes
    ----------
    kind : {"cos", "sin"}
        The kind of the columns.
    atom : int
        Index of the atom.
    energies : ndarray of shape (n_degrees,)
        Energies E_n of the product of a column's values at both rows of a pair (`rflib.measures.harmonics`),
        averaged over the pairs and multiplied by the squared weight of the atom.
    means : ndarray of shape (n_pairs,)
        Expectation of what the columns contribute to the kernel of each pair.
    """

    kind: str
    atom: int
    energies: NDArray
    means: NDArray


class PlaneWaves:
    """The plane waves of atoms (r_j, w_j) at pairs of rows, for all directions of a quadrature.

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

    def groups(self, kind: str, controls: Sequence[ControlVariate]) -> list[WaveGroup]:
        """Return the groups of all atoms after the control variates are removed from their columns.

        Control variates of an even degree are removed from cosines, and those of an odd degree from sines.
        """
        products = self._products(kind, [c for c in controls if KINDS.index(kind) == c.degree % 2])
        energies = self._energies(products)
        means = self._weights[:, None] * (products @ self._quadrature.probabilities)
        return [WaveGroup(kind, atom, *each) for atom, each in enumerate(zip(energies, means, strict=True))]

    def _products(self, kind: str, controls: Sequence[ControlVariate]) -> NDArray[np.float64]:
        """Return the products of a column's values at both rows, shape (n_atoms, n_pairs, n_nodes)."""
        values = self._values[kind]
        for control in controls:
            functions = control.functions(self._pairs.norms) @ control.removal(self._radii).T
            values = values - np.moveaxis(functions, -1, 0)[..., None] * self._polynomial(control.degree)
        return values[:, 0] * values[:, 1]

    def own_removed(self, kind: str) -> NDArray[np.float64]:
        """Return the energies of the columns without their harmonic of degree 0 (cosines) or 1 (sines)."""
        degree = KINDS.index(kind)
        functions = radial_functions(len(self._pairs.centre), degree, self._radii, self._pairs.norms)
        values = self._values[kind] - np.moveaxis(functions, -1, 0)[..., None] * self._polynomial(degree)
        return self._energies(values[:, 0] * values[:, 1])

    def _energies(self, products: NDArray) -> NDArray[np.float64]:
        by_pair = self._quadrature.energies(products)
        return self._weights[:, None] ** 2 * np.einsum("p,ape->ae", self._pairs.shares, by_pair)

    def _polynomial(self, degree: int) -> NDArray | float:
        """Return the factor of a degree's harmonics that does not depend on the norm of the wave."""
        p, d = self._projections, len(self._pairs.centre)
        squares = self._pairs.norms[..., None] ** 2
        if degree < 2:
            return p if degree else 1.0
        return (squares / d - p**2) / 2 if degree == 2 else p * (3 * squares / (d + 2) - p**2) / 6
