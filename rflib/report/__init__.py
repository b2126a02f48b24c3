"""Tables, figures, claims and the page, made from a study's cells alone."""
