"""Ridge systems: solved as scipy solves them, and refused without a warning where they are singular."""

from importlib.metadata import version

import numpy as np
import pytest
from scipy.linalg import solve

from rflib.learners.ridge_system import solve_ridges


@pytest.mark.skipif(version("scipy") < "1.17", reason="scipy 1.16 solves by another routine of LAPACK")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 65, 200])
def test_indefinite_systems_are_solved_to_the_bit_as_scipy_does(n, dtype):
    rng = np.random.default_rng(n)
    gram = rng.standard_normal((n, n)).astype(dtype)
    gram = np.asfortranarray(gram + gram.T)
    rhs = rng.standard_normal((n, 3)).astype(dtype)
    signs = np.where(np.arange(n) % 3, 1.0, -1.0)
    (found,) = solve_ridges(gram, rhs, [0.5], signs)
    system = np.array(gram + np.diag(0.5 * signs), dtype=dtype, order="F")
    np.testing.assert_array_equal(found, solve(system, rhs, assume_a="sym", lower=True))


@pytest.mark.parametrize("n", [1, 2, 3, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_ridges_are_solved_to_rounding(n, dtype):
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, max(1, n // 2)))
    gram = np.asfortranarray((half @ half.T).astype(dtype))
    rhs, sizes = rng.standard_normal((n, 3)), [-2.0 * np.trace(gram), *np.logspace(-3, 2, 12)]
    before = gram.copy()
    together = list(solve_ridges(np.tril(gram), rhs, sizes))
    assert together[0] is None
    for found, c in zip(together[1:], sizes[1:], strict=True):
        residuals = np.abs((gram + c * np.eye(n)) @ found - rhs).max()
        assert found.dtype == dtype
        assert residuals <= 100 * np.finfo(dtype).eps * (np.trace(gram) + c) * np.abs(found).max()
    np.testing.assert_array_equal(gram, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_systems_that_are_singular_to_their_precision_have_no_solution(dtype):
    gram = np.diag([2.0, 1.0, 3.0]).astype(dtype)
    signs = np.array([-1.0, 1.0, 1.0])
    nearly = 2 + np.finfo(dtype).eps / 4
    assert list(solve_ridges(gram, np.ones((3, 1)), [2.0, nearly], signs)) == [None, None]
    assert next(solve_ridges(gram, np.ones((3, 1)), [2.1], signs)) is not None
