"""The ridge system on a device, by functions that every array library has: products, Cholesky and LU factors.

The array API has no solver of triangular systems. Where a library lacks one (torch has it), a triangle is cut in
halves until blocks are small, so that nearly all of the work is matrix products.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, beside, in_type_of, namespace

_SMALL = 512


def symmetric(lower: Array) -> Array:
    """Return the symmetric matrix of which only the lower triangle is given."""
    xp = namespace(lower)
    return xp.tril(lower) + xp.tril(lower, k=-1).T


def solve_ridges(
    gram: Array, rhs: Array, sizes: Sequence[float] | NDArray, signs: NDArray | None
) -> Iterator[Array | None]:
    """Yield what `rflib.learners.ridge_system.solve_ridges` does."""
    for c in sizes:
        if signs is None:
            solved = solve_and_factor(gram, rhs, float(c))
            yield None if solved is None else solved[0]
        else:
            yield _solve_indefinite(_shifted(gram, float(c) * signs), in_type_of(rhs, gram))


def solve_and_factor(gram: Array, rhs: Array, c: float) -> tuple[Array, Array] | None:
    """Return what `rflib.learners.ridge_system.solve_and_factor` does."""
    xp = namespace(gram)
    try:
        factor = xp.linalg.cholesky(_shifted(gram, np.full(gram.shape[0], c)))
    except (RuntimeError, np.linalg.LinAlgError):  # of torch and of numpy; CuPy's factor is NaN instead
        return None
    if not xp.all(xp.isfinite(xp.linalg.diagonal(factor))):
        return None
    return solve_transposed(factor, solve_lower(factor, in_type_of(rhs, gram))), factor


def solve_lower(factor: Array, rhs: Array) -> Array:
    """Return L^-1 rhs for a lower triangular L (D, D) and rhs (D, n)."""
    xp, half = namespace(factor), factor.shape[0] // 2
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(factor, rhs, upper=False)
    if factor.shape[0] <= _SMALL:
        return xp.linalg.solve(factor, rhs)
    top = solve_lower(factor[:half, :half], rhs[:half, :])
    rest = rhs[half:, :] - factor[half:, :half] @ top
    return xp.concat([top, solve_lower(factor[half:, half:], rest)], axis=0)


def solve_transposed(factor: Array, rhs: Array) -> Array:
    """Return L^-T rhs for a lower triangular L (D, D) and rhs (D, n)."""
    xp, half = namespace(factor), factor.shape[0] // 2
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(factor.T, rhs, upper=True)
    if factor.shape[0] <= _SMALL:
        return xp.linalg.solve(factor.T, rhs)
    bottom = solve_transposed(factor[half:, half:], rhs[half:, :])
    rest = rhs[:half, :] - factor[half:, :half].T @ bottom
    return xp.concat([solve_transposed(factor[:half, :half], rest), bottom], axis=0)


def _shifted(gram: Array, ridge: NDArray) -> Array:
    """Return the whole matrix gram + diag(ridge)."""
    xp = namespace(gram)
    places = xp.arange(gram.shape[0], device=gram.device)
    on_diagonal = places[:, None] == places[None, :]
    return symmetric(gram) + xp.where(on_diagonal, beside(ridge, gram)[:, None], xp.zeros_like(gram))


def _solve_indefinite(system: Array, rhs: Array) -> Array | None:
    """Solve by LU factors; the inverse tells the condition number, and so whether the matrix is singular."""
    xp = namespace(system)
    try:
        inverse = xp.linalg.inv(system)
        solution = xp.linalg.solve(system, rhs)
    except (RuntimeError, np.linalg.LinAlgError):
        return None
    norms = [float(xp.max(xp.sum(xp.abs(matrix), axis=0))) for matrix in (system, inverse)]
    return solution if norms[0] * norms[1] * float(xp.finfo(system.dtype).eps) <= 1 else None
