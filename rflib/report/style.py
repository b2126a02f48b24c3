"""The style of all figures: each method has the same colour, marker and line everywhere."""

import zlib
from typing import Any

# The colours of Okabe and Ito, which colour-blind readers can tell apart; yellow is darkened for white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#A89A00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LINES = ("-", "--", ":", "-.")

# Methods of one family share a colour and differ in marker and line: (colour, marker, line).
METHODS: dict[str, tuple[int, int, int]] = {
    "RFF": (0, 0, 0),
    "RFF phase": (0, 1, 1),
    "LeverageRFF": (1, 4, 2),
    "leverage": (1, 4, 2),
    "leverage as run": (1, 7, 1),
    "SurrogateLeverageRFF": (3, 6, 3),
    "surrogate": (3, 6, 3),
    "SLS-RFF": (3, 6, 3),
    "SLS-RFF as run": (3, 3, 0),
    "ORF": (5, 2, 0),
    "QMC": (5, 3, 1),
    "SORF": (5, 5, 2),
    "MomentMatching": (5, 6, 3),
    "QuadratureRFF": (5, 8, 0),
    "GRFF": (4, 0, 0),
    "GRFF as run": (4, 5, 2),
    "GORF": (1, 1, 0),
    "GORF frame": (1, 8, 1),
    "GORF as run": (1, 3, 2),
    "GORF as run, frame": (1, 9, 3),
    "MVORF": (2, 7, 0),
    "MVORF plain": (2, 0, 2),
    "AutoMap": (6, 9, 0),
    "AutoMap oblivious": (6, 7, 3),
    "SRF": (3, 2, 0),
    "SRF as printed": (3, 0, 2),
    "SRF orthogonal": (3, 9, 1),
    "DIGMM": (5, 4, 2),
    "RandomMaclaurin": (0, 3, 1),
    "RM": (0, 3, 1),
    "OptimizedMaclaurin": (0, 6, 0),
    "OM": (0, 6, 0),
    "TensorSketch": (6, 5, 0),
    "TS": (6, 5, 0),
    "CRAFT": (6, 8, 2),
    "CRAFT RM": (0, 8, 2),
    "CRAFT TS": (6, 8, 3),
    "CRAFT SRF": (3, 8, 2),
    "Nystroem": (7, 9, 0),
    "Nystroem kmeans": (7, 0, 1),
    "Nystroem rpcholesky": (7, 3, 2),
}

_SIZES = {"*": 7.5, "P": 5.5, "X": 5.5}

REFERENCE: dict[str, Any] = {"color": "#555555", "linewidth": 1.0, "linestyle": (0, (6, 3))}

RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "rflib",
    "figure.dpi": 100,
}


def line_style(method: str) -> dict[str, Any]:
    """Return the keyword arguments of a line for a method, by its label.

    A label that begins with a known name has the colour of that name, and a marker and a line from its hash. An
    unknown label has all three from its hash.
    """
    colour, marker, line = METHODS.get(method) or _from_hash(method)
    size = _SIZES.get(MARKERS[marker], RC["lines.markersize"])
    return {
        "color": COLOURS[colour],
        "marker": MARKERS[marker],
        "markersize": size,
        "linestyle": LINES[line],
    }


def hollow(style: dict[str, Any]) -> dict[str, Any]:
    """Return a line's style as that of large hollow markers."""
    size = style["markersize"] + 3.5
    return style | {"linestyle": "none", "markerfacecolor": "white", "markersize": size}


def legend_below(figure: Any, handles: dict[str, Any], columns: int) -> None:
    """Put one legend below all panels."""
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False)


def _from_hash(method: str) -> tuple[int, int, int]:
    code = zlib.crc32(method.encode())
    families = [name for name in METHODS if method.startswith(name)]
    colour = METHODS[max(families, key=len)][0] if families else code % len(COLOURS)
    return colour, code // 8 % len(MARKERS), 1 + code // 80 % (len(LINES) - 1)
