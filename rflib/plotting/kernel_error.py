"""KernelErrorDisplay: the error of a map's kernel matrix against the number of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from rflib.maps.base import RandomFeatureMap
from rflib.metrics import relative_frobenius_error
from rflib.plotting.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Held-out rows: a quarter of all, and at most so many.
_SHARE, _MOST = 4, 1000


class KernelErrorDisplay(Display):
    """Error of the kernel matrix of held-out rows against the number of columns of a map.

    It is made by `from_estimator`. To compare maps, draw them on the same axes.

    Parameters
    ----------
    n_components : array-like of shape (n_sizes,)
        Numbers of columns.
    errors : array-like of shape (n_sizes, n_draws)
        Relative errors in the Frobenius norm, one for each random draw of the map.
    name : str, optional
        What the legend says.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes with the picture.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    line_ : matplotlib.lines.Line2D
        The mean errors.

    See Also
    --------
    FeatureSpectrumDisplay : Eigenvalues of the kernel matrix beside those of its estimate.
    rflib.metrics.relative_frobenius_error : The error.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rflib import Gaussian, KernelErrorDisplay, MercerFeatures, ORF
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> display = KernelErrorDisplay.from_estimator(ORF(Gaussian("median")), X, n_components=[16, 64])
    >>> best = KernelErrorDisplay.from_estimator(
    ...     MercerFeatures(Gaussian("median")), X, n_components=[16, 64], ax=display.ax_
    ... )
    """

    line_: Any

    def __init__(self, *, n_components: ArrayLike, errors: ArrayLike, name: str | None = None) -> None:
        self.n_components = n_components
        self.errors = errors
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: RandomFeatureMap,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        n_components: Sequence[int] = (32, 64, 128, 256),
        n_draws: int = 3,
        test_size: float | None = None,
        random_state: Any = 0,
        name: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Fit clones of a map with several numbers of columns, and draw their errors on rows that are held out.

        Parameters
        ----------
        estimator : RandomFeatureMap
            Any map; it is not changed. Its n_components and random_state are replaced.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), optional
            Targets, for maps that use them.
        n_components : sequence of int, default=(32, 64, 128, 256)
            Numbers of columns.
        n_draws : int, default=3
            Number of fits with different seeds for each number of columns.
        test_size : int or float, optional
            Number or share of the rows to hold out, by default a quarter and at most 1,000.
        random_state : int, RandomState or None, default=0
            Seed of the rows that are held out and of the draws. Maps with the same seed have the same rows.
        name : str, optional
            What the legend says, by default the name of the class.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        **line
            Options of the line, as matplotlib's ``plot`` takes them, such as ``marker="s"``.

        Returns
        -------
        KernelErrorDisplay
            The display, which is drawn.

        Raises
        ------
        TypeError
            If the estimator is no map.
        ValueError
            If a number is out of its range, or as `fit` of the map raises it.
        ImportError
            If matplotlib is not installed.
        """
        cls._check_matplotlib()
        cls._check_is(estimator, RandomFeatureMap, "a map of rflib, such as ORF()")
        if not isinstance(n_draws, Integral) or n_draws < 1:
            raise ValueError(f"{cls.__name__}: n_draws must be an integer of 1 or more, got {n_draws!r}.")
        if len(n_components) == 0:
            raise ValueError(f"{cls.__name__}: n_components must hold at least one number of columns.")
        random = check_random_state(random_state)
        size = min(np.shape(X)[0] // _SHARE, _MOST) if test_size is None else test_size
        given = (X,) if y is None else (X, y)
        train, test, *targets = train_test_split(*given, test_size=size, random_state=random)
        seeds = [int(seed) for seed in random.randint(2**31 - 1, size=n_draws)]
        errors = np.empty((len(n_components), n_draws))
        for i, D in enumerate(n_components):
            for j, seed in enumerate(seeds):
                drawn = clone(estimator).set_params(n_components=D, random_state=seed)
                drawn.fit(train, targets[0] if targets else None)
                errors[i, j] = relative_frobenius_error(drawn.kernel_(test), drawn.kernel_matrix(test))
        made = cls(n_components=np.array(n_components), errors=errors, name=name or type(estimator).__name__)
        return made.plot(ax, **line)

    def plot(self, ax: Axes | None = None, **line: Any) -> Self:
        """Draw the mean error of the draws, with a band from the least to the largest one.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        **line
            Options of the line, as matplotlib's ``plot`` takes them.

        Returns
        -------
        KernelErrorDisplay
            This display.
        """
        ax = self._begin(ax)
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        columns, errors = np.asarray(self.n_components), np.asarray(self.errors)
        (self.line_,) = ax.plot(columns, errors.mean(axis=1), **{"marker": "o", "label": self.name} | line)
        ax.fill_between(
            columns, errors.min(axis=1), errors.max(axis=1), color=self.line_.get_color(), alpha=0.15, lw=0
        )
        ax.set(xscale="log", yscale="log", xlabel="columns D")
        ax.set_ylabel("relative error of the kernel matrix (Frobenius norm)")
        ax.set_xticks(columns, columns)
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.minorticks_off()
        if self.name:
            ax.legend()
        return self
