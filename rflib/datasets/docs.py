"""The page docs/data.md, made from the registry: ``python -m rflib.datasets.docs > docs/data.md``."""

from __future__ import annotations

from rflib.datasets.entry import Entry, File
from rflib.datasets.registry import REGISTRY

_HEAD = """# Data sets

Made from the registry by `python -m rflib.datasets.docs > docs/data.md`; a test holds the two together.

| name | task | rows | columns | classes | split | papers | source | licence |
|---|---|--:|--:|--:|---|---|---|---|
"""

_SPLITS = """
Splits. *given*: the files hold training and test rows, as many as said. *half*, *2/3*, *train n*: every
repetition draws its own at random, seeded by the data set's name and the repetition, the same one for all
methods.

## How files are fetched

`rflib fetch`, which the pipeline calls, tries each of `data.mirrors` of `config.yaml` (folders or URLs) and
then the official addresses. A mirror may hold a file compressed, with `.xz` added. A download goes to
`<name>.part` with progress on standard error, is taken up where it broke, by the next attempt or the next
run, and gets its name only when its checksum is the official one. To place a file by hand, put it into the
folder `data.raw` under the name given [below](#files). A file whose source is *mirror only* has no official
address: a paper's authors or a course made it.

## How they are prepared

`rflib prepare` writes one folder a data set: `X.npy` and `y.npy`, or `X_train.npy`, `y_train.npy`,
`X_test.npy` and `y_test.npy` where the split is given, to be mapped into memory (`X*.npz`, sparse, for
adult), and `meta.json`: rows, columns, classes, rows of each label, split, scaling, citation, licence, files
with checksums. Official files are parsed block by block, as data only: nothing in them is executed, no
archive is unpacked, sizes are bounded.

Preprocessing is named in a study: `raw`, or steps joined by `+`, in order: `minmax` (each column to [0, 1] by
the training rows), `minmax_all` (by all rows, as luo2021 does for housing), `standardize` (by the training
rows), `unit_norm` (each row divided by its 2-norm; a zero row is an error). liu2020 is `minmax`, luo2021 and
pennington2015 `unit_norm`.

Time and peak memory, interpreter and libraries included (180 MiB), on two cores of an x86-64 server:

| step | files | arrays | seconds | peak memory |
|---|---|--:|--:|--:|
{measured}
covtype and gisette were generated in the official files' format and size; the numbers are of
`tests/datasets/test_generated.py`, which keeps the peak below the limits it states.

## luo2021's splits

The authors' files were exported to `gorf_splits/*.npz` (`*_luo2021`, from a mirror only). The official files
give:

| data set | from the official files |
|---|---|
| letter | rows and order not derivable: their numbers come with rflib; values equal to 4e-6 (rounding) |
| ijcnn1 | the same rows in the same order, exactly |
| usps | the same rows in the same order, exactly |
| housing | the same table, exactly; the split is drawn anew in the authors' code and stored nowhere |

## What to know before using them

"""

_USER = """
## Your own data

A study names a file in place of a data set: CSV, Parquet, npz (arrays `X` and `y`) or LIBSVM, the text
formats also with `.gz`, `.bz2` or `.xz`. Its name must not be one of the registry's, and must mean the same data
in all studies. When the content changes, the pipeline reads the file again and computes its cells anew.

```yaml
datasets:
  - {name: mine, file: mine.csv, target: label, task: classification, columns: 12, test_size: 0.2}
  - {name: prices, file: train.parquet, test_file: test.parquet, target: price, task: regression}
```

`target` names the target's column of a CSV or Parquet file; all other columns are inputs. Values of a CSV file
are separated by commas, and every column has a name: write it without pandas' row numbers (`index=False`). A
LIBSVM file counts columns from 1; with `zero_based: true` it counts from 0, as scikit-learn writes it.
`test_file` has the same columns, in any order; without it every repetition tests on a share `test_size` of the
rows (default 1/3). Labels may be text or integers and are kept in `meta.json`. Missing values, text among the
inputs, labels that only the test file has, a measured quantity as a label, and columns that differ are errors
that name file, row and column.

## Files

"""

_MEASURED = """\
| prepare covtype | 581,012 x 54, gzip | 120 MiB | 3.6 | 212 MiB |
| load covtype, minmax+unit_norm | | 239 MiB | 2.5 | 547 MiB |
| prepare gisette | 6,000 x 5,000, bzip2 | 229 MiB | 14 | 346 MiB |
| load gisette, minmax+unit_norm | | 229 MiB | 1.2 | 659 MiB |
"""


def page() -> str:
    """Return the page as Markdown."""
    rows = "".join(_row(name, entry) for name, entry in REGISTRY.items())
    about = "".join(_about(name, entry) for name, entry in REGISTRY.items())
    names: dict[File, list[str]] = {}
    for name, entry in REGISTRY.items():
        for file in entry.files:
            names.setdefault(file, []).append(name)
    files = "".join(_file(file, users) for file, users in names.items())
    head = "| file | data set | source | bytes | checksum |\n|---|---|---|--:|---|\n"
    return f"{_HEAD}{rows}{_SPLITS.format(measured=_MEASURED)}{about}{_USER}{head}{files}"


def _row(name: str, entry: Entry) -> str:
    split = entry.split
    if entry.train_rows is not None:
        split = f"given, {entry.train_rows:,} / {entry.rows - entry.train_rows:,}"
    return (
        f"| {name} | {entry.task} | {entry.rows:,} | {entry.columns:,} | {entry.classes or ''} | {split} "
        f"| {', '.join(entry.papers)} | {entry.citation} | {entry.licence} |\n"
    )


def _about(name: str, entry: Entry) -> str:
    traps = f" *Traps:* {entry.traps}." if entry.traps else ""
    return f"- **{name}**. *Inputs:* {entry.scaling}.{traps}\n"


def _file(file: File, users: list[str]) -> str:
    source = "<br>".join(file.urls) or "mirror only"
    size = f"{file.size:,}" if file.size else "not known"
    return f"| `{file.name}` | {', '.join(users)} | {source} | {size} | {' '.join(file.checksum)} |\n"


if __name__ == "__main__":
    print(page(), end="")
