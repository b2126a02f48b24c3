"""What a cell is, and the steps that the workflow's rules call."""

from rflib.extras import need

need("pipeline", __name__, "pandas", "pyarrow", "yaml", "jsonschema")
