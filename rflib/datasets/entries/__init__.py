"""The data sets, one file each, or one for a few that share a reader: their entries and how they are read.

A file here defines ``ENTRIES``, by name; nothing else needs to know of it. It imports pandas and scikit-learn only
when it reads, because a plan imports all of them.
"""
