"""The style of all figures: each method has the same colour, marker and line everywhere."""

import zlib
from typing import Any

# Each colour on white paper and on the dark page: those of Okabe and Ito, with others in place of yellow. Any two
# differ by 15 or more in CIELAB for readers with normal vision and for those who lack one kind of cones.
PALETTE = {
    "#0072b2": "#0072a5",  # 0 blue
    "#d55e00": "#ec9436",  # 1 vermilion
    "#009e73": "#3bffa8",  # 2 green
    "#cc79a7": "#ca90a4",  # 3 pink
    "#e69f00": "#f4de00",  # 4 orange
    "#56b4e9": "#a7d1fd",  # 5 sky blue
    "#5a3c00": "#7a641f",  # 6 brown
    "#000000": "#ffffff",  # 7 black
    "#7a1040": "#a44456",  # 8 wine
    "#3d2b9e": "#783cf8",  # 9 indigo
    "#964bff": "#b093ff",  # 10 violet
}
COLOURS = tuple(PALETTE)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "d", "+", "x", "1", "2", "3", "4", "h")
LINES = ("-", "--", ":", "-.")

# (colour, marker, line). Methods of one family share a colour. Any two methods of a study of ours differ in their
# markers, or in both their colours and lines.
METHODS: dict[str, tuple[int, int, int]] = {
    "RFF": (0, 0, 0),
    "RFF phase": (0, 12, 1),
    "LeverageRFF": (3, 4, 2),
    "leverage": (3, 4, 2),
    "leverage as run": (3, 7, 1),
    "SurrogateLeverageRFF": (3, 6, 3),
    "SLS-RFF": (3, 6, 3),
    "SLS-RFF as run": (3, 3, 0),
    "ORF": (5, 2, 0),
    "ORF paired": (5, 4, 2),
    "QMC": (5, 3, 1),
    "SORF": (5, 5, 2),
    "MomentMatching": (5, 14, 1),
    "QuadratureFeatures": (5, 6, 1),
    "QuadratureRFF": (5, 13, 0),
    "SphericalRadialRFF": (5, 11, 2),
    "QMC slicing": (5, 10, 3),
    "GRFF": (4, 11, 0),
    "GRFF as run": (4, 12, 2),
    "GORF": (1, 1, 0),
    "GORF frame": (1, 18, 1),
    "GORF as run": (1, 3, 2),
    "GORF as run, frame": (1, 9, 3),
    "MVORF": (2, 7, 0),
    "MercerFeatures": (10, 4, 0),
    "HilbertSpaceFeatures": (10, 12, 0),
    "AutoMap": (6, 8, 3),
    "AutoMap oblivious": (6, 18, 1),
    "SRF": (9, 8, 0),
    "SRF as printed": (9, 0, 2),
    "SRF orthogonal": (9, 17, 1),
    "GegenbauerFeatures": (9, 15, 3),
    "DIGMM": (10, 10, 2),
    "RandomMaclaurin": (8, 13, 1),
    "RM": (8, 13, 1),
    "OptimizedMaclaurin": (8, 16, 0),
    "OM Rademacher as published": (8, 2, 1),
    "OM SRHT as published": (8, 11, 2),
    "OM Rademacher CtR as published": (8, 4, 3),
    "OM SRHT CtR as published": (8, 6, 1),
    "TaylorFeatures": (8, 6, 0),
    "TensorSketch": (6, 5, 0),
    "TS": (6, 5, 0),
    "PolySketch": (6, 15, 1),
    "CRAFT": (6, 14, 2),
    "CRAFT RM": (8, 2, 2),
    "CRAFT TS": (6, 14, 3),
    "CRAFT SRF": (9, 4, 2),
    "Nystroem": (7, 9, 0),
    "Nystroem kmeans": (7, 0, 1),
    "Nystroem rpcholesky": (7, 3, 2),
    "rflib default": (2, 0, 0),
    "KernelClassifier": (2, 0, 3),
    "KernelRegressor": (2, 2, 3),
    "KRR, MercerFeatures": (10, 1, 1),
    "KRR, Nystroem": (7, 2, 2),
    "ridge, RBFSampler": (0, 3, 3),
    "SVM": (3, 8, 0),
    "HistGradientBoosting": (1, 4, 0),
    "LightGBM": (4, 5, 1),
    "RandomForest": (8, 7, 2),
    "nearest neighbours": (5, 6, 3),
}

_SIZES = {"*": 7.5, "P": 5.5, "X": 5.5, "+": 6.5, "x": 5.5, "1": 7.0, "2": 7.0, "3": 7.0, "4": 7.0, "d": 5.5}

REFERENCE: dict[str, Any] = {"color": "#555555", "linewidth": 1.0, "linestyle": (0, (6, 3))}

FRONT: dict[str, Any] = {
    "color": "#999999",
    "alpha": 0.35,
    "linewidth": 6.0,
    "drawstyle": "steps-post",
    "solid_joinstyle": "round",
    "zorder": 1,
}

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
    "svg.fonttype": "none",
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
