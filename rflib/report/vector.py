"""A figure as SVG that says what its parts stand for, and is as small as it can be."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from rflib.report.marks import read_tags, tag

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
_FAMILY = "'DejaVu Sans', Verdana, Arial, Helvetica, sans-serif"
_SILENT = {"Date": None, "Creator": None, "Format": None, "Type": None}
_NUMBER = re.compile(r"-?\d+\.\d+")
_PATHS = ("d", "x", "y", "transform", "width", "height", "viewBox")
# What a group hands down to its parts, so that it need not stand on each.
_INHERITED = (
    *("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"),
    *("stroke-dashoffset", "font-size", "text-anchor", "clip-path"),
)

ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", XLINK[1:-1])


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure as SVG. Each panel says where it lies and what its axes span, in data attributes."""
    layout = figure.get_layout_engine()
    if layout and figure.axes:
        layout.execute(figure)
        figure.set_layout_engine("none")
    _tag_panels(figure)
    file = io.StringIO()
    FigureCanvasSVG(figure).print_svg(file, metadata=_SILENT)
    root = ElementTree.fromstring(file.getvalue())
    _shrink(root)
    root.attrib.update({"font-family": _FAMILY, "stroke-linejoin": "round"})
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _tag_panels(figure: Figure) -> None:
    """Tag the legend with its box, and each panel with its box, frame and spans.

    The box has equal margins around the axes of all panels. The frame is "left top right bottom" of the axes, in
    units of the SVG. The span of an axis is "low,high,scale", in the units of its data.
    """
    points = 72.0 / figure.dpi
    height = figure.get_figheight() * 72.0
    panels = [
        (axes, axes.get_window_extent(), around)
        for axes in figure.axes
        if axes.axison and (around := axes.get_tightbbox()) is not None
    ]
    for legend in figure.legends:
        around = legend.get_window_extent()
        tag(
            legend,
            legend=_joined(
                (
                    around.x0 * points,
                    height - around.y1 * points,
                    around.width * points,
                    around.height * points,
                )
            ),
        )
    if not panels:
        return
    left = max(inner.x0 - outer.x0 for _, inner, outer in panels) + 2
    right = max(outer.x1 - inner.x1 for _, inner, outer in panels) + 2
    below = max(inner.y0 - outer.y0 for _, inner, outer in panels) + 2
    above = max(outer.y1 - inner.y1 for _, inner, outer in panels) + 2
    for axes, inner, _ in panels:
        x0, x1 = inner.x0 * points, inner.x1 * points
        y0, y1 = height - inner.y1 * points, height - inner.y0 * points
        sides = (x0 - left * points, y0 - above * points, x1 + right * points, y1 + below * points)
        box = (*sides[:2], sides[2] - sides[0], sides[3] - sides[1])
        spans = {
            which: ",".join([*(f"{end:.8g}" for end in axis.get_view_interval()), axis.get_scale()])
            for which, axis in (("x", axes.xaxis), ("y", axes.yaxis))
        }
        names = {"title": axes.get_title(), "xlabel": axes.get_xlabel(), "ylabel": axes.get_ylabel()}
        tag(axes, **names, box=_joined(box), frame=_joined((x0, y0, x1, y1)), **spans)


def _joined(numbers: tuple[float, ...]) -> str:
    return " ".join(f"{number:.2f}" for number in numbers)


def _shrink(root: ElementTree.Element) -> None:
    """Round numbers, put what a style says on the groups that share it, join paths, and drop unused names."""
    root[:] = [child for child in root if child.find(f"{SVG}style") is None]
    for element in root.iter():
        element.text, element.tail = (element.text or "").strip() or None, None
        for key in _PATHS:
            if key in element.attrib:
                element.set(key, _rounded(element.get(key, "")))
        for item in filter(None, element.attrib.pop("style", "").split(";")):
            key, _, value = item.partition(":")
            if key.strip() != "font-family":
                element.set(key.strip(), value.strip())
        if element.tag == f"{SVG}use":  # matplotlib leaves black out, which is the default
            element.attrib.setdefault("fill", "#000000")
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if element.tag == f"{SVG}g":
            found = read_tags(element.attrib.pop("id", None))
            element.attrib.update({f"data-{key}": value for key, value in found.items()})
    for marker in root.iterfind(
        f".//{SVG}defs/{SVG}path"
    ):  # what uses it says the style, also of a dark page
        for key in set(marker.attrib) & set(_INHERITED):
            del marker.attrib[key]
    _unwrap(root)
    for child in root:
        _hand_up(child)


def _rounded(text: str) -> str:
    """Return a path or a list of lengths with two decimals at most, and without needless space."""
    short = _NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), text)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(short.split()))


def _unwrap(element: ElementTree.Element) -> None:
    """Replace each group that says nothing by its parts."""
    parts: list[ElementTree.Element] = []
    for child in element:
        _unwrap(child)
        parts += child if child.tag == f"{SVG}g" and not child.attrib else [child]
    element[:] = parts


def _hand_up(group: ElementTree.Element) -> None:
    """Let each group hold what all of its parts have in common, from the innermost outwards."""
    if group.tag != f"{SVG}g":
        return
    for child in group:
        _hand_up(child)
    drawn = [child for child in group if child.tag != f"{SVG}defs"]
    for key in _INHERITED:
        values = {child.get(key) for child in drawn}
        if len(values) == 1 and None not in values and key not in group.attrib:
            group.set(key, values.pop() or "")
            for child in drawn:
                del child.attrib[key]
    if len(drawn) > 1 and all(child.tag == f"{SVG}path" and set(child.attrib) == {"d"} for child in drawn):
        drawn[0].set("d", "".join(child.get("d", "") for child in drawn))
        for child in drawn[1:]:
            group.remove(child)


def definitions(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Take the markers and clip paths out of an SVG. Their ids are digests, so equal ids are equal shapes."""
    parents = [(parent, child) for parent in root.iter() for child in parent if child.tag == f"{SVG}defs"]
    for parent, child in parents:
        parent.remove(child)
        yield from child
