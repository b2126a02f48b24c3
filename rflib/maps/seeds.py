"""Seeds of maps, and the generators that they become."""

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

Seed = int | Generator | SeedSequence | RandomState | None
SEEDS = "a non-negative integer, Generator, SeedSequence, RandomState or None"


def as_generator(random_state: Seed) -> Generator:
    """Return a numpy Generator for a ``random_state``, with a stream of its own.

    The stream of ``default_rng(0)`` is that of rows which a user draws by ``default_rng(0).standard_normal``. If
    ``random_state=0`` drew from it, frequencies would be multiples of the rows.
    """
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max, size=4))
    return np.random.default_rng(np.random.default_rng(random_state).integers(2**63, size=4))
