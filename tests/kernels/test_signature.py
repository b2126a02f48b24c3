"""How many arrays a function that is given as a kernel is meant for."""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from rflib.kernels.signature import n_arrays


@pytest.mark.parametrize(
    ("function", "n"),
    [
        (lambda z: z, 1),
        (lambda z, nu=1.5: z, 1),
        (lambda z, scale=None: z, 1),
        (lambda *z: z[0], 1),
        (np.exp, 1),
        (np.sinc, 1),
        (np.zeros_like, 1),
        (expit, 1),
        (np.vectorize(abs), 1),
        (partial(np.power, 2.0), 1),
        (lambda X, Y: X, 2),
        (lambda X, Y=None: X, 2),
        (lambda a, b, option=3: a, 2),
        (rbf_kernel, 2),
        (partial(laplacian_kernel, gamma=2), 2),
        (RBF(), 2),
        (np.hypot, 2),
        (lambda: 1, 0),
        (lambda a, b, c: a, 0),
        (lambda z, *, nu: z, 0),
        (np.ndarray, 0),
        ("rbf", 0),
        (None, 0),
    ],
)
def test_arrays_that_must_be_given_or_are_named_y(function, n):
    assert n_arrays(function) == n
