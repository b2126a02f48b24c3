# Entry point: configuration and studies, checked; the plan; the rules by stage; a target for each study.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

from rflib.experiment.alive import hold
from rflib.experiment.pipeline import Pipeline
from rflib.experiment.sources import VARIABLE, digest
from rflib.report.options import check_shown

min_version("9.0")


configfile: "config.yaml"


try:
    # What a study shows is checked once; jobs on a cluster read this file too.
    also_check = check_shown if workflow.is_main_process else lambda study: None
    PIPELINE = Pipeline(config, Path(workflow.basedir), os.environ.get("RFLIB_MIRRORS", ""), also_check)
    # The report shows the studies that were asked for, and those of which there are results already.
    ASKED = PIPELINE.asked(sys.argv[1:])
except ValueError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    for message in PIPELINE.broken.values():
        logger.warning(f"Left out, the others go on: {message}")
    ALIVE = hold(Path(".snakemake"))

# Jobs refuse code that was edited after the run began.
os.environ.setdefault(VARIABLE, digest())

RESULTS = PIPELINE.results
STEP = f"{sys.executable} -m rflib"

# Outside the rules' params: where the sources lie changes no result.
STUDIES = f"{workflow.basedir}/workflow/studies"
STUDY_FILES = [str(PIPELINE.study_files[study]) for study in PIPELINE.studies]
PUBLISHED = f"{workflow.basedir}/workflow/published"


wildcard_constraints:
    data="[^/]+",
    dataset="[^/]+",
    kernel="[^/]+",
    measure="[^/]+",
    method="[^/]+",
    block="[^/]+",
    error="[^/]+",
    learner="[^/]+",
    study="|".join(PIPELINE.study_files),


include: "workflow/rules/data.smk"
include: "workflow/rules/spectra.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/report.smk"


# The cells too: a page that is there already, as of another checkout, does not stand for them.
def asked(*studies):
    return [f"{RESULTS}/report/index.html", *(f"{RESULTS}/{study}/cells.parquet" for study in studies)]


localrules:
    all,


rule all:
    default_target: True
    input:
        asked(*ASKED),


for name in PIPELINE.studies:

    rule:
        name:
            name
        localrule: True
        input:
            asked(name),
