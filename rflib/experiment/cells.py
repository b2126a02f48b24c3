"""Cells: their random numbers, and the rows of data that they use."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.utils import get_tags

from rflib.datasets.dense_rows import made_dense
from rflib.datasets.load import Dataset, load
from rflib.experiment.specs import build_kernel, build_map
from rflib.experiment.warned import COLUMN, FitWarning
from rflib.files import read_arrays
from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import on_torch, to_numpy
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import RandomFeatureMap
from rflib.maps.row_blocks import row_blocks

if TYPE_CHECKING:
    from rflib.experiment.data import Data
    from rflib.experiment.jobs import SampleJob, Unit


_ROWS_ON_A_DEVICE = 16_384


def read_rows(results: Path, data: Data, seed: int) -> Dataset:
    """Return the data of one repetition."""
    return load(
        results / "data" / data.folder,
        preprocess=data.preprocess,
        repetition=seed,
        dtype=data.precision,
        max_train=data.max_train,
        max_test=data.max_test,
    )


def as_taken(owner: Any, *parts: Rows) -> list[Rows]:
    """Return rows as a kernel, a map or a learner takes them: dense, if it takes no sparse ones."""
    takes = owner.takes_sparse if isinstance(owner, Kernel) else get_tags(owner).input_tags.sparse
    return list(parts) if takes else made_dense(type(owner).__name__, *parts)


def seed_of(*identity: object) -> SeedSequence:
    """Return a seed sequence from an identity. It is the same on every machine and in every block."""
    digest = hashlib.sha256("\x1f".join(map(str, identity)).encode()).digest()
    return SeedSequence(np.frombuffer(digest, dtype="<u4").tolist())


def unfitted_map(
    unit: Unit, data: Dataset, n_components: int, seed: int, measure: Any = None
) -> RandomFeatureMap:
    """Return the map of a cell before its fit, with a spectral measure that was constructed before, if any.

    The random state depends on the stream of the unit (data, kernel, method), n_components and the seed. A
    parameter ``task`` that is "auto" gets the task of the data.
    """
    constructed = {} if measure is None else {"measure": measure}
    feature_map = build_map(
        {**unit.method, **constructed},
        build_kernel(unit.kernel),
        n_components=n_components,
        random_state=seed_of(unit.stream, n_components, seed),
    )
    parameters = feature_map.get_params().items()
    tasks = [name for name, value in parameters if name.split("__")[-1] == "task" and value == "auto"]
    feature_map.set_params(**dict.fromkeys(tasks, data.task))
    return feature_map


def maps_of(results: Path, job: SampleJob) -> Iterator[tuple[int, int, RandomFeatureMap, float]]:
    """Yield n_components, seed, the fitted map and the seconds of its fit, for each cell of a block."""
    arrays = read_arrays(results / job.path)
    for cell in sorted(
        {name.rsplit("/", 1)[0] for name in arrays}, key=lambda c: [*map(int, c.split("/"))][::-1]
    ):
        n_components, seed = map(int, cell.split("/"))
        state: dict[str, NDArray] = {
            name.rsplit("/", 1)[1]: array for name, array in arrays.items() if name.startswith(f"{cell}/")
        }
        seconds = float(state.pop("seconds"))
        for text in state.pop(COLUMN):
            warnings.warn(FitWarning(text), stacklevel=2)
        kernel = build_kernel(job.unit.kernel)
        fitted = build_map(job.unit.method, kernel, n_components=n_components).restore(state)
        yield n_components, seed, fitted, seconds


def features(feature_map: RandomFeatureMap, X: Rows, device: str) -> NDArray:
    """Return the features of rows in memory, computed on a device in blocks; those of sparse rows, on the CPU."""
    [X] = as_taken(feature_map, X)
    if device == "cpu" or issparse(X):
        return feature_map.transform(X)
    with on_device():
        blocks = row_blocks(len(X), _ROWS_ON_A_DEVICE)
        return np.concatenate([to_numpy(feature_map.transform(on_torch(X[rows], device))) for rows in blocks])


def wake(device: str) -> None:
    """Let a device start, which takes seconds, so that no cell's time contains it."""
    if device != "cpu":
        with on_device():
            matrix = on_torch(np.eye(2), device)
            to_numpy(matrix @ matrix)


@contextmanager
def on_device() -> Iterator[None]:
    """Let scikit-learn leave rows on a device there.

    It asks for an environment variable by which scipy, when it is imported, prepares for such rows; nothing here
    gives them to scipy.
    """
    os.environ["SCIPY_ARRAY_API"] = "1"
    with config_context(array_api_dispatch=True):
        yield


def exact_matrix(kernel: Kernel, X: Rows, Y: Rows | None = None) -> NDArray[np.float64]:
    """Return the exact kernel matrix of rows, or between rows, in double precision."""
    rows = [Z.astype(np.float64) for Z in (X, Y) if Z is not None]
    return np.asarray(kernel(*as_taken(kernel, *rows)), dtype=np.float64)
