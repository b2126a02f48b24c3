"""Generated rows of many columns, for measurements of time."""

from rflib.datasets.entry import NOT_STATED, Entry

NORMAL_COLUMNS = (512, 1000, 1024, 2048, 4096)

GENERATED = {
    f"normal_{columns}": Entry(
        task="classification",
        rows=1500,
        columns=columns,
        classes=2,
        split="2/3",
        reader=f"normal_{columns}",
        papers=("pennington2015",),
        scaling="standard normal",
        citation="generated, from a fixed seed: for the times of pennington2015's figure 4, which names no data",
        licence=NOT_STATED,
        traps="labels are the sign of the first column",
    )
    for columns in NORMAL_COLUMNS
}
