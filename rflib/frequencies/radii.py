"""Frequency norms from a quantile function: independent, stratified, or low-discrepancy."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rflib.frequencies.directions import points

RADII = ("iid", "stratified", "halton", "joint")


def uniforms(n: int, rule: str, rng: Generator) -> NDArray[np.float64]:
    """Return n uniforms in (0, 1), each of them uniform, in random order.

    ``rule`` is "iid", "stratified" (one in each of n equal strata) or "halton" (scrambled, base 2).
    """
    if rule == "stratified":
        return rng.permutation((np.arange(n) + points("iid", n, 1, rng)[:, 0]) / n)
    u = points(rule, n, 1, rng)[:, 0]
    return rng.permutation(u) if rule == "halton" else u
