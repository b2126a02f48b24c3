"""The README's Python runs as it is printed, and maps take the kernels that the pages name, and no others."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib import kernels, maps

README = Path(__file__).parents[1] / "README.md"


def printed_example() -> tuple[str, list[str]]:
    """The code of the README, and the lines that it prints, which are comments at the ends of its own."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code, re.findall(r"^print.*  # (.*)$", code, re.MULTILINE)


@pytest.mark.filterwarnings(
    "ignore:scipy.optimize. The .disp. and .iprint.:DeprecationWarning"
)  # scikit-learn 1.6
def test_the_library_example_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, expected = printed_example()
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out.splitlines() == expected


def test_which_map_is_answered_in_five_lines_without_numbers_that_age() -> None:
    section = README.read_text(encoding="utf-8").split("\n## Which map should I use?\n")[1]
    lines = section.strip().split("\n\n")[0].splitlines()
    assert len(lines) == 5
    named = [re.findall(r"`(\w+)`", line) for line in lines]
    assert all(set(of_line) & set(maps.__all__) for of_line in named)
    assert {name for of_line in named for name in of_line} <= set(maps.__all__)
    assert not re.search(r"\d", " ".join(lines))
    assert "](docs/which-map.md)" in " ".join(lines)


def printed_maps() -> list[tuple[str, str]]:
    """The rows of the table of kernels and maps."""
    page = (README.parent / "docs/which-map.md").read_text(encoding="utf-8")
    table = page.split("| kernels | maps |\n|---|---|\n")[1].split("\n\n")[0]
    return re.findall(r"^\| (.*) \| (.*) \|$", table, re.MULTILINE)


def takes(name: str, kernel: Any) -> bool:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    map_class = getattr(maps, name)
    feature_map = map_class(maps.TensorSketch(kernel, 16), 8) if name == "CRAFT" else map_class(kernel, 8)
    # measures that are quickly fitted
    quick = {"DIGMM": {"type": "digmm", "n_components": 2, "n_draws": 100}}
    if name in quick:
        feature_map.set_params(measure=quick[name])
    if name == "AutoMap":
        feature_map.candidates = feature_map.candidates_for(kernel)[-1:]
    try:
        feature_map.set_params(random_state=0).fit(X, rng.integers(2, size=40))
    except ValueError as error:
        assert kernel.__class__.__name__ in str(error)
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted({*kernels.__all__} - {"Similarity", "WidthWarning"}))
def test_maps_take_the_kernels_that_the_table_names(name: str) -> None:
    kernel_class = getattr(kernels, name)
    examples = {
        "DeltaGaussian": lambda: kernel_class(coefficients=(1, -1), sigmas=(0.5, 5)),
        "Polynomial": lambda: kernel_class(degree=3),
        "RadialFunction": lambda: kernel_class(lambda z: 1 / (1 + z**2)),
    }
    kernel = examples.get(name, kernel_class)()
    written = {"RadialFunction": "any other function of the distance"}.get(name, name)
    expected, known = set(), set()
    for of, listed in printed_maps():
        those = set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", listed)))
        known |= those
        if of.startswith("all of them") or written in re.split(r", and |, ", of):
            expected |= those
    assert known == set(maps.__all__) - {"RandomFeatureMap", "FourierFeatures"}
    assert {map_name for map_name in known if takes(map_name, kernel)} == expected
