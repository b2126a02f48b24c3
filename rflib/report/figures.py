"""The figures of a study, as SVG."""

from pathlib import Path
from typing import Any, cast

import matplotlib.figure
import numpy as np

from rflib.report.cell_table import read_cells
from rflib.report.folder import write_folder
from rflib.report.kind import Figure, Options, Results
from rflib.report.options import check_entries
from rflib.report.style import RC
from rflib.report.vector import save_svg
from rflib.report.wording import NOT_DRAWN


def write_figures(
    study: Options, cells: Path, published: Path, out_dir: Path, *, switches: bool = True
) -> None:
    """Draw each figure of the study as SVG, and write an index. Equal cells give equal bytes.

    With ``switches``, a figure is drawn once for each horizontal axis among which the report switches; otherwise,
    only for the first one. Other parameters and errors are those of :func:`rflib.report.tables.write_tables`.
    """
    entries = check_entries(study, "figures")
    results = Results(study, read_cells(cells, study), published)

    def draw(kind: Figure, entry: Options, path: Path) -> bool:
        """Draw an entry, and return whether there is nothing to see, which the drawing then says."""
        with matplotlib.rc_context(rc=cast(Any, RC)):
            figure = matplotlib.figure.Figure(layout="constrained")
            kind.make(entry, results, figure)
            # A level of the exact kernel has no place along x, and alone is nothing to see.
            empty = not any(np.isfinite(axes.dataLim.intervalx).all() for axes in figure.axes)
            if empty:
                figure.text(0.5, 0.5, NOT_DRAWN, ha="center", wrap=True)
            _take_literally(figure)
            save_svg(figure, path)
        return empty

    def save(kind: Figure, entry: Options, path: Path) -> dict[str, Any]:
        empty = draw(kind, entry, path)
        axes = kind.switch(entry, results) if kind.switch and switches else []
        files = {x: path.with_stem(f"{path.stem}_by_{x}") if i else path for i, x in enumerate(axes)}
        for x in axes[1:]:
            draw(kind, {**entry, "x": x}, files[x])
        return {"axes": {x: file.name for x, file in files.items()}, "empty": empty}

    write_folder(out_dir, Figure, entries, ".svg", save)


def _take_literally(figure: matplotlib.figure.Figure) -> None:
    """Show a dollar sign in the labels of a study as such, not as the beginning of a formula."""
    for axes in figure.axes:
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_parse_math(False)
    for legend in figure.legends:
        for text in legend.texts:
            text.set_parse_math(False)
