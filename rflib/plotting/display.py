"""What all displays share: the axes that they draw on. matplotlib is loaded only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rflib.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Display:
    """Base class of all displays."""

    ax_: Any
    figure_: Any

    @classmethod
    def _check_matplotlib(cls) -> None:
        need("plot", cls.__name__, "matplotlib")

    @classmethod
    def _check_is(cls, estimator: object, kind: type, what: str) -> None:
        """Raise TypeError if the estimator is none that the display is made for."""
        if not isinstance(estimator, kind):
            raise TypeError(
                f"{cls.__name__}: the estimator must be {what}, got {type(estimator).__name__}. "
                "Of a Pipeline give the step, and the rows that it gets."
            )

    def _begin(self, ax: Axes | None) -> Any:
        """Return the axes to draw on, which are new ones if none are given."""
        self._check_matplotlib()
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return ax
