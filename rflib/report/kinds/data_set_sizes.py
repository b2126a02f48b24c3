"""Table: the sizes of the study's data sets."""

from rflib.report.kind import Options, Results, Rows, Table


@Table.with_options({})
def sizes(_: Options, results: Results) -> Rows:
    """Numbers of columns, classes, training rows and test rows of the data sets, according to the registry."""
    from rflib.datasets.load import training_rows
    from rflib.datasets.registry import entry_of

    rows = []
    for name in dict.fromkeys(results.cells["name"]):
        about = entry_of(name)
        train = about.train_rows or training_rows(about.split, about.rows)
        shape = {"data set": name, "columns d": about.columns, "classes": about.classes}
        rows.append({**shape, "training rows": train, "test rows": about.rows - train})
    return rows
