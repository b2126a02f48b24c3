"""One style for all figures: a colour, a marker and a line for each method, the same everywhere."""

from __future__ import annotations

import zlib
from typing import Any

import matplotlib

matplotlib.use("Agg")

# Okabe and Ito's colours, which the colour-blind tell apart, the lightest one darkened.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#B8A700", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")

# Methods of one family share a colour; the marker and the line tell them apart.
_METHODS: dict[str, tuple[int, int, str]] = {
    "RFF": (0, 0, "-"),
    "RFF phase": (0, 1, "--"),
    "ORF": (5, 2, "-"),
    "QMC": (5, 3, "--"),
    "LeverageRFF": (0, 4, ":"),
    "SurrogateLeverageRFF": (5, 6, ":"),
    "GRFF": (4, 0, "-"),
    "GORF": (1, 1, "-"),
    "MVORF": (2, 7, "-"),
    "SRF": (3, 2, "-"),
    "DIGMM": (3, 4, ":"),
    "RandomMaclaurin": (6, 3, "--"),
    "RM": (6, 3, "--"),
    "TensorSketch": (6, 5, "-"),
    "TS": (6, 5, "-"),
    "CRAFT": (6, 8, ":"),
    "Nystroem": (7, 9, "-"),
}

RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
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

    A label of known name, or of a known name with something added, has that name's colour; another one has a
    colour and a marker from its hash.
    """
    names = [name for name in _METHODS if method == name or method.startswith(f"{name} ")]
    code = zlib.crc32(method.encode())
    if names:
        name = max(names, key=len)
        colour, marker, line = _METHODS[name]
        if method != name:
            marker, line = code % len(MARKERS), ("--", "-.", ":")[code % 3]
    else:
        colour, marker, line = code % len(COLOURS), code // 8 % len(MARKERS), "-."
    return {"color": COLOURS[colour], "marker": MARKERS[marker], "linestyle": line}
