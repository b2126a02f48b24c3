"""What the parts of a figure stand for: panels, methods and points, which its SVG says as data attributes."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def tag(artist: Any, **data: str) -> None:
    """Give an artist data attributes, such as ``method="RFF"``: the SVG has it in ``<g data-method="RFF">``."""
    artist.set_gid(json.dumps({**tags(artist), **data}))


def tags(artist: Any) -> dict[str, str]:
    """Return the data attributes of an artist."""
    return read_tags(artist.get_gid())


def read_tags(name: str | None) -> dict[str, str]:
    """Return the data attributes that the id of an SVG group holds; none if it is another id."""
    return dict(json.loads(name)) if name and name.startswith("{") else {}


def tag_method(artists: Iterable[Any], method: str) -> None:
    """Say that all these artists belong to a method."""
    for artist in artists:
        tag(artist, method=method)


def tag_points(
    line: Any, x: ArrayLike, mean: ArrayLike, low: ArrayLike, high: ArrayLike, n: ArrayLike = 0
) -> None:
    """Give a line its points: in each, the place, the mean, the ends of the interval and the number of values.

    Parameters
    ----------
    line : Artist or ErrorbarContainer
        A line, or what ``errorbar`` returned.
    x, mean, low, high, n : array-like
        What the points show; ``n`` is 0 if it is not known. The tag ``spread`` of the line or of its panel says
        what the interval is.
    """
    columns = np.broadcast_arrays(*(np.asarray(values, dtype=float) for values in (x, mean, low, high, n)))
    points = np.column_stack(columns)
    shown = points[np.isfinite(points[:, :2]).all(axis=1)]
    text = ";".join(",".join(f"{value:.6g}" for value in point) for point in shown)
    tag(line[0] if isinstance(line, tuple) else line, points=text)
