"""The kinds of tables, figures and claims: a file of this folder that defines one is all that it needs."""
