"""Keyword arguments of other libraries: an error says what they are called here; signatures are as before."""

import copy
import inspect
import pickle

import pytest
from sklearn.base import clone

from rflib import kernels, learners, maps
from rflib.kernels import Gaussian
from rflib.kernels.base import Kernel, RadialKernel


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "Gaussian",
            {"gamma": 0.1},
            r"gamma = 1 / \(2 sigma\^2\), so that this is Gaussian\(sigma=2\.23607\)\.",
        ),
        ("Gaussian", {"gamma": "scale"}, r"Gaussian\(sigma='scale'\)"),
        ("Gaussian", {"length_scale": 2}, r"Here it is sigma: Gaussian\(sigma=2\)\."),
        ("Gaussian", {"simga": 2}, "Did you mean 'sigma'"),
        ("Laplacian", {"sigma": 4}, r"the inverse of the width: Laplacian\(gamma=0\.25\)"),
        ("Cauchy", {"length_scale": 4}, r"the inverse of the width: Cauchy\(gamma=0\.25\)"),
        ("Matern", {"sigma": 4}, r"Matern\(length_scale=4\)"),
        ("Matern", {"smoothness": 0.5}, "Here it is nu"),
        ("Polynomial", {"p": 3}, "Here it is degree"),
        ("Polynomial", {"bias": 3}, "Here it is coef0"),
        ("SphericalPolynomial", {"degree": 3}, "Here it is p"),
        ("SphericalPolynomial", {"coef0": 3}, r"coef0 = a\^2 / 2 - 1"),
        ("DeltaGaussian", {"weights": (1, -1)}, "Here it is coefficients"),
        ("ArcCosine", {"degree": 1}, "Here it is order"),
        ("RFF", {"gamma": 0.1}, r"Its kernel has it: RFF\(kernel=Gaussian\(sigma=2\.23607\)\)"),
        ("MVORF", {"n_features": 9}, "Here it is n_components"),
        ("ORF", {"seed": 9}, "Here it is random_state"),
        ("TensorSketch", {"degree": 3}, r"Its kernel has it: TensorSketch\(kernel=Polynomial\(degree=3\)\)"),
        ("Nystroem", {"n_component": 9}, "Did you mean 'n_components'"),
        ("TensorSketch", {"gamma": 0.1}, r"TensorSketch\(kernel=Polynomial\(gamma=0\.1\)\)"),
        ("RFF", {"degree": 3}, r"\. It has kernel, n_components"),
        ("SORF", {"nu": 0.5}, r"\. It has kernel, n_components"),
        ("KRR", {"degree": 3}, r"feature_map=OptimizedMaclaurin\(Polynomial\(degree=3\)\)"),
        ("KRR", {"penalty": 0.1}, "Here it is alphas"),
        ("RFF", {"num_samples": 9}, "Here it is n_components"),
        ("Gaussian", {"lengthscales": (1, 2)}, r"Gaussian\(sigma=\(1, 2\)\)"),
        ("Gaussian", {"SIGMA": 2}, "Did you mean 'sigma'"),
        ("Gaussian", {"ard_num_dims": 3}, r"a sequence of widths: Gaussian\(sigma=\[1\.0\] \* 3\)"),
        ("Laplacian", {"ard_num_dims": 3}, r"Laplacian\(gamma=\[1\.0\] \* 3\)"),
        ("KRR", {"normalize_y": True}, "means of the targets are taken off.*leave it out"),
        ("KRR", {"alpha": 0.1}, r"Here it is alphas, .*number of rows: KRR\(alphas=0\.1\).*ridge='lambda'"),
        ("ExactKRR", {"alpha": 0.1}, r"ExactKRR\(alphas=0\.1, ridge='lambda'\)"),
        ("KRRClassifier", {"C": 1}, "Here it is alphas, which acts as 1 / C does"),
        ("KRR", {"gamma": 0.5}, r"KRR\(feature_map=ORF\(Gaussian\(sigma=1\)\)\)"),
        ("LinearSVM", {"alpha": 1}, "Here it is C, which acts as 1 / alpha does"),
        ("LinearSVR", {"eps": 1}, "Here it is epsilon"),
        ("ExactKernelSVC", {"gamma": 0.5}, r"ExactKernelSVC\(kernel=Gaussian\(sigma=1\)\)"),
        ("DoublyStochasticRegressor", {"gama": 1}, "It has feature_map, n_blocks"),
        ("LearnedMetric", {"n_iter": 3}, "Here it is n_rounds"),
        ("LearnedMetric", {"n_components": 2}, "It keeps all columns: scikit-learn's PCA"),
        ("LearnedMetric", {"alpha": 2}, "The ridge is chosen by held-out rows"),
        ("KernelRegressor", {"alpha": 1}, "It is chosen by held-out rows: KRR and LinearSVM let you choose"),
        ("KernelClassifier", {"C": 1}, "It is chosen by held-out rows"),
        ("KernelClassifier", {"groups": [1]}, r"It belongs to fit\(X, y, groups=\.\.\.\)"),
        ("KernelClassifier", {"class_weights": "balanced"}, "Here it is class_weight"),
        ("KernelRegressor", {"time_limit": 60}, "Here it is seconds"),
        ("KernelRegressor", {"seed": 0}, "Here it is random_state"),
        ("HardMarginSVM", {"zeal": 1}, "It has signed, signature"),
    ],
)
def test_the_error_names_the_class_and_the_right_parameter(name, given, words):
    cls = next(getattr(package, name) for package in (kernels, maps, learners) if name in dir(package))
    (word,) = given
    with pytest.raises(TypeError, match=f"^{name} has no parameter '{word}'.*{words}"):
        cls(**given)
    if not inspect.signature(cls).parameters.keys() & {"profile"}:
        with pytest.raises(ValueError, match=f"^{name} has no parameter '{word}'.*{words}"):
            cls().set_params(**given)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: learners.KRR(maps.ORF()), r"KRR: ORF\(\) has no name\. Give names to all\. It has alphas, "),
        (
            lambda: maps.ORF(Gaussian(), 9, 0),
            "ORF: 0 has no name\\. Only kernel, n_components may be given without",
        ),
        (lambda: Gaussian(1, 2), "Gaussian: 2 has no name\\. Only sigma may"),
    ],
)
def test_the_error_says_which_parameters_need_no_name(make, words):
    with pytest.raises(TypeError, match=f"^{words}"):
        make()


