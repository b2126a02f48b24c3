"""Tables, figures, claims and the page, made from a study's cells alone."""

from rflib.extras import need

need("pipeline", __name__, "pandas", "pyarrow", "yaml", "jsonschema", "jinja2", "matplotlib")
