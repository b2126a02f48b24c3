"""The tables of a study, as CSV, and its claims."""

from pathlib import Path

import pandas as pd

from rflib.report.cell_table import read_cells
from rflib.report.claims import check_claims
from rflib.report.folder import write_folder
from rflib.report.kind import Options, Results, Table
from rflib.report.options import check_entries


def write_tables(study: Options, cells: Path, published: Path, out_dir: Path) -> None:
    """Write each table of the study as CSV, the claims, and an index of the tables.

    Parameters
    ----------
    study : mapping
        Content of the study file.
    cells : Path
        Table that ``rflib aggregate`` wrote.
    published : Path
        Folder of the published numbers.
    out_dir : Path
        Folder of the tables. What it held before is removed.

    Raises
    ------
    ValueError
        For unknown types, keys, labels or values. The message names the entry and the key.
    """
    entries = check_entries(study, "tables")
    results = Results(study, read_cells(cells, study), published)
    claims = check_claims(results)

    def save(kind: Table, entry: Options, path: Path) -> dict[str, list[tuple[int, str]]]:
        table = pd.DataFrame(kind.make(entry, results))
        table.to_csv(path, index=False)
        return {"bold": kind.bold(entry, results, table) if kind.bold else []}

    write_folder(out_dir, Table, entries, ".csv", save)
    claims.to_csv(out_dir / "claims.csv", index=False)


def read_shown(path: Path, *, missing: bool = True) -> pd.DataFrame:
    """Return a table that :func:`write_tables` wrote; without ``missing``, empty texts stay as they are.

    A table of which nothing was run may have no columns.
    """
    try:
        return pd.read_csv(path, keep_default_na=missing)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
