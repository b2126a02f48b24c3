"""Specifications: one form and one name for what is the same, errors that help."""

from __future__ import annotations

import pytest

from rflib.experiment.specs import build, build_kernel, build_map, canonical, identity, normalised, shorten
from rflib.kernels.gaussian import Gaussian
from rflib.maps.gorf import GORF


def name(role: str, **spec: object) -> str:
    return identity(normalised(role, spec))


def test_equal_specifications_have_one_form() -> None:
    assert canonical({"b": 1, "a": [2]}) == '{"a":[2],"b":1}'
    assert normalised("kernel", {"type": "SphericalPolynomial", "a": 3.0, "p": 10}) == {
        "type": "SphericalPolynomial",
        "a": 3,
    }
    assert normalised("kernel", {"type": "DeltaGaussian", "sigmas": [1, 10.0]}) == {"type": "DeltaGaussian"}


def test_a_default_that_is_true_is_not_the_number_one() -> None:
    assert name("learner", type="LinearSVM", C=1) == "LinearSVM"
    assert name("learner", type="LinearSVM", fit_intercept=True) == "LinearSVM-fit_intercept=True"


def test_names_are_readable_and_differ_where_specifications_do() -> None:
    assert name("method", type="GORF") == "GORF"
    assert name("method", type="GORF", directions="frame") == "GORF-directions=frame"
    assert name("method", type="SRF", measure={"type": "srf", "n": 3}) == "SRF-measure=srf-n=3"
    near = [name("kernel", type="Gaussian", sigma=0.7071067811865476 + i * 1e-12) for i in range(2)]
    assert near[0] != near[1]
    assert name("method", type="CRAFT", base={"type": "SRF"}) != name("method", type="CRAFT")


def test_names_of_files_are_short_and_safe() -> None:
    assert shorten("a" * 60) == "a" * 60
    assert len(shorten("a" * 61)) <= 60
    assert shorten("a" * 61) != shorten("a" * 62)
    assert "/" not in shorten("../etc")
    assert shorten("a b") != shorten("a_b")


def test_objects_are_built_from_specifications() -> None:
    kernel = build_kernel({"type": "DeltaGaussian", "coefficients": [1, -2], "sigmas": [1, 3]})
    assert kernel.coefficients == (1.0, -2.0)
    feature_map = build_map({"type": "GORF", "directions": "frame"}, kernel, n_components=8)
    assert isinstance(feature_map, GORF)
    assert (feature_map.directions, feature_map.n_components) == ("frame", 8)
    craft = build_map({"type": "CRAFT", "base": {"type": "RFF"}}, Gaussian(), n_components=8)
    assert craft.base.kernel == Gaussian()


def test_a_class_from_outside_is_found_by_its_module() -> None:
    assert isinstance(build("method", {"type": "rflib.maps.gorf:GORF"}), GORF)
    assert name("method", type="rflib.maps.gorf:GORF") == "rflib.maps.gorf.GORF"


@pytest.mark.parametrize(
    ("role", "spec", "words"),
    [
        ("kernel", {"type": "Gausian"}, "no kernel 'Gausian'. Did you mean 'Gaussian'"),
        ("method", {"type": "MVORFF"}, "Did you mean 'MVORF'"),
        (
            "method",
            {"type": "GORF", "direction": "frame"},
            "no parameter 'direction'. Did you mean 'directions'",
        ),
        ("kernel", {"type": "Gaussian", "sigma": -1}, "sigma must be a number above 0"),
        ("method", {"type": "nowhere.module:Class"}, "cannot be imported"),
    ],
)
def test_what_is_unknown_is_named_with_the_nearest(role: str, spec: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build(role, spec)


def test_a_study_needs_a_number_or_one_for_each_column() -> None:
    assert build_kernel({"type": "Gaussian", "sigma": [1, 2]}) == Gaussian((1, 2))
    with pytest.raises(ValueError, match="a study needs a number for sigma"):
        build_kernel({"type": "Gaussian", "sigma": "scale"})


def test_ridge_regression_of_a_study_has_five_folds_unless_it_says_otherwise():
    for name in ("KRR", "KRRClassifier", "ExactKRR", "ExactKRRClassifier"):
        spec = {"type": name, "alphas": [0.1, 1]}
        assert build("learner", spec).cv == 5 and build("learner", {**spec, "cv": None}).cv is None
        assert identity(normalised("learner", {**spec, "cv": 5})) == identity(normalised("learner", spec))
        assert identity(normalised("learner", {**spec, "cv": None})) == f"{name}-alphas=0.1_1-cv=None"
    assert build("learner", {"type": "LinearSVM"}).cv == 5
