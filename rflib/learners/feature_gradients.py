"""Conjugate gradients on features: systems whose features are kept where they are few, else made again."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rflib.kernels.namespaces import Array, is_single
from rflib.learners.feature_systems import FeatureSystems
from rflib.learners.kept_blocks import KeptBlocks
from rflib.learners.memory import machine_memory
from rflib.learners.moments import Blocks

# Features are kept up to this share of the machine's memory, else made again in each step, in blocks of at most so
# many numbers.
_KEPT_SHARE = 1 / 8
_BLOCK_NUMBERS = 1 << 22


def feature_systems(
    blocks: Callable[[int], Blocks],
    first: Array,
    height: int,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> FeatureSystems:
    """Return the systems of rows with weights (n,), whose blocks of a height are made when they are asked for.

    ``first`` are the features of a few rows, and ``height`` is the largest one.
    """
    n, D = len(weights), first.shape[1]
    kept = KeptBlocks(
        lambda: blocks(max(1, min(height, _BLOCK_NUMBERS // D))),
        lambda Z: n * D * Z.itemsize <= _KEPT_SHARE * machine_memory(),
    )
    return FeatureSystems(kept, D, is_single(first), weights, rng)
