"""An atomic measure at pairs of rows: what its compositions share, whatever their number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rflib.measures.atomic import AtomicMeasure
from rflib.measures.control_variates import ControlVariate, control_variate
from rflib.measures.plane_waves import PlaneWaves, WaveGroup
from rflib.measures.row_pairs import RowPairs


@dataclass(frozen=True)
class _AtPairs:
    """A measure and pairs of rows, which are compared by their numbers."""

    measure: AtomicMeasure = field(compare=False)
    pairs: RowPairs
    radii: bytes
    weights: bytes


class Candidate:
    """A measure at pairs of rows, which keeps what it has computed.

    The values of the plane waves are large. They are kept only for the measures that were used last.
    """

    def __init__(self, key: _AtPairs) -> None:
        self._key, self.measure = key, key.measure
        self._controls: dict[tuple[int, int, bool], ControlVariate] = {}
        self._groups: dict[tuple[str, tuple[ControlVariate, ...]], list[WaveGroup]] = {}

    @cached_property
    def profile(self) -> NDArray[np.float64]:
        """The kernel that the measure represents at the pairs, shape (n_pairs,)."""
        return self.measure.profile(self._key.pairs.distances)

    @cached_property
    def _anchors(self) -> NDArray[np.float64]:
        return self._key.pairs.anchors

    def control(self, degree: int, rank: int, *, positive: bool = False) -> ControlVariate:
        """Return the control variate of a degree with at most this rank; if positive, its functions of sign +1."""
        key = degree, rank, positive
        if key not in self._controls:
            measure, d = self.measure, len(self._key.pairs.centre)
            control = control_variate(d, degree, measure.radii, measure.weights, self._anchors, rank)
            self._controls[key] = (
                control.part(np.flatnonzero(control.signs > 0).tolist()) if positive else control
            )
        return self._controls[key]

    def groups(self, kind: str, controls: Sequence[ControlVariate]) -> list[WaveGroup]:
        """Return `rflib.measures.plane_waves.PlaneWaves.groups` with some of these control variates."""
        key = kind, tuple(controls)
        if key not in self._groups:
            self._groups[key] = _waves(self._key).groups(kind, controls)
        return self._groups[key]


def candidate(measure: AtomicMeasure, pairs: RowPairs) -> Candidate:
    """Return the measure at the pairs."""
    return _candidate(_AtPairs(measure, pairs, measure.radii.tobytes(), measure.weights.tobytes()))


@lru_cache(maxsize=64)
def _candidate(key: _AtPairs) -> Candidate:
    return Candidate(key)


@lru_cache(maxsize=2)
def _waves(key: _AtPairs) -> PlaneWaves:
    return PlaneWaves(key.measure.radii, key.measure.weights, key.pairs)