def test_parameters_inside_are_named_too():
    ridge = learners.KRR(feature_map=maps.RFF(Gaussian()))
    with pytest.raises(ValueError, match=r"^Gaussian has no parameter 'gamma'\. .*Gaussian\(sigma=1\)"):
        ridge.set_params(feature_map__kernel__gamma=0.5)
    with pytest.raises(ValueError, match=r"^RFF has no parameter 'seed'\. Here it is random_state"):
        ridge.set_params(feature_map__seed=0)


@pytest.mark.parametrize("package", [kernels, maps, learners])
def test_signatures_copies_and_pickles_are_those_of_the_class(package):
    for name in dir(package):
        cls = getattr(package, name)
        if not inspect.isclass(cls) or not hasattr(cls, "get_params") or inspect.isabstract(cls):
            continue
        parameters = inspect.signature(cls).parameters
        assert list(parameters) == list(inspect.signature(cls.__init__).parameters)[1:]
        if all(p.default is not p.empty for p in parameters.values()):
            made = cls()
            for other in (clone(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
                assert repr(other) == repr(made)


def test_classes_of_users_keep_their_own_parameters():
    class Plain(RadialKernel):
        def at_distance(self, z):
            return 1 / (1 + z)

    class Open(Plain):
        def __init__(self, **options):
            self.options = options

    assert Plain().get_params() == {}
    assert Open(anything=1).options == {"anything": 1}
    for make in (lambda: Plain(anything=1), lambda: Plain(1)):
        with pytest.raises(TypeError, match=r"^Plain has no parameters\.$"):
            make()
    with pytest.raises(TypeError, match="abstract"):
        Kernel()
