"""The plain map's predicted error is the one that comes out, for all laws of norms, directions and columns.

The rows are held out. The mean squared error over SEEDS draws must be within 6 of its standard errors of the
prediction's square: one false alarm in about 10^8 for normal errors, 10^7 for all cases together. Beside this, 2 %
are allowed for what is not chance: the prediction averages over quantiles of the training rows' distances.
"""

import numpy as np
import pytest

from rflib.kernels import DeltaGaussian, SphericalPolynomial
from rflib.maps import MVORF

from .conftest import sphere

pytestmark = pytest.mark.usefixtures("shared_by_draws")
SEEDS = 30
ROWS = sphere(1040, 6, seed=5)
TRAIN, TEST = ROWS[:1000], ROWS[1000:]
KERNELS = {27: SphericalPolynomial(4, 3), 160: DeltaGaussian((1, -0.8), (0.7, 2))}

PLAIN = {"harmonics": None, "parity": False, "coupled": False}

# An odd number of columns gives the last frequency a random phase.
LAWS = [
    *(
        (27, "cos_sin", radii, directions)
        for radii in ("stratified", "iid")
        for directions in ("orthogonal", "frame")
    ),
    *((160, "phase", radii, "orthogonal") for radii in ("stratified", "iid", "halton")),
    (27, "phase", "iid", "iid"),
    (160, "phase", "stratified", "frame"),
    (160, "cos_sin", "stratified", "iid"),
    (160, "cos_sin", "iid", "frame"),
    (160, "cos_sin", "stratified", "sobol"),
    (160, "cos_sin", "joint", "halton"),
]


@pytest.fixture(scope="module")
def ladders():
    return {columns: MVORF(kernel, **PLAIN).spectrum(TRAIN) for columns, kernel in KERNELS.items()}


@pytest.mark.parametrize(("columns", "layout", "radii", "directions"), LAWS)
def test_predicted_error_is_the_error(columns, layout, radii, directions, ladders):
    """Low-discrepancy directions may do better than predicted, but not by half."""
    kernel, options = KERNELS[columns], {"layout": layout, "radii": radii, "directions": directions, **PLAIN}
    fitted = MVORF(kernel, columns, measure=ladders[columns], **options).fit(TEST)
    predicted = fitted.predicted_error_**2
    exact = kernel(TEST)
    maps = (
        MVORF(kernel, columns, measure=fitted.measure_, random_state=seed, **options) for seed in range(SEEDS)
    )
    squares = np.array([np.mean((m.fit(TEST).kernel_matrix(TEST) - exact) ** 2) for m in maps])
    slack = 6 * squares.std(ddof=1) / np.sqrt(SEEDS) + 0.02 * predicted
    assert squares.mean() < predicted + slack
    assert squares.mean() > predicted * (0.5 if directions in ("halton", "sobol") else 1) - slack


@pytest.mark.parametrize("options", [{"layout": "phase"}, {"radii": "iid"}, {"directions": "frame"}], ids=str)
def test_the_rung_is_chosen_for_the_law(options, ladders):
    """It has the least predicted error under this law, where the usual law chooses another one."""
    errors = []
    for rung in ladders[160].rungs:
        errors.append(MVORF(KERNELS[160], 160, measure=rung, **options).fit(TEST).predicted_error_)
    chosen = MVORF(KERNELS[160], 160, measure=ladders[160], **options).fit(TEST)
    assert chosen.predicted_error_ == min(errors)
