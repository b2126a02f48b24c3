"""Preconditioned conjugate gradients for many ridge systems (G_s + c I) x = b at once.

Each system is a column, so that one product with a matrix that is too large to be kept serves all folds, ridges
and targets. The preconditioner is a low-rank approximation F F^T of G, plus c I (Diaz, Epperly, Frangella, Tropp,
Webber, Robust, randomized preconditioning for kernel ridge regression, arXiv 2304.12465, 2023).
"""

from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rflib.maps.row_blocks import row_blocks
from rflib.warn import warn

# The largest error of values at the training rows, as a share of the targets' norm, and steps in a run: of the
# solution, and of those that are compared on held-out rows.
TOLERANCE, STEPS = 1e-7, 1000
CV_TOLERANCE, CV_STEPS = 1e-4, 200
# A run in single precision ends there, and residuals are computed again in double precision.
_INNER = 1e-4
# A run whose residuals are not so many times smaller afterwards is not repeated.
_GAIN = 4
_HEIGHT = 4096
_LINE_SECONDS = 10.0

Matrix = NDArray[np.float64]
Columns = NDArray[np.intp]


class Systems(Protocol):
    """Positive definite systems by what is done to some of their columns."""

    sizes: NDArray[np.float64]  # the ridge c of each column
    has_single: bool  # whether products in single precision are faster

    def product(self, V: Matrix, columns: Columns, *, single: bool) -> Matrix:
        """Return G_s v for each column v of V, whose systems are these."""

    def precondition(self, V: Matrix, columns: Columns) -> Matrix:
        """Return about (G_s + c I)^-1 v for each column v of V, whose systems are these."""


class LowRank:
    """The preconditioner (S F F^T S + c I)^-1 for a few diagonal matrices S.

    Parameters
    ----------
    factor : ndarray of shape (m, r)
        F.
    scales : ndarray of shape (n_scales, m)
        Diagonals of the S.
    """

    def __init__(self, factor: Matrix, scales: Matrix):
        self._factor, self._scales, self._eigen = factor, scales, []
        for scale in scales:
            gram = np.zeros((factor.shape[1],) * 2)
            for rows in row_blocks(len(factor), _HEIGHT):
                part = scale[rows, None] * factor[rows]
                gram += part.T @ part
            self._eigen.append(np.linalg.eigh(gram))

    def __call__(self, V: Matrix, of: Columns, sizes: NDArray[np.float64]) -> Matrix:
        """Return its products with the columns of V, of which each has the number of an S and a c."""
        projected = self._factor.T @ (self._scales[of].T * V)
        for s in np.unique(of):
            values, vectors = self._eigen[s]
            here = of == s
            shrunk = (vectors.T @ projected[:, here]) / (np.maximum(values, 0)[:, None] + sizes[here])
            projected[:, here] = vectors @ shrunk
        return (V - self._scales[of].T * (self._factor @ projected)) / sizes


def solve_by_gradients(
    systems: Systems,
    rhs: Matrix,
    units: NDArray[np.float64],
    *,
    tolerance: float,
    most_steps: int,
    name: str,
    verbose: bool,
) -> tuple[Matrix, NDArray[np.float64]]:
    """Return solutions (m, n_columns) for right-hand sides of that shape, and norms of residuals in some units.

    Runs in single precision refine each other: residuals are those of double precision. Columns that these do not
    bring to the tolerance, of ridges below the rounding of single precision, go on in double precision.

    Raises
    ------
    ValueError
        If a matrix is not positive semidefinite.
    """
    solution, residual = np.zeros_like(rhs), rhs.copy()
    units = np.maximum(units, np.finfo(float).tiny)
    left = np.linalg.norm(rhs, axis=0) / units
    told = _Progress(name, units, tolerance, verbose)
    for single in (True, False) if systems.has_single else (False,):
        active = np.arange(rhs.shape[1])
        while len(active := active[left[active] > tolerance]):
            goals = np.maximum(tolerance / 2, _INNER * left[active] if single else 0) * units[active]
            step = _run(systems, residual[:, active], active, goals, single, most_steps, told)
            if step is None and single:
                break
            if step is None:
                raise ValueError(
                    f"{name}: the kernel matrix is not positive semidefinite, which solver='cg' needs. Use "
                    "solver='direct'."
                )
            tried = solution[:, active] + step
            after = (
                rhs[:, active] - systems.product(tried, active, single=False) - systems.sizes[active] * tried
            )
            now = np.linalg.norm(after, axis=0) / units[active]
            better, goes_on = now < left[active], now < left[active] / _GAIN
            solution[:, active[better]], residual[:, active[better]] = tried[:, better], after[:, better]
            left[active[better]] = now[better]
            active = active[goes_on]
    return solution, left


def warn_unless_solved(left: float, alpha: float, name: str) -> None:
    """Issue a ConvergenceWarning if residuals are above the tolerance."""
    if left > TOLERANCE:
        warn(
            f"{name}: conjugate gradients ended with an error of up to {left:.1g} times the targets at alpha = "
            f"{alpha:g}, above the tolerance {TOLERANCE:g}. Use a larger alpha, or solver='direct' if its matrix "
            "fits into memory.",
            ConvergenceWarning,
            cause=name,
        )


def _run(
    systems: Systems,
    rhs: Matrix,
    columns: Columns,
    goals: NDArray[np.float64],
    single: bool,
    most_steps: int,
    told: "_Progress",
) -> Matrix | None:
    """Return solutions whose residuals have norms below the goals, or None where a matrix is not definite."""
    solution, active = np.zeros_like(rhs), np.arange(len(columns))
    r = rhs.copy()
    z = systems.precondition(r, columns)
    p, rz = z.copy(), np.einsum("ij,ij->j", r, z)
    for _ in range(most_steps):
        norms = np.linalg.norm(r, axis=0)
        told.step(norms, columns[active], single)
        if (going := norms > goals[active]).sum() < len(active):
            active, r, p, rz = active[going], r[:, going], p[:, going], rz[going]
        if not len(active):
            break
        these = columns[active]
        product = systems.product(p, these, single=single) + systems.sizes[these] * p
        curvature = np.einsum("ij,ij->j", p, product)
        if not (curvature > 0).all():
            return None
        length = rz / curvature
        solution[:, active] += length * p
        r = r - length * product
        z = systems.precondition(r, these)
        before, rz = rz, np.einsum("ij,ij->j", r, z)
        p = z + (rz / before) * p
    return solution


class _Progress:
    """Print steps, the largest residual and the seconds every ten seconds."""

    def __init__(self, name: str, units: NDArray[np.float64], tolerance: float, verbose: bool):
        self._name, self._units, self._tolerance, self._verbose = name, units, tolerance, verbose
        self._steps, self._start, self._told = 0, monotonic(), monotonic()

    def step(self, norms: NDArray[np.float64], columns: Columns, single: bool) -> None:
        self._steps += 1
        if self._verbose and monotonic() - self._told >= _LINE_SECONDS:
            self._told = monotonic()
            print(
                f"{self._name}: step {self._steps} in {'single' if single else 'double'} precision, largest "
                f"residual {(norms / self._units[columns]).max():.1e} (to be {self._tolerance:.0e}), "
                f"{self._told - self._start:.0f} s",
                flush=True,
            )
