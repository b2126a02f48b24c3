"""A figure as the page shows it: panels that it can lay out, filter and dim, and a legend of its methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from rflib.report.cell_table import EXACT
from rflib.report.style import REFERENCE, line_style
from rflib.report.vector import SVG, XLINK, definitions

_BOXES = {"data-box": "panel", "data-legend": "key"}
_ASIDE = 3
_OF_LINE = {"--": "5.2 2.2", ":": "1.4 2.3", "-.": "9 2.2 1.4 2.2"}
_COMMANDS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE4: "C", Outline.CLOSEPOLY: "Z"}


@dataclass(frozen=True)
class Plot:
    """A figure: its panels, how many stand abreast, and the names of its lines with the methods that they show."""

    panels: tuple[Markup, ...]
    abreast: int
    lines: Mapping[str, str]


def read_plot(path: Path, shapes: dict[str, Markup]) -> Plot:
    """Cut a figure that :func:`rflib.report.vector.save_svg` wrote into its panels.

    Parameters
    ----------
    path : Path
        The SVG.
    shapes : dict
        Markers and clip paths by their ids, for the whole page; those of the figure are added.
    """
    root = ElementTree.parse(path).getroot()
    for shape in definitions(root):
        shapes.setdefault(shape.get("id", ""), _markup(shape))
    lines = {
        group.get("data-line", group.get("data-method", "")): group.get("data-method", "")
        for group in root.iter(f"{SVG}g")
        if "data-method" in group.attrib
    }
    parts = [part for part in root if "data-box" in part.attrib]
    abreast = len({part.get("data-frame", "").split()[0] for part in parts})
    if not lines:
        parts += [part for part in root if "data-legend" in part.attrib]
    return Plot(tuple(map(_panel, parts)) or (_whole(root),), abreast or 1, lines)


def _panel(group: ElementTree.Element) -> Markup:
    """Return a panel or a legend as an SVG of its own."""
    key = next(key for key in _BOXES if key in group.attrib)
    width = group.get(key, "").split()[2]
    panel = ElementTree.Element(f"{SVG}svg", {"class": _BOXES[key], "viewBox": group.attrib.pop(key)})
    if key == "data-legend":
        panel.set("style", f"max-width:{float(width) * 4 / _ASIDE:.0f}px")
    panel.attrib.update(group.attrib)
    panel.attrib.update({"role": "img", "aria-label": group.get("data-title") or "legend"})
    panel[:] = group[:]
    return _markup(panel)


def _whole(root: ElementTree.Element) -> Markup:
    """Return a figure that has no panels, such as one without data."""
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib.update({"class": "panel", "role": "img", "aria-label": " ".join(root.itertext())})
    return _markup(root)


def _markup(element: ElementTree.Element) -> Markup:
    """Return an element as a part of an HTML page."""
    for part in element.iter():
        if address := part.attrib.pop(f"{XLINK}href", None):
            part.set("href", address)
    text = ElementTree.tostring(element, encoding="unicode", short_empty_elements=True)
    return Markup(text.replace(f' xmlns="{SVG[1:-1]}"', "").replace(" />", "/>"))


def swatch(line: str) -> Markup:
    """Return a small SVG that shows the colour, dashes and marker of a line, as in the legend of a figure."""
    if line == EXACT:
        stroke = f'stroke="{REFERENCE["color"]}" stroke-dasharray="6 3"'
        return Markup(
            f'<svg class="swatch" viewBox="0 0 30 12" aria-hidden="true"><path {stroke} d="M1 6H29"/></svg>'
        )
    style = line_style(line)
    colour = style["color"]
    dashes = f' stroke-dasharray="{_OF_LINE[style["linestyle"]]}"' if style["linestyle"] in _OF_LINE else ""
    marker = MarkerStyle(style["marker"])
    size = 1.2 * style["markersize"]
    turned = Affine2D(marker.get_transform().get_matrix()).scale(size, -size)
    outline = marker.get_path().transformed(turned)
    drawn = "".join(
        _COMMANDS[code] + " ".join(f"{value:.1f}" for value in ([] if code == Outline.CLOSEPOLY else points))
        for points, code in outline.iter_segments(simplify=False)
    )
    fill = colour if marker.is_filled() else "none"
    return Markup(
        f'<svg class="swatch" viewBox="0 0 30 12" aria-hidden="true"><path stroke="{colour}"{dashes} d="M1 6H29"/>'
        f'<path transform="translate(15 6)" fill="{fill}" stroke="{colour}" d="{drawn}"/></svg>'
    )
