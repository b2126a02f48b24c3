"""Cosine and sine columns: right to rounding for any argument, with and without numba, on one thread or two."""

import numpy as np
import pytest
from mpmath import mp
from threadpoolctl import threadpool_limits

from rflib.maps import cosine_features as module
from rflib.maps import row_blocks
from rflib.maps.cosine_features import cosine_features

compiled = pytest.importorskip("rflib.maps.compiled_cosines", reason="needs numba")
RNG = np.random.default_rng(0)
# Where cosines are hard: near multiples of pi / 2, and around the bound of the fast range.
HARD = np.outer(np.arange(-400, 400) * np.pi / 2, [1, 1 + 1e-15, 1 + 1e-12]).ravel()


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1, 1e3, 9.9e5, 1e6, 1e9, 1e17])
def test_compiled_agree_with_the_c_library(scale):
    t = np.concatenate([RNG.uniform(-scale, scale, 4000), [0.0, -0.0, scale, -scale]])[None]
    out = np.empty_like(t)
    for wave, reference in ((compiled.cosines, np.cos), (compiled.sines, np.sin)):
        wave(t, np.ones(t.size), out)
        np.testing.assert_allclose(out, reference(t), rtol=0, atol=5e-16)


def test_compiled_agree_with_mpmath():
    t = np.concatenate([HARD, RNG.uniform(-1e6, 1e6, 2000)])
    out = np.empty((1, t.size))
    with mp.workdps(40):
        for wave, reference in ((compiled.cosines, mp.cos), (compiled.sines, mp.sin)):
            wave(t[None], np.ones(t.size), out)
            expected = np.array([float(reference(mp.mpf(float(x)))) for x in t])
            np.testing.assert_allclose(out[0], expected, rtol=0, atol=4e-16)


def test_compiled_take_overflow_as_numpy_does():
    t = np.array([[1.0, np.inf, np.nan]])
    out = np.empty_like(t)
    compiled.cosines(t, np.full(3, 2.0), out)
    np.testing.assert_array_equal(np.isnan(out), [[False, True, True]])
    assert out[0, 0] == pytest.approx(2 * np.cos(1), abs=1e-15)


@pytest.fixture(params=["numpy", "compiled"])
def blocks(request, monkeypatch):
    """Small blocks, so that there are many, and the compiled functions always or never."""
    monkeypatch.setattr(module, "_BLOCK", 64)
    monkeypatch.setattr(row_blocks, "_COMPILED_FROM", 0 if request.param == "compiled" else np.inf)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_pairs", [0, 3, 7])
@pytest.mark.parametrize("n", [1, 8, 9, 10, 101])
def test_columns_are_as_the_docstring_says(n, n_pairs, dtype):
    X = RNG.standard_normal((n, 5)).astype(dtype)
    V, b, a = RNG.standard_normal((7, 5)), RNG.uniform(0, 6, 7), RNG.uniform(0.5, 2, 7)
    t = X.astype(float) @ V.T + b
    expected = np.concatenate(
        [(a * np.cos(t))[:, :n_pairs], (a * np.sin(t))[:, :n_pairs], (a * np.cos(t))[:, n_pairs:]], axis=1
    )
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = cosine_features(X, V, b, a, n_pairs)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 if dtype == "float32" else 1e-13)


def test_large_float64_inputs_are_compiled(monkeypatch):
    monkeypatch.setattr(row_blocks, "_COMPILED_FROM", 100)
    functions = {size: module._functions(np.zeros((size, 1)))[0] for size in (99, 100)}
    assert functions[100] is compiled.cosines
    assert functions[99] is not compiled.cosines
    assert module._functions(np.zeros(100, np.float32))[0] is not compiled.cosines
    monkeypatch.setattr(row_blocks, "find_spec", lambda name: None)
    assert module._functions(np.zeros((100, 1)))[0] is not compiled.cosines
