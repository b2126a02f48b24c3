"""signed_columns: which columns of signed features a convex learner sees."""

import numpy as np
import pytest

from rflib.learners.signed import signed_columns

Z = np.arange(12.0).reshape(3, 4)


def test_columns():
    np.testing.assert_array_equal(signed_columns(Z, [1, -1, 1, -1], "positive"), Z[:, [0, 2]])
    assert signed_columns(Z, [1, -1, 1, -1], "associated") is Z
    assert signed_columns(Z, [1, 1, 1, 1], "positive") is Z


@pytest.mark.parametrize(
    ("signature", "how", "message"),
    [
        ([1, 1, 1], "positive", "one entry for each of the 4"),
        ([1, 1, 1, 2], "positive", r"\+1 and -1 only"),
        ([1, 1, 1, np.nan], "positive", r"\+1 and -1 only"),
        ([-1] * 4, "positive", "leaves no column"),
        ([1] * 4, "krein", "KRR and ExactKRR only"),
        ([1] * 4, "negative", "must be one of"),
    ],
)
def test_bad_input(signature, how, message):
    with pytest.raises(ValueError, match=message):
        signed_columns(Z, signature, how)
