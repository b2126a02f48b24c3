"""FeatureSpectrumDisplay: the eigenvalues of a kernel matrix beside those of a map's estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from sklearn.utils.validation import check_is_fitted

from rflib.maps.base import RandomFeatureMap
from rflib.plotting.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FeatureSpectrumDisplay(Display):
    """Eigenvalues of the kernel matrix of some rows, and of the estimate by the features of a map.

    It is made by `from_estimator`. The eigenvalues of a kernel say how many directions of the features matter, and
    those of the estimate which of them a map has. A map of D columns has at most D. Negative eigenvalues, which
    an indefinite kernel has, are drawn as a dashed line by their absolute values.

    Parameters
    ----------
    exact, approximate : array-like of shape (n_rows,)
        Eigenvalues of the kernel matrix and of its estimate.
    name : str, optional
        What the legend says of the estimate.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes with the picture.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    lines_ : list of matplotlib.lines.Line2D
        The lines: of the exact matrix, if it is drawn, and of the estimate, positive eigenvalues first.

    See Also
    --------
    KernelErrorDisplay : The error of the kernel matrix against the number of columns.
    rflib.metrics.regularised_spectral_error : The error in directions that ridge regression uses.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib import FeatureSpectrumDisplay, Gaussian, ORF
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> features = ORF(Gaussian("median"), n_components=64, random_state=0).fit(X)
    >>> display = FeatureSpectrumDisplay.from_estimator(features, X)
    >>> bool(display.approximate.max() < 1.1 * display.exact.max())
    True
    """

    lines_: list[Any]

    def __init__(self, *, exact: ArrayLike, approximate: ArrayLike, name: str | None = None) -> None:
        self.exact = exact
        self.approximate = approximate
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: RandomFeatureMap,
        X: ArrayLike,
        *,
        plot_exact: bool = True,
        name: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Compute and draw the eigenvalues at some rows, which takes time of the order of n³ for n rows.

        Parameters
        ----------
        estimator : RandomFeatureMap
            A fitted map.
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows, best a thousand or fewer.
        plot_exact : bool, default=True
            Whether to draw those of the exact matrix too. For further maps on the same axes they are there.
        name : str, optional
            What the legend says of the estimate, by default the name of the map's class and its number of columns.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        **line
            Options of the line of the estimate, as matplotlib's ``plot`` takes them.

        Returns
        -------
        FeatureSpectrumDisplay
            The display, which is drawn.

        Raises
        ------
        TypeError
            If the estimator is no map.
        NotFittedError
            If the map is not fitted.
        ValueError
            If X does not suit the map.
        ImportError
            If matplotlib is not installed.
        """
        cls._check_matplotlib()
        cls._check_is(estimator, RandomFeatureMap, "a map of rflib, such as ORF()")
        check_is_fitted(estimator)
        approximate = eigvalsh(np.asarray(estimator.kernel_matrix(X), dtype=np.float64))
        exact = eigvalsh(np.asarray(estimator.kernel_(X), dtype=np.float64))
        name = name or f"{type(estimator).__name__}, {estimator.n_components_} columns"
        return cls(exact=exact, approximate=approximate, name=name).plot(ax, plot_exact=plot_exact, **line)

    def plot(self, ax: Axes | None = None, *, plot_exact: bool = True, **line: Any) -> Self:
        """Draw the eigenvalues by their rank; those that are zero up to rounding are left out.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        plot_exact : bool, default=True
            Whether to draw those of the exact matrix too.
        **line
            Options of the line of the estimate, as matplotlib's ``plot`` takes them.

        Returns
        -------
        FeatureSpectrumDisplay
            This display.
        """
        ax = self._begin(ax)
        self.lines_ = []
        if plot_exact:
            self._draw(ax, np.asarray(self.exact), color="0.5", linewidth=3, label="exact kernel")
        self._draw(ax, np.asarray(self.approximate), **{"label": self.name or "estimate"} | line)
        ax.set(xscale="log", yscale="log", xlabel="rank", ylabel="eigenvalue of the kernel matrix")
        ax.legend()
        return self

    def _draw(self, ax: Axes, values: NDArray[np.float64], label: str, **line: Any) -> None:
        floor = len(values) * np.finfo(np.float64).eps * np.abs(values).max()
        for found, said, style in ((values, label, "-"), (-values, f"{label}: negative", "--")):
            shown = np.sort(found[found > floor])[::-1]
            if len(shown):
                ranks = np.arange(1, len(shown) + 1)
                self.lines_ += ax.plot(
                    ranks, shown, **{"linestyle": style, "marker": ".", "label": said} | line
                )
                line["color"] = self.lines_[-1].get_color()
