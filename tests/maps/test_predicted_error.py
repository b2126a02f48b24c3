"""The predicted error of the waves of atoms is the one that comes out, for all laws of norms and directions.

The rows are held out. The mean squared error over SEEDS draws must be within 6 of its standard errors of the
prediction's square: one false alarm in about 10^8 for normal errors, 10^7 for all cases together. Beside this, 2 %
are allowed for what is not chance: the prediction averages over quantiles of the training rows' distances.
"""

from functools import partial

import numpy as np
import pytest

from rflib.kernels import DeltaGaussian, SphericalPolynomial
from rflib.maps import GORF
from rflib.measures.base import Sampling

from .conftest import sphere

SEEDS = 30
ROWS = sphere(1040, 6, seed=5)
TRAIN, TEST = ROWS[:1000], ROWS[1000:]
KERNELS = {28: SphericalPolynomial(4, 3), 160: DeltaGaussian((1, -0.8), (0.7, 2))}

LAWS = [
    *((28, radii, "orthogonal") for radii in ("stratified", "iid")),
    *((160, radii, "orthogonal") for radii in ("stratified", "iid", "halton")),
    (28, "iid", "iid"),
    (160, "stratified", "iid"),
    (160, "stratified", "sobol"),
    (160, "joint", "halton"),
]


@pytest.fixture(scope="module")
def candidates():
    make = partial(GORF, measure="minimum_variance")
    return {columns: make(kernel).spectrum(TRAIN) for columns, kernel in KERNELS.items()}


@pytest.mark.parametrize(("columns", "radii", "directions"), LAWS)
def test_predicted_error_is_the_error(columns, radii, directions, candidates):
    """Low-discrepancy directions may do better than predicted, but not by half. Pairs are of different rows."""
    kernel, options = KERNELS[columns], {"radii": radii, "directions": directions}
    sampling = Sampling(columns // 2, directions, radii)
    measure = candidates[columns].for_sampling(sampling)
    predicted, pairs = measure.predicted_error(sampling) ** 2, np.triu_indices(len(TEST), 1)
    exact = kernel(TEST)
    maps = (GORF(kernel, columns, measure=measure, random_state=seed, **options) for seed in range(SEEDS))
    squares = np.array([np.mean((m.fit(TEST).kernel_matrix(TEST) - exact)[pairs] ** 2) for m in maps])
    slack = 6 * squares.std(ddof=1) / np.sqrt(SEEDS) + 0.02 * predicted
    assert squares.mean() < predicted + slack
    assert squares.mean() > predicted * (0.5 if directions in ("halton", "sobol") else 1) - slack


def test_the_candidate_is_chosen_for_the_law(candidates):
    """It has the least predicted error under this law."""
    sampling = Sampling(80, "orthogonal", "iid")
    errors = [each.predicted_error(sampling) for each in candidates[160].candidates]
    assert candidates[160].for_sampling(sampling).predicted_error(sampling) == min(errors)
