"""A value that a map does not take is named with its row, its column and the remedy, in one line."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.learners import KRR, ExactKRR, KernelRegressor
from rflib.maps import RFF, AutoMap, MercerFeatures, Nystroem

X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 2)), columns=["size", "age"])
TABLES = "or use KernelClassifier or KernelRegressor, which take"


@pytest.mark.parametrize("make", [RFF, MercerFeatures, Nystroem, AutoMap])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, rf"NaN in column 'age'\. Impute it \(SimpleImputer\), {TABLES} missing values\."),
        ("old", rf"'old' in column 'age'\. Encode it \(OneHotEncoder\), {TABLES} texts\."),
        (np.inf, r"infinity.* in column 'age'\. Complete or encode it, or leave the row out\."),
    ],
)
def test_a_map_names_the_column_and_the_remedy(make, value, words):
    strange = X.astype({"age": object} if isinstance(value, str) else {"age": float})
    strange.loc[3, "age"] = value
    fitted = make(Gaussian(2.0), 10, random_state=0).fit(X)
    for call in (make(Gaussian(2.0), 10).fit, fitted.transform, fitted.kernel_matrix):
        with pytest.raises(ValueError, match=rf"^{make.__name__}: in row 3: Input X contains {words}$"):
            call(strange)
    with pytest.raises(ValueError, match=r"^RFF: in row 3: Input X contains NaN in column 1\. Impute it"):
        RFF().fit(X.mask(X.iloc[3, 1] == X).to_numpy())


def test_dates_are_no_numbers():
    with pytest.raises(ValueError, match=r"^RFF: X must hold numbers, got dates\. Convert them first\.$"):
        RFF().fit(X.assign(age=pd.Timestamp(0)))


def test_a_map_in_a_pipeline_in_a_learner_is_told_with_the_row_of_the_learner():
    inside = make_pipeline(StandardScaler(), RFF(Gaussian(2.0), 10, random_state=0))
    strange = X.mask(X.iloc[25, 1] == X)
    with pytest.raises(ValueError, match=r"^KRR: in row 25: The feature_map does not take a value: Input X"):
        KRR(feature_map=inside).fit(strange, np.arange(30.0))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_learner_of_tables_asks_for_a_frame_where_texts_are_in_an_array():
    table = X.assign(colour=["red", "blue"] * 15)
    model = KernelRegressor().fit(table, X["size"])
    with pytest.raises(
        ValueError, match=r"'red' in column 2\. Texts are taken in columns of a DataFrame: give"
    ):
        model.predict(table.to_numpy())


def test_exact_ridge_regression_says_who_has_standard_deviations():
    model = ExactKRR(Gaussian(2.0)).fit(X, X["size"])
    with pytest.raises(
        TypeError, match=r"^ExactKRR has no standard.*MercerFeatures\(Gaussian\(sigma=2\.0\), "
    ):
        model.predict(X, return_std=True)
