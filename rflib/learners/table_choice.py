"""What a learner of tables says of its choices: the importances of columns, and a width that is the last one."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline

from rflib.learners.grid_edge import GridEdgeWarning
from rflib.learners.table_encoding import Table
from rflib.learners.table_search import WIDTHS, Choice, kernel_part
from rflib.warn import warn

# The last width is told if its error is less than this share of that of the one before.
_MUCH = 0.9
_REMEDIES = {
    "smallest": "Near rows alone count: boosted trees may be better.",
    "largest": "The function is smooth: KRR on MercerFeatures with a Gaussian may be better.",
}


def importances(table: Table, features: Pipeline, names: Sequence[Hashable]) -> dict[Any, float]:
    """Return the share of each column of a table in the metric, the largest first; empty if there is no metric.

    Parameters
    ----------
    table : Table
        The columns.
    features : Pipeline
        The fitted steps "encode" and "map".
    names : sequence of length n_features
        Names of the columns.
    """
    feature_map = features["map"]
    metric = kernel_part(feature_map)["metric"] if isinstance(feature_map, FeatureUnion) else feature_map
    sources = table.sources(features["encode"])
    if sources is None or metric == "passthrough":
        return {}
    shares = np.bincount(sources, metric.feature_importances_, len(names))
    return {names[j]: float(shares[j]) for j in np.argsort(-shares, kind="stable")}


def tell_last_width(owner: object, choice: Choice, tried: Sequence[Mapping[str, Any]]) -> None:
    """Warn if the chosen width is the last one on its side, and much better than the one before."""
    if choice.width not in (WIDTHS[0], WIDTHS[-1]):
        return
    size, before = ("smallest", WIDTHS[1]) if choice.width == WIDTHS[0] else ("largest", WIDTHS[-2])
    best, other = (
        min(
            (each["error"] for each in tried if (each["map"], each["width"]) == (choice.map, width)),
            default=np.inf,
        )
        for width in (choice.width, before)
    )
    if best < _MUCH * other:
        warn(
            f"{type(owner).__name__}: the best width of the kernel is the {size} that is tried, {choice.width:g} "
            f"median distances, so that one beyond may be better still. {_REMEDIES[size]}",
            GridEdgeWarning,
            cause=type(owner).__name__,
        )
