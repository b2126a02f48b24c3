"""Tables, figures, claims and the page, which are made from the cells of a study alone."""

from rflib.extras import need

need("pipeline", __name__, "pandas", "pyarrow", "yaml", "jsonschema", "jinja2", "latex2mathml", "matplotlib")
