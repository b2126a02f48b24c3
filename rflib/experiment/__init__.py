"""Cells, jobs and plans, and the steps that the rules of the workflow call."""

from rflib.extras import need

need("pipeline", __name__, "pandas", "pyarrow", "yaml", "jsonschema")
