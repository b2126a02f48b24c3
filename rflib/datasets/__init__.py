"""Data sets: where they come from, and how they are verified, parsed, prepared and split."""

from rflib.extras import need

need("data", __name__, "pandas", "pyarrow", "requests", "tqdm")
