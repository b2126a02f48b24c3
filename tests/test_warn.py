import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from rflib.kernels import Gaussian
from rflib.learners import KRR, ExactKRRClassifier, LinearSVM
from rflib.maps import Nystroem
from rflib.warn import warn

X, y = np.zeros((20, 2)), np.zeros(20)


class Warns(BaseEstimator):
    """An estimator that warns in fit and in predict, each time with another text; it stands for one of rflib."""

    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y=None):
        warn(f"{len(X)} rows, a={self.a}", cause="fit")
        self.fitted_ = True
        return self

    def predict(self, X):
        warn(f"{len(X)} rows, a={self.a}", cause="predict")
        return np.zeros(len(X))

    def score(self, X, y):
        return float(self.predict(X).sum())


NAMES = {
    function.__name__: function for function in (Warns, GridSearchCV, cross_val_score, make_pipeline)
} | {"X": X, "y": y}


@pytest.fixture(autouse=True)
def in_rflib(monkeypatch):
    """Count this module's estimator as rflib's code: the user is then the caller of the functions below."""
    monkeypatch.setattr(
        "rflib.warn._INTERMEDIATE", ("rflib", "sklearn", "joblib", "contextlib", __name__.split(".")[0])
    )


def called(code, action="always"):
    """Run code as a user's module does and return the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        exec(compile(code, "user.py", "exec"), dict(NAMES, __name__="user"))
    return found


@pytest.mark.parametrize(
    ("code", "causes"),
    [
        ("Warns().fit(X)", 1),
        ("Warns().fit(X).predict(X)", 2),
        ("make_pipeline(Warns()).fit(X).predict(X)", 2),
        ("GridSearchCV(Warns(), {'a': [1, 2, 3]}, refit=False).fit(X, y)", 2),
        ("cross_val_score(Warns(), X, y)", 2),
        ("cross_val_score(make_pipeline(Warns()), X, y)", 2),
    ],
)
def test_one_call_warns_once_for_each_cause_and_points_to_the_user(code, causes):
    found = called("\n" + code)
    assert len(found) == causes
    assert {(w.filename, w.lineno) for w in found} == {("user.py", 2)}


@pytest.mark.parametrize(
    "code",
    [
        "Nystroem(Gaussian(1.0), 100).fit(R)",
        "cross_val_score(KRR(feature_map=Nystroem(Gaussian(1.0), 100)), R, R[:, 0])",
        "LinearSVM(C='cv', Cs=[1e5, 1e6], loss='squared_hinge', dual=True, max_iter=2).fit(R, R[:, 0] > 0)",
        "KRR(alphas=1e-13, gram_dtype='float32').fit(R, R[:, 0])",
        "ExactKRRClassifier(alphas=0.1).fit(R, R[:, :1] > 0)",
        "ExactKRRClassifier(alphas=0.1).fit(R, range(60))",
    ],
)
def test_every_estimator_warns_once_and_points_to_the_user(code, monkeypatch):
    pytest.importorskip("liblinear")
    names = {"R": np.random.default_rng(0).normal(size=(60, 3)), "Gaussian": Gaussian}
    names |= {cls.__name__: cls for cls in (KRR, ExactKRRClassifier, LinearSVM, Nystroem)}
    for name, value in names.items():
        monkeypatch.setitem(NAMES, name, value)
    found = [w for w in called("\n" + code) if issubclass(w.category, UserWarning | RuntimeWarning)]
    assert [(w.filename, w.lineno) for w in found] == [("user.py", 2)]


def test_two_searches_warn_twice():
    code = "GridSearchCV(Warns(), {'a': [1, 2]}, refit=False).fit(X, y)"
    assert len(called(f"{code}\n{code}")) == 4


def test_a_warning_can_be_an_error():
    with pytest.raises(UserWarning, match="20 rows"):
        called("Warns().fit(X)", "error")
