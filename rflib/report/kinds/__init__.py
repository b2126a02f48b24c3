"""The kinds of tables, figures and claims. A file in this folder that defines one is all that it needs."""
