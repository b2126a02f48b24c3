"""What compositions of other numbers of columns have in common is computed once, and changes nothing."""

import numpy as np

from rflib.frequencies import candidate as module
from rflib.frequencies.candidate import candidate
from rflib.kernels import Gaussian
from rflib.maps.mvorf import MVORF
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.domain import Domain
from rflib.measures.plane_waves import PlaneWaves

X = np.random.default_rng(0).standard_normal((80, 4))


def test_fits_with_other_columns_before_change_nothing():
    def fitted(clear):
        for columns in (20, 60, 200):
            if clear:
                module._candidate.cache_clear()
                module._waves.cache_clear()
            yield MVORF(Gaussian(1.3), columns, random_state=0).fit(X).transform(X)

    for ours, alone in zip(fitted(False), fitted(True), strict=True):
        np.testing.assert_array_equal(ours, alone)


def test_strata_are_computed_once_for_equal_measures_and_pairs(monkeypatch):
    calls = []
    monkeypatch.setattr(
        PlaneWaves, "groups", lambda self, kind, controls: calls.append((kind, controls)) or [len(calls)]
    )

    def known():
        atoms = {"radii": np.array([0.3, 1.7]), "weights": np.array([0.6, 0.4])}
        measure = AtomicMeasure(4, 5.0, distances=np.ones(1), values=np.ones(1), bias_estimate=0.0, **atoms)
        return candidate(measure, Domain.of(X.copy()).pairs(50))

    first = known()
    zeroth, second = first.control(0, 2), first.control(2, 1)
    assert known().control(0, 2) is zeroth
    assert first.groups("cos", [zeroth]) == known().groups("cos", (zeroth,)) == [1]
    assert known().groups("cos", [zeroth, second]) == [2]
    assert known().groups("sin", [zeroth]) == [3]
    assert len(calls) == 3
