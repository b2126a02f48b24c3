"""Lines can be told apart, by colour-blind readers too."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml

from rflib.experiment.grids import methods_of
from rflib.report.style import METHODS, PALETTE, line_style

STUDIES = sorted((Path(__file__).parents[2] / "workflow/studies").glob("*.yaml"))
# Machado, Oliveira and Fernandes 2009: what one sees without long, medium or short cones, in linear RGB.
VISION = {
    "all cones": np.eye(3),
    "no long cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no medium cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no short cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def cielab(colour, seen):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.clip(
        np.array(seen) @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1
    )
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ linear / (0.9505, 1.0, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("colours", [PALETTE.keys(), PALETTE.values()], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_colours_differ_for_all_readers(colours, vision):
    seen = {colour: cielab(colour, VISION[vision]) for colour in colours}
    close = {
        pair: distance
        for pair in combinations(seen, 2)
        if (distance := float(np.linalg.norm(seen[pair[0]] - seen[pair[1]]))) < 15
    }
    assert close == {}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_two_methods_of_a_study_differ_in_marker_or_in_colour_and_line(path):
    methods = list(methods_of(yaml.safe_load(path.read_text(encoding="utf-8"))))
    for pair in combinations(methods, 2):
        first, second = map(line_style, pair)
        differ = {key for key in ("color", "marker", "linestyle") if first[key] != second[key]}
        assert "marker" in differ or {"color", "linestyle"} <= differ, pair


def test_a_method_has_one_style_everywhere():
    assert line_style("GORF") == line_style("GORF")
    assert line_style("GORF frame")["color"] == line_style("GORF")["color"]
    assert line_style("GORF frame") != line_style("GORF")
    assert line_style("of mine") == line_style("of mine")
    alias = {"RM", "TS", "leverage", "SLS-RFF"}
    assert len({str(line_style(name)) for name in METHODS if name not in alias}) == len(METHODS) - len(alias)
