"""Cosine and sine of float64 matrices, compiled by numba: vectorised, and accurate for arguments of any size.

With the integer k for which k pi is nearest to t, cos(t) = (-1)^k cos(t - k pi), and the latter cosine is a
polynomial in the square of its argument. The sine is the same with k + 1/2 in place of k. The number pi is split
into three parts; the first two have 28 bits, so that their products with k are exact for |t| up to _LIMIT (Cody &
Waite 1980). Rows with larger arguments use the functions of the C library.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import njit

_PI = (3.141592651605606, 1.9841871479187034e-09, 1.1442377452219664e-17)
_LIMIT = 1e6
# Adding and subtracting it rounds to the nearest integer.
_ROUND = 1.5 * 2.0**52
# Chebyshev approximation of cos(sqrt(z)) for z in [0, (pi/2)^2], error 4e-18.
_C = (
    1.0,
    -0.4999999999999997,
    0.04166666666666388,
    -0.001388888888877299,
    2.4801587277414926e-05,
    -2.755731639102575e-07,
    2.0876561839933163e-09,
    -1.1462901901757276e-11,
    4.608977003001797e-14,
)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _scaled_cosines(phases: Any, amplitudes: Any, out: Any, shift: Any) -> None:
    for i in range(phases.shape[0]):
        largest = 0.0
        for j in range(phases.shape[1]):
            t = phases[i, j]
            turns = (t / math.pi - shift + _ROUND) - _ROUND
            odd = turns - 2 * ((turns / 2 + _ROUND) - _ROUND)
            k = turns + shift
            r = ((t - k * _PI[0]) - k * _PI[1]) - k * _PI[2]
            z = r * r
            cosine = _C[8]
            for degree in range(7, -1, -1):
                cosine = _C[degree] + z * cosine
            out[i, j] = amplitudes[j] * cosine * (1 - 2 * odd * odd)
            largest = max(largest, abs(t))
        if not largest < _LIMIT:
            for j in range(phases.shape[1]):
                t = phases[i, j]
                out[i, j] = amplitudes[j] * (np.cos(t) if shift == 0 else np.sin(t))


# They write amplitudes (D,) * cos(phases), or the sine, into ``out``. Phases and ``out`` are (n, D), all float64.
cosines = partial(_scaled_cosines, shift=0.0)
sines = partial(_scaled_cosines, shift=0.5)
