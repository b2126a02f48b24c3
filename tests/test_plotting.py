"""Displays draw what they say, from an estimator in one line, and load matplotlib only then."""

import doctest
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split

from rflib import plotting
from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import KRR, LearnedMetric
from rflib.maps import GORF, ORF, MercerFeatures, SurrogateLeverageRFF
from rflib.metrics import relative_frobenius_error
from rflib.plotting import FeatureSpectrumDisplay, KernelErrorDisplay, MetricDisplay


@pytest.fixture(autouse=True)
def plt():
    """pyplot without a screen, whose figures are closed afterwards."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((80, 4))


def test_errors_are_those_of_rows_that_were_held_out(X):
    estimator = MercerFeatures(Gaussian(2.0), 7)
    display = KernelErrorDisplay.from_estimator(
        estimator, X, n_components=[8, 32], n_draws=1, test_size=20, random_state=np.random.RandomState(3)
    )
    random = np.random.RandomState(3)
    train, test = train_test_split(X, test_size=20, random_state=random)
    fitted = MercerFeatures(Gaussian(2.0), 32, random_state=int(random.randint(2**31 - 1))).fit(train)
    expected = relative_frobenius_error(Gaussian(2.0)(test), fitted.kernel_matrix(test))
    assert display.errors.shape == (2, 1) and display.errors[1, 0] == expected
    assert estimator.n_components == 7 and not hasattr(estimator, "signature_")


def test_maps_are_drawn_beside_each_other_on_the_same_axes(X, plt):
    first = KernelErrorDisplay.from_estimator(ORF(Gaussian(2.0)), X, n_components=[8, 32], marker="s")
    again = KernelErrorDisplay.from_estimator(
        ORF(Gaussian(2.0)), X, n_components=[8, 32], name="again", ax=first.ax_
    )
    np.testing.assert_array_equal(first.errors, again.errors)  # the same rows and seeds unless told otherwise
    assert len(np.unique(first.errors)) == 6  # two sizes of three draws
    np.testing.assert_allclose(first.line_.get_ydata(), first.errors.mean(axis=1))
    assert first.line_.get_marker() == "s"
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["ORF", "again"]
    assert again.figure_ is first.figure_ and plt.get_fignums() == [first.figure_.number]
    first.figure_.canvas.draw()
    assert [label.get_text() for label in first.ax_.get_xticklabels()] == ["8", "32"]


def test_targets_reach_maps_that_use_them(X):
    X[0] = 100  # a row whose weight in the leverage depends on its target
    one, other = (
        KernelErrorDisplay.from_estimator(SurrogateLeverageRFF(Gaussian(2.0)), X, y, n_components=[8]).errors
        for y in (X[:, 0], np.sin(9 * X[:, 1]))
    )
    assert not np.array_equal(one, other)


def test_eigenvalues_are_those_of_the_kernel_matrix_and_its_estimate(X):
    kernel = DeltaGaussian(coefficients=(1, -1), sigmas=(1, 10))
    fitted = GORF(kernel, 32, random_state=0).fit(X)
    display = FeatureSpectrumDisplay.from_estimator(fitted, X, color="C3")
    np.testing.assert_allclose(np.sort(display.exact), np.linalg.eigvalsh(kernel(X)), atol=1e-12)
    np.testing.assert_allclose(
        np.sort(display.approximate), np.linalg.eigvalsh(fitted.kernel_matrix(X)), atol=1e-12
    )
    lines = {line.get_label(): line.get_ydata() for line in display.lines_}
    assert set(lines) == {
        *("exact kernel", "exact kernel: negative"),
        *("GORF, 32 columns", "GORF, 32 columns: negative"),
    }
    assert lines["exact kernel"][0] == display.exact.max()
    assert lines["exact kernel: negative"][0] == -display.exact.min()
    # No more than its columns, although the matrix has 80 rows; the others are rounding errors.
    assert len(lines["GORF, 32 columns"]) + len(lines["GORF, 32 columns: negative"]) == 32
    assert display.lines_[2].get_color() == display.lines_[3].get_color() == "C3"
    assert len(display.plot(plot_exact=False).lines_) == 2


def test_the_metric_is_drawn_from_its_most_important_column_down():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    metric = LearnedMetric(random_state=0).fit(X, y)
    display = MetricDisplay.from_estimator(metric, n_columns=3, color="C1")
    order = np.argsort(-metric.feature_importances_)[:3]
    assert display.names == list(X.columns[order])
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_array_equal(widths, metric.feature_importances_[order])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.names
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first one is at the top
    names = MetricDisplay.from_estimator(LearnedMetric(random_state=0).fit(X.to_numpy(), y)).names
    assert set(names) == {f"x{j}" for j in range(10)}


@pytest.mark.parametrize(
    ("draw", "error", "says"),
    [
        (lambda X: KernelErrorDisplay.from_estimator(KRR(), X), TypeError, "must be a map.*, got KRR"),
        (lambda X: KernelErrorDisplay.from_estimator(ORF(), X, n_draws=0), ValueError, "n_draws must be"),
        (lambda X: KernelErrorDisplay.from_estimator(ORF(), X, n_components=()), ValueError, "at least one"),
        (lambda X: FeatureSpectrumDisplay.from_estimator(ORF(), X), NotFittedError, "ORF"),
        (lambda X: FeatureSpectrumDisplay.from_estimator(ORF, X), TypeError, "must be a map.*, got type"),
        (lambda X: MetricDisplay.from_estimator(ORF().fit(X)), TypeError, "must be a LearnedMetric, got ORF"),
        (lambda X: MetricDisplay.from_estimator(LearnedMetric()), NotFittedError, "LearnedMetric"),
        (lambda X: MetricDisplay.from_estimator(LearnedMetric(), n_columns=0), ValueError, "n_columns must"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(draw, error, says, X, plt):
    with pytest.raises(error, match=says):
        draw(X)
    assert not plt.get_fignums()


def test_matplotlib_is_loaded_only_when_something_is_drawn():
    code = (
        "import sys\nfrom rflib import plotting\n[getattr(plotting, name) for name in dir(plotting)]\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"  # as if it were not installed
        "try: plotting.KernelErrorDisplay.from_estimator(None, None)\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == (
        "KernelErrorDisplay needs matplotlib, which is not installed. "
        'Run in the checkout: pip install ".[plot]"\n'
    )


@pytest.mark.parametrize("name", plotting.__all__)
def test_the_examples_of_the_docstrings_run_as_printed(name):
    module = import_module(f"rflib.plotting.{plotting.MODULES[name]}")
    failed, attempted = doctest.testmod(module)
    assert attempted > 3 and not failed
