"""The jobs that learn from the rows themselves, without a feature map: exact kernels, and any estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rflib.experiment.data import Data
from rflib.experiment.estimators import modules_of
from rflib.experiment.fingerprint import is_installed
from rflib.experiment.grids import NO_KERNEL
from rflib.experiment.jobs import CellJob, Seeds, text_of
from rflib.experiment.specs import Spec, identity, module_of

_UNKNOWN_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class ExactJob(CellJob):
    """Train a learner with the exact kernel and score it."""

    data: Data
    kernel: Spec
    learner: Spec
    seeds: Seeds

    step, folder, suffix = "exact", "exact", "parquet"
    minutes = 120

    @cached_property
    def name(self) -> str:
        return f"{self.data.id}/{identity(self.kernel)}/{identity(self.learner)}{text_of(self.seeds)}"

    @property
    def modules(self) -> tuple[str, ...]:
        kernel, learner = module_of("kernel", self.kernel["type"]), module_of("learner", self.learner["type"])
        return (f"rflib.experiment.{self.step}", kernel, learner)

    @property
    def megabytes(self) -> int:
        """For training rows: kernel matrix, temporary array, the learner's copy; for test rows: the first two."""
        train, test = self.data.rows
        return self.data.megabytes + (24 * train + 16 * test) * train // 10**6

    @property
    def names(self) -> Mapping[str, str]:
        return {"data": self.data.id, "kernel_id": identity(self.kernel), "method_id": "exact"}


@dataclass(frozen=True, eq=False)
class FitJob(CellJob):
    """Fit an estimator to the raw columns, score it, and measure its seconds and its memory."""

    data: Data
    estimator: Spec
    seeds: Seeds

    step, folder, suffix = "fit", "fits", "parquet"
    minutes = 240

    @cached_property
    def name(self) -> str:
        return f"{self.data.id}/{identity(self.estimator)}{text_of(self.seeds)}"

    @property
    def modules(self) -> tuple[str, ...]:
        """The step, and the modules of the estimator and its parts; of installed packages there are versions."""
        own = [module for module in modules_of(self.estimator) if not is_installed(module)]
        return tuple(dict.fromkeys([f"rflib.experiment.{self.step}", *own]))

    @property
    def megabytes(self) -> int:
        """For two gigabytes and ten copies of the rows, or a wide search's many."""
        columns: Any = self.data.entry.columns if self.data.entry else _UNKNOWN_COLUMNS
        return self.data.megabytes + 2000 + 80 * sum(self.data.rows) * columns // 10**6

    @property
    def names(self) -> Mapping[str, str]:
        return {"data": self.data.id, "kernel_id": NO_KERNEL, "method_id": identity(self.estimator)}
