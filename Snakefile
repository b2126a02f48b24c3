# The pipeline, from the project's folder: plain `snakemake` finds this file and the profile beside it.
include: "workflow/Snakefile"


# An included file does not set the default target.
workflow.default_target = "all"
