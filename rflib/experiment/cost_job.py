"""The job that measures the seconds and the memory of maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rflib.experiment.data import Data
from rflib.experiment.jobs import CellJob, Seeds, Unit, block_of
from rflib.experiment.specs import Spec, identity, shorten


@dataclass(frozen=True, eq=False)
class CostJob(CellJob):
    """Measure the seconds and the memory of maps, all of them in one job, so that they share its conditions.

    Attributes
    ----------
    methods : tuple of mapping
        Specifications of the maps.
    n_components : tuple of int
        Numbers of columns, each of which all maps get.
    """

    data: Data
    kernel: Spec
    methods: tuple[Spec, ...]
    n_components: tuple[int, ...]
    seeds: Seeds

    step, folder, suffix = "cost", "costs", "parquet"
    minutes = 240

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The maps for the kernel on the data set."""
        return tuple(Unit(self.data, self.kernel, method) for method in self.methods)

    @cached_property
    def name(self) -> str:
        maps = shorten("+".join(map(identity, self.methods)))
        return f"{self.data.id}/{identity(self.kernel)}/{maps}/{block_of(self.n_components, self.seeds)}"

    @property
    def modules(self) -> tuple[str, ...]:
        of_maps = dict.fromkeys(module for unit in self.units for module in unit.modules)
        return (f"rflib.experiment.{self.step}", *of_maps)

    @property
    def megabytes(self) -> int:
        """For the largest features, and for Nystroem's kernel values and two matrices of its landmarks."""
        train, columns = self.data.rows[0], max(self.n_components)
        return self.data.megabytes + 16 * (train + columns) * columns // 10**6

    @property
    def names(self) -> Mapping[str, str]:
        return {"data": self.data.id, "kernel_id": identity(self.kernel)}
