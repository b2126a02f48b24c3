"""The ridge system (G + c E) beta = m: the size of c in both conventions, and its solution for several c."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rflib.kernels.namespaces import Array, namespace
from rflib.learners import device_system

Ridge = Literal["n_lambda", "lambda"]
RIDGES = get_args(Ridge)

# A reduction to tridiagonal form, which serves any number of ridges, costs about as much as this many Cholesky
# factorisations (measured: 6 at D = 2000, one thread).
TRIDIAGONAL_IN_CHOLESKYS = 8


def ridge_sizes(alphas: NDArray[np.float64], ridge: str, n_samples: Any) -> NDArray[np.float64]:
    """Return c for each alpha: n_samples * alpha for ``ridge="n_lambda"``, alpha for ``"lambda"``.

    n_samples is a number, or an array with which the alphas broadcast.
    """
    return alphas * n_samples if ridge == "n_lambda" else alphas


def solve_ridges(
    gram: Array, rhs: Array, sizes: Sequence[float] | NDArray, signs: NDArray | None = None
) -> Iterator[Array | None]:
    """Yield the solution beta of (gram + c diag(signs)) beta = rhs for each c of ``sizes``.

    Parameters
    ----------
    gram : array of shape (D, D)
        Symmetric; only its lower triangle is read, and it is left unchanged.
    rhs : ndarray of shape (D, n_targets)
        Right-hand sides; the solutions have the dtype of gram.
    sizes : sequence of float
        The values of c.
    signs : ndarray of shape (D,), optional
        Signs of the ridge (krein); all +1 if absent. With a -1 the matrix is indefinite, and singular for some c.

    Yields
    ------
    ndarray of shape (D, n_targets), or None
        None where the matrix is singular, or not positive definite (no signs), to the precision of its dtype.
    """
    if namespace(gram) is not np:
        yield from device_system.solve_ridges(gram, rhs, sizes, signs)
        return
    rhs = rhs.astype(gram.dtype)
    if signs is None and len(sizes) > TRIDIAGONAL_IN_CHOLESKYS and len(gram) > 1:
        yield from _solve_tridiagonal(gram, rhs, sizes)
        return
    system = np.empty_like(gram, order="F")
    for c in sizes:
        np.copyto(system, gram)
        np.fill_diagonal(system, np.diagonal(gram) + (c if signs is None else c * signs))
        if signs is None:
            solved = _solve_definite(system, rhs)
            yield None if solved is None else solved[0]
        else:
            yield _solve_indefinite(system, rhs)


def solve_and_factor(gram: Array, rhs: Array, c: float) -> tuple[Array, Array] | None:
    """Return the solution for one c without signs and the lower Cholesky factor (D, D), as `solve_ridges` does."""
    if namespace(gram) is not np:
        return device_system.solve_and_factor(gram, rhs, c)
    system = np.array(gram, order="F")
    np.fill_diagonal(system, np.diagonal(gram) + c)
    return _solve_definite(system, rhs.astype(gram.dtype))


def _solve_tridiagonal(
    gram: NDArray, rhs: NDArray, sizes: Sequence[float] | NDArray
) -> Iterator[NDArray | None]:
    """Solve for many c by gram = Q T Q^T with a tridiagonal T, to which c I is added in D steps."""
    routines = ("sytrd", "sytrd_lwork", "ormqr", "pttrf", "pttrs")
    reduce, workspace, rotate, factorise, substitute = linalg.get_lapack_funcs(routines, (gram,))
    D = len(gram)
    reduced, diagonal, beside, tau, _ = reduce(
        np.array(gram, order="F"), lower=True, lwork=int(workspace(D, lower=True)[0]), overwrite_a=True
    )
    # Q leaves the first coordinate alone. The rest of it is stored like the Q of a QR decomposition, a row below.
    reflections = reduced.ravel(order="K")[1 : 1 + D * (D - 1)].reshape(D, D - 1, order="F")

    def rotated(columns: NDArray, trans: str) -> NDArray:
        rest = np.asfortranarray(columns[1:])
        lwork = int(rotate("L", trans, reflections, tau, rest, -1)[1][0])
        return np.vstack([columns[:1], rotate("L", trans, reflections, tau, rest, lwork)[0]])

    projected = rotated(rhs, "T")
    factors = [factorise(diagonal + gram.dtype.type(c), beside) for c in sizes]
    solved = [substitute(d, e, projected)[0] if info == 0 else None for d, e, info in factors]
    if found := [x for x in solved if x is not None]:
        solutions = iter(np.split(rotated(np.hstack(found), "N"), len(found), axis=1))
    for x in solved:
        yield None if x is None else next(solutions)


def _solve_definite(system: NDArray, rhs: NDArray) -> tuple[NDArray, NDArray] | None:
    try:
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return linalg.cho_solve(factor, rhs, check_finite=False), factor[0]


def _solve_indefinite(system: NDArray, rhs: NDArray) -> NDArray | None:
    """Solve by Bunch and Kaufman's factorisation; the condition number tells whether the matrix is singular."""
    routines = ("sytrf", "sytrf_lwork", "sycon", "sytrs")
    factorise, workspace, condition, substitute = linalg.get_lapack_funcs(routines, (system,))
    size = np.abs(np.tril(system))
    norm = (size.sum(axis=0) + size.sum(axis=1) - np.diagonal(size)).max()
    lwork = int(workspace(len(system), lower=True)[0])
    factor, pivots, zero_pivot = factorise(system, lower=True, lwork=lwork, overwrite_a=True)
    if zero_pivot or not condition(factor, pivots, norm, lower=True)[0] >= np.finfo(system.dtype).eps:
        return None
    return np.ascontiguousarray(substitute(factor, pivots, rhs, lower=True)[0])
