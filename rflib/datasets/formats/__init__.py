"""File formats, one module each: an edit of one prepares only the data sets in that format anew."""
