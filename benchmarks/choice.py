"""What choosing costs: MVORF fitted on new rows beside its eigenfunctions alone, AutoMap beside its choice.

Each run has rows of its own, because the choices for rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from sklearn.base import clone
from timing import sphere, timed

from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.maps import GORF, MVORF, ORF, AutoMap, MercerFeatures
from rflib.maps.base import RandomFeatureMap

ROWS = 20_000
KERNELS = (Gaussian(0.5), SphericalPolynomial(4, 10), DeltaGaussian())
COLUMNS = 1024
_SEEDS = count()


def records() -> Iterator[dict[str, Any]]:
    """Records for few and many input columns, and for AutoMap."""
    for d in (16, 784):
        for kernel in KERNELS:
            group: dict[str, Callable[[], Any]] = {
                "ORF of a Gaussian, for comparison": _fits(ORF(Gaussian(), COLUMNS), d),
                "rflib MVORF": _fits(MVORF(kernel, COLUMNS), d),
                "rflib MercerFeatures": _fits(MercerFeatures(kernel, COLUMNS), d),
                "rflib GORF, minimum_variance": _fits(
                    GORF(kernel, COLUMNS, measure="minimum_variance", radii="stratified"), d
                ),
            }
            title = f"fit on new rows, {type(kernel).__name__}, d = {d}, D = {COLUMNS}"
            yield from timed(title, group, threads=1, dtype="float64", rows=2000)
    for kernel in KERNELS:
        auto = AutoMap(kernel, COLUMNS, random_state=0).fit(sphere(ROWS, 16, seed=next(_SEEDS)))
        choice = auto.scores_[0]["name"]
        group = {
            "its choice": _fits(clone(auto.best_), 16, ROWS),
            "rflib AutoMap": _fits(clone(auto), 16, ROWS),
        }
        title = (
            f"AutoMap of {type(kernel).__name__} on new rows, d = 16, D = {COLUMNS}: its choice is {choice}"
        )
        yield from timed(title, group, threads=1, dtype="float64", rows=ROWS)


def _fits(feature_map: RandomFeatureMap, d: int, n: int = 2000) -> Callable[[], Any]:
    return lambda: feature_map.set_params(random_state=0).fit(sphere(n, d, seed=next(_SEEDS))) is None
