"""Figures, from cells made up for the purpose."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context

from rflib.files import write_table
from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.measures.exact_measures import exact_measure
from rflib.measures.variance import variance_iid, variance_orthogonal
from rflib.report.cell_table import select
from rflib.report.figures import write_figures
from rflib.report.folder import read_index
from rflib.report.panels import read_plot
from rflib.report.style import FRONT, RC
from rflib.report.vector import save_svg

from .made_up import ERROR, drawn, made_up_cells


def test_figures_are_the_same_to_the_byte(study, published, tmp_path):
    study["figures"] += [
        {
            "type": "lines",
            "title": "With published",
            "metric": ERROR,
            "x": "s",
            "published": {k: study["tables"][0][k] for k in ("paper", "table", "kernels", "methods")},
        },
        {"type": "lines", "title": "Nothing there", "metric": "rmse", "log": True},
    ]
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    for folder in ("a", "b"):
        write_figures(study, tmp_path / "cells.parquet", published, tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "a").glob("*.svg"))
    assert names == [
        *(
            "00_error.svg",
            "00_error_by_s.svg",
            "01_with_published.svg",
            "01_with_published_by_n_components.svg",
        ),
        "02_nothing_there.svg",
    ]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_error_against_seconds(study, published, tmp_path):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    draw = cells.assign(metric="sample_seconds", value=cells["n_components"] / 1e5)
    compute = cells.assign(metric="transform_seconds", value=cells["n_components"] * 2 / 1e5)
    write_table(tmp_path / "cells.parquet", pd.concat([cells, draw, compute]))
    entry = {"type": "lines", "title": "E", "metric": ERROR, "x": "map_seconds", "log": True}
    write_figures({**study, "figures": [entry]}, tmp_path / "cells.parquet", published, tmp_path / "out")
    drawing = (tmp_path / "out" / "00_e.svg").read_text(encoding="utf-8")
    assert 'data-points="0.00192,0.1,' in drawing
    assert 'data-xlabel="seconds to fit and transform"' in drawing


def test_the_level_of_the_exact_kernel_alone_is_no_figure(study, published, tmp_path):
    entry = {"type": "lines", "title": "E", "metric": ERROR}
    for methods, empty in ({"exact kernel": 0.9}, True), ({"exact kernel": 0.9, "GORF": 0.1}, False):
        write_table(tmp_path / "cells.parquet", made_up_cells(methods))
        write_figures({**study, "figures": [entry]}, tmp_path / "cells.parquet", published, tmp_path / "out")
        assert read_index(tmp_path / "out")[0]["empty"] is empty


@pytest.mark.parametrize(("metric", "best"), [(ERROR, [0.3, 0.1, 0.1]), ("accuracy", [0.3, 0.3, 0.4])])
def test_the_front_is_the_best_mean_at_no_more_cost(metric, best):
    """GORF costs 1 and 3, GRFF 2; the exact kernel has no part in it."""
    cells = made_up_cells({"GORF": 0.3, "GRFF": 0.1, "exact kernel": 0.9}, spread=0)
    cells = cells[(cells["method"] == "GORF") | (cells["n_components"] == 64)].assign(metric=metric)
    wide = (cells["method"] == "GORF") & (cells["n_components"] == 128)
    cells.loc[wide, "value"] = 0.4
    costs = cells.assign(metric="map_seconds", value=1.0 + wide * 2 + (cells["method"] == "GRFF"))
    entry = {"type": "lines", "title": "t", "metric": metric, "x": "map_seconds", "front": True}
    axes = drawn(entry, pd.concat([cells, costs])).axes[0]
    front = next(line for line in axes.lines if line.get_color() == FRONT["color"])
    assert front.get_drawstyle() == "steps-post"
    np.testing.assert_allclose(front.get_xydata(), np.column_stack([[1, 2, 3], best]))
    assert "Pareto front" in [text.get_text() for text in axes.figure.legends[0].texts]


def curve(cells, values):
    """Cells of a metric that is a curve: the made-up ones at several places."""
    return pd.concat([cells.assign(at=float(at), value=value) for at, value in values.items()])


def test_curves_and_single_values_of_a_metric_are_apart(study):
    cells = made_up_cells({"GORF": 0.1})
    both = pd.concat([cells, curve(cells, {1: 5.0, 2: 6.0})])
    entry = {"title": "t", "metric": ERROR}
    assert set(select(both, entry)["value"].round(1)) == {0.1}
    assert set(select(both, entry, curves=True)["value"]) == {5.0, 6.0}


def test_curves_show_the_mean_and_range_of_the_largest_columns(study):
    cells = curve(made_up_cells({"GORF": 0.1, "GRFF": 0.2}), {1: 1.0, 2: -np.inf})
    cells.loc[cells["n_components"] == 64, "value"] = 7.0
    cells.loc[(cells["at"] == 1) & (cells["seed"] == 0) & (cells["n_components"] == 128), "value"] = 2.0
    figure = drawn({"type": "curves", "title": "t", "metric": ERROR}, cells)
    panels = [axes for axes in figure.axes if axes.lines]
    assert [axes.get_title() for axes in panels] == ["letter", "usps"]
    for line in panels[0].lines:
        np.testing.assert_allclose(line.get_ydata(), [1.1, np.nan])
    for wanted, title in ((64, "letter"), (100, "letter, here D = 64")):
        narrow = drawn({"type": "curves", "title": "t", "metric": ERROR, "columns": wanted}, cells)
        np.testing.assert_allclose(narrow.axes[0].lines[0].get_ydata(), [7.0, 7.0])
        assert narrow.axes[0].get_title() == title
    assert drawn({"type": "curves", "title": "t", "metric": "accuracy"}, cells).axes == []


@pytest.mark.parametrize(
    ("kernels", "datasets", "shape"),
    [(1, 2, (1, 2)), (1, 4, (2, 2)), (3, 1, (1, 3)), (1, 9, (3, 3)), (2, 3, (2, 3)), (2, 6, (3, 4))],
)
def test_panels_fill_rows_that_can_be_read(kernels, datasets, shape, published):
    cells = made_up_cells({"GORF": 0.1})
    copies = [
        cells.assign(kernel=f"k{k}", dataset=f"d{d}", name=f"d{d}", data=f"d{d}")
        for k in range(kernels)
        for d in range(datasets)
    ]
    figure = drawn({"type": "lines", "title": "t", "metric": ERROR}, pd.concat(copies), published)
    assert figure.axes[0].get_gridspec().get_geometry() == shape


@pytest.mark.parametrize("factors", [(1, 2, 4, 5, 6, 8, 10), (1,), (1, 1.25), (1, 2, 4, 8, 16, 32, 64, 128)])
def test_the_labels_of_columns_do_not_overlap(factors, published):
    """Each number of columns has a tick; the largest one always has its label."""
    cells = made_up_cells({"GORF": 0.1}).query("n_components == n_components.min()")
    sizes = [int(64 * factor) for factor in factors]
    copies = [cells.assign(n_components=n, dataset=f"d{i}") for n in sizes for i in range(3)]
    figure = drawn({"type": "lines", "title": "t", "metric": ERROR}, pd.concat(copies), published)
    figure.canvas.draw()
    for axes in figure.axes:
        assert list(axes.get_xticks()) == sizes
        labels = [label for label in axes.get_xticklabels() if label.get_text()]
        assert labels[-1].get_text() == str(sizes[-1])
        boxes = [label.get_window_extent() for label in labels]
        assert all(left.x1 + 3 < right.x0 for left, right in pairwise(boxes))


def test_kernels_with_a_data_set_each_fill_rows(published):
    cells = made_up_cells({"GORF": 0.1})
    copies = [cells.assign(kernel=f"k{i}", dataset=f"d{i}", name=f"d{i}", data=f"d{i}") for i in range(3)]
    figure = drawn({"type": "lines", "title": "t", "metric": ERROR}, pd.concat(copies), published)
    assert [axes.get_title() for axes in figure.axes] == ["d0, k0", "d1, k1", "d2, k2"]
    assert figure.axes[0].get_gridspec().get_geometry() == (1, 3)


def test_many_data_sets_wrap_with_the_kernels_of_each_side_by_side(published):
    """Ten data sets abreast cannot be read on a page; nor does a kernel that most of them lack leave a gap."""
    cells = made_up_cells({"GORF": 0.1})
    pairs = [(kernel, f"d{d}") for kernel in ("all", "some") for d in range(6) if kernel == "all" or d != 1]
    copies = [cells.assign(kernel=kernel, dataset=d, name=d, data=d) for kernel, d in pairs]
    figure = drawn({"type": "lines", "title": "t", "metric": ERROR}, pd.concat(copies), published)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:4] == ["d0, all", "d0, some", "d1, all", "d2, all"]
    assert len(list(filter(None, titles))) == 11
    assert figure.axes[0].get_gridspec().get_geometry() == (3, 4)


def test_a_legend_of_long_names_is_within_the_figure():
    names = [f"OptimizedMaclaurin, Rademacher number {i}" for i in range(9)]
    cells = made_up_cells(dict.fromkeys(names, 0.1))
    with rc_context(rc=RC):
        figure = drawn({"type": "lines", "title": "t", "metric": ERROR}, cells)
        figure.canvas.draw()
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width


def test_variance_figure_shows_the_formulas():
    kernels = {"delta": {"type": "DeltaGaussian"}, "poly": {"type": "SphericalPolynomial", "a": 3, "p": 1}}
    entry = {"type": "variance", "kernels": ["delta", "poly"], "dimensions": [4], "zmax": 3}
    figure = drawn(entry, study={"kernels": kernels})
    blocks = figure.axes[0].lines[0]
    z = blocks.get_xdata()
    measure = exact_measure(DeltaGaussian(), 4)
    expected = 4 * (variance_orthogonal(measure, z, 4, 4) - variance_iid(measure, z, 4, 4))
    np.testing.assert_allclose(blocks.get_ydata(), expected)
    assert [axes.get_title() for axes in figure.axes] == ["delta", "poly"]
    assert figure.axes[1].lines[0].get_xdata()[-1] == 2.0


def test_fit_figure_shows_kernel_fit_and_density():
    figure = drawn({"type": "fits", "a": 2, "dimension": 16, "orders": [3]})
    kernel, gaussians, best = (line.get_ydata() for line in figure.axes[0].lines)
    assert 0 < np.abs(best - kernel).max() < 0.1
    np.testing.assert_allclose(gaussians, best, atol=0.01)
    radii, density = figure.axes[1].lines[0].get_data()
    assert np.trapezoid(density, radii) == pytest.approx(1, abs=0.01)


def test_pooled_panels(study, published):
    cells = made_up_cells({"GORF": 0.1})
    entry = {"type": "lines", "title": "t", "metric": ERROR, "pooled": "all of them"}
    assert [axes.get_title() for axes in drawn(entry, cells, published).axes] == ["all of them, delta"]


def test_lines_of_several_kernels_have_names_and_methods_of_their_own(tmp_path):
    cells = curve(made_up_cells({"GORF": 0.1}), {1: 1.0, 2: 2.0})
    both = pd.concat([cells, cells.assign(kernel="k2")])
    with rc_context(rc=RC):
        save_svg(drawn({"type": "curves", "title": "t", "metric": ERROR}, both), tmp_path / "c.svg")
    plot = read_plot(tmp_path / "c.svg", {})
    assert plot.lines == {"GORF, delta": "GORF", "GORF, k2": "GORF"}
    assert 'data-kernel="k2"' in plot.panels[0]
    assert 'data-points="1,1,1,1,' in plot.panels[0]


def test_marks_of_another_learner_lie_on_the_curve():
    cells = curve(made_up_cells({"GORF": 0.1}), {1: 1.0, 2: 2.0}).assign(learner="path")
    marks = curve(made_up_cells({"GORF": 0.1}), {1.5: 1.4}).assign(learner="grid")
    entry = {
        "type": "curves",
        "title": "t",
        "metric": ERROR,
        "learner": "path",
        "marks": "grid",
        "x_label": "ridge",
    }
    axes = drawn(entry, pd.concat([cells, marks])).axes[0]
    line, points = axes.lines
    np.testing.assert_allclose(line.get_xydata(), [[1, 1], [2, 2]])
    np.testing.assert_allclose(points.get_xydata(), [[1.5, 1.4]])
    assert axes.get_xlabel() == "ridge"


def test_map_figure_measures_what_the_formulas_say():
    """400 draws: a variance has a relative error of about 7 %; beyond 5 of these in 50 points: 3e-5."""
    entry = {"type": "maps", "kernels": ["G"], "dimension": 1, "columns": 16, "zmax": 3, "draws": 400}
    axes = drawn(entry, study={"kernels": {"G": {"type": "Gaussian", "sigma": 1.0}}}).axes[0]
    for formula, measured in zip(axes.lines[::2], axes.lines[1::2], strict=True):
        expected = formula.get_ydata()
        np.testing.assert_allclose(measured.get_ydata(), expected, rtol=0.4, atol=1e-12)


def test_the_drawing_says_what_its_parts_are(study, published, tmp_path):
    write_table(tmp_path / "cells.parquet", made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    write_figures(study, tmp_path / "cells.parquet", published, tmp_path / "out")
    shapes = {}
    plot = read_plot(tmp_path / "out/00_error.svg", shapes)
    assert plot.abreast == len(plot.panels) == 2
    assert plot.lines == {"GRFF": "GRFF", "GORF": "GORF"}
    panel = ElementTree.fromstring(plot.panels[0])
    assert (panel.get("data-dataset"), panel.get("data-kernel")) == ("letter", "delta")
    assert panel.get("data-xlabel") == "number of columns D"
    line = next(
        item for item in panel.iter("g") if item.get("data-points") and item.get("data-method") == "GORF"
    )
    x, mean, low, high, n = map(float, line.get("data-points").split(";")[1].split(","))
    assert (x, n) == (128, 10)
    half = 1.96 * 0.001 / np.sqrt(10)
    np.testing.assert_allclose([mean, low, high], [0.1, 0.1 - half, 0.1 + half], rtol=1e-4)
    left, top, right, bottom = map(float, panel.get("data-frame").split())
    (low, high), (floor, ceiling) = (
        [np.log(float(end)) for end in panel.get(key).split(",")[:2]] for key in ("data-x", "data-y")
    )
    at = left + (np.log(128 * float(line.get("data-shift"))) - low) / (high - low) * (right - left)
    height = bottom - (np.log(0.1) - floor) / (ceiling - floor) * (bottom - top)
    places = [(float(use.get("x")), float(use.get("y"))) for use in line.iter("use")]
    np.testing.assert_allclose(places[1], (at, height), atol=0.02)
    used = {use.get("href")[1:] for use in panel.iter("use")}
    assert used <= set(shapes)


def test_intervals_of_one_size_stand_side_by_side(study, published):
    """In the order of the legend, by less than half of the way to the next size; against seconds, they do not."""
    cells = made_up_cells({f"M{i}": 0.1 for i in range(9)})
    entry = {"type": "lines", "title": "t", "metric": ERROR}
    drawing = drawn(entry, cells, published)
    places = np.array([line.get_xydata()[:, 0] for line in drawing.axes[0].lines])
    middle = np.sqrt(places[0] * places[-1])
    np.testing.assert_allclose(middle, [64, 128])
    assert (np.diff(places, axis=0) > 0).all()
    np.testing.assert_allclose(places[-1] / places[0], 2**0.4)
    seconds = pd.concat([cells, cells.assign(metric="map_seconds", value=cells["n_components"] / 64)])
    for line in drawn({**entry, "x": "map_seconds"}, seconds, published).axes[0].lines:
        np.testing.assert_allclose(line.get_xydata()[:, 0], [1, 2])


def test_estimators_are_levels_in_the_panels_of_their_data_set(study, published):
    cells = made_up_cells({"GORF": 0.1})
    own = made_up_cells({"mine": 0.3})
    own = own[(own["dataset"] == "usps") & (own["n_components"] == 64)]
    both = pd.concat([cells, own.assign(kernel="none", n_components=0, learner=None)])
    entry = {"type": "lines", "title": "t", "metric": ERROR, "methods": ["GORF"], "levels": ["mine"]}
    letter, usps = drawn(entry, both, published).axes
    assert len(letter.lines) == 1
    np.testing.assert_allclose(usps.lines[1].get_xydata()[:, 1], [0.3, 0.3], rtol=1e-6)
    entry |= {"x": "map_seconds"}
    seconds = pd.concat([both, cells.assign(metric="map_seconds")])
    assert len(drawn(entry, seconds, published).axes[1].lines) == 1, "no level where columns cost seconds"


def test_without_switches_each_figure_is_drawn_once(study, published, tmp_path):
    cells = tmp_path / "cells.parquet"
    write_table(cells, made_up_cells({"GORF": 0.1, "GRFF": 0.2}))
    for folder, switches in (("all", True), ("once", False)):
        write_figures(study, cells, published, tmp_path / folder, switches=switches)
    (drawn,) = (tmp_path / "once").glob("*.svg")
    assert len(list((tmp_path / "all").glob("*.svg"))) > 1
    assert drawn.read_bytes() == (tmp_path / "all" / drawn.name).read_bytes()


@pytest.mark.parametrize(("apart", "offered"), [(True, True), (False, False)])
def test_memory_is_an_axis_where_jobs_tell_numbers_of_columns_apart(
    study, published, tmp_path, apart, offered
):
    cells = made_up_cells({"GORF": 0.1, "GRFF": 0.2})
    if apart:
        cells["peak_memory"] += 1e6 * cells["n_components"]
    write_table(tmp_path / "cells.parquet", cells)
    write_figures(study, tmp_path / "cells.parquet", published, tmp_path / "out")
    (entry,) = read_index(tmp_path / "out")
    assert list(entry["axes"]) == ["n_components", "s", *["peak_memory"] * offered]
    if offered:
        drawing = (tmp_path / "out/00_error_by_peak_memory.svg").read_text(encoding="utf-8")
        assert 'data-points="264,0.1,' in drawing, "200 MB and 1 MB for each of 64 columns"


def test_a_figure_without_methods_keeps_its_own_legend(tmp_path):
    kernels = {"delta": {"type": "DeltaGaussian"}}
    figure = drawn(
        {"type": "variance", "kernels": ["delta"], "dimensions": [4], "zmax": 3}, study={"kernels": kernels}
    )
    with rc_context(rc=RC):
        save_svg(figure, tmp_path / "v.svg")
    plot = read_plot(tmp_path / "v.svg", {})
    assert plot.lines == {}
    panel, legend = plot.panels
    assert 'class="key"' in legend
    assert "d = 4, printed frame" in legend
    assert 'aria-label="delta"' in panel
