"""MetricDisplay: the columns that a learned metric counts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rflib.learners.learned_metric import LearnedMetric
from rflib.plotting.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MetricDisplay(Display):
    """Importances of the columns in a learned metric, the largest ones first.

    It is made by `from_estimator`.

    Parameters
    ----------
    importances : array-like of shape (n_columns,)
        Importances, which sum to one over all columns.
    names : sequence of str of length n_columns
        Names of the columns.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes with the picture.
    figure_ : matplotlib.figure.Figure
        The figure of the axes.
    bars_ : matplotlib.container.BarContainer
        The bars.

    See Also
    --------
    rflib.learners.LearnedMetric : The metric, and what the importances are.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib import LearnedMetric, MetricDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> display = MetricDisplay.from_estimator(LearnedMetric(random_state=0).fit(X, y), n_columns=3)
    >>> len(display.names)
    3
    """

    def __init__(self, *, importances: ArrayLike, names: Sequence[str]) -> None:
        self.importances = importances
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: LearnedMetric, *, n_columns: int = 20, ax: Axes | None = None, **bars: Any
    ) -> Self:
        """Draw the largest importances of a fitted metric.

        Parameters
        ----------
        estimator : LearnedMetric
            A fitted metric.
        n_columns : int, default=20
            The largest number of columns to draw.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        **bars
            Options of the bars, as matplotlib's ``barh`` takes them.

        Returns
        -------
        MetricDisplay
            The display, which is drawn.

        Raises
        ------
        TypeError
            If the estimator is no `LearnedMetric`.
        NotFittedError
            If it is not fitted.
        ValueError
            If n_columns is not an integer of 1 or more.
        ImportError
            If matplotlib is not installed.
        """
        cls._check_matplotlib()
        cls._check_is(estimator, LearnedMetric, "a LearnedMetric")
        if not isinstance(n_columns, Integral) or n_columns < 1:
            raise ValueError(f"{cls.__name__}: n_columns must be an integer of 1 or more, got {n_columns!r}.")
        check_is_fitted(estimator)
        importances = estimator.feature_importances_
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            names = np.array([f"x{j}" for j in range(len(importances))])
        shown = np.argsort(-importances, kind="stable")[:n_columns]
        made = cls(importances=importances[shown], names=names[shown].tolist())
        return made.plot(ax, **bars)

    def plot(self, ax: Axes | None = None, **bars: Any) -> Self:
        """Draw one bar for each column.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on, by default those of a new figure.
        **bars
            Options of the bars, as matplotlib's ``barh`` takes them.

        Returns
        -------
        MetricDisplay
            This display.
        """
        ax = self._begin(ax)
        places = np.arange(len(self.names))
        self.bars_ = ax.barh(places, np.asarray(self.importances), **bars)
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        ax.grid(False, axis="y")
        ax.set_xlabel("importance of the column in the metric")
        return self
