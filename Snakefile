# Entry point: configuration and studies, checked; the plan; the rules by stage; a target for each study.
import os
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.utils import min_version

from rflib.experiment.alive import BUSY, hold
from rflib.experiment.pipeline import Pipeline
from rflib.experiment.sources import VARIABLE, digest
from rflib.experiment.unfinished import told, unfinished
from rflib.report.options import check_shown

min_version("9.0")


configfile: "config.yaml"


try:
    # What a study shows is checked once; jobs on a cluster read this file too.
    also_check = check_shown if workflow.is_main_process else lambda study: None
    PIPELINE = Pipeline(config, Path(workflow.basedir), os.environ.get("RFLIB_MIRRORS", ""), also_check)
    # The report shows the studies that were asked for, and those of which there are results already. A job that parses
    # this file again has other arguments, and draws no report.
    TARGETS = get_argument_parser().parse_known_args()[0].targets if workflow.is_main_process else []
    ASKED = PIPELINE.asked(TARGETS)
except ValueError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    for message in PIPELINE.broken.values():
        logger.warning(f"Left out, the others go on: {message}")
    ALIVE, alone = hold(Path(".snakemake"))
    if not alone:
        print(BUSY, file=sys.stderr)

# Jobs refuse code that was edited after the run began.
os.environ.setdefault(VARIABLE, digest())

RESULTS = PIPELINE.results
STEP = f"{sys.executable} -m rflib"

# Outside the rules' params: where the sources lie changes no result.
STUDIES = f"{workflow.basedir}/workflow/studies"
STUDY_FILES = [str(PIPELINE.study_files[study]) for study in PIPELINE.studies]
# Relative, as inputs of rules: results stay up to date when the whole folder is moved.
PUBLISHED = os.path.relpath(f"{workflow.basedir}/workflow/published")
PARTIAL = f"{RESULTS}/report/partial.html"


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


onstart:
    Path(PARTIAL).unlink(missing_ok=True)


onsuccess:
    if any(job.rule.name == "page" for job in workflow.dag.finished_jobs):
        print(f"The report: {RESULTS}/report/index.html", file=sys.stderr)


# Not after an interruption, which leaves jobs running.
onerror:
    if workflow.scheduler.failed and not workflow.scheduler.running:
        state = unfinished(workflow, f"{RESULTS}/logs/unfinished.json")
        print(told(state), file=sys.stderr)
        if any(job.rule.name == "page" for job in workflow.dag.needrun_jobs()):
            shell(
                "{STEP} partial --studies {STUDY_FILES:q} --settings {PIPELINE.settings_text:q} --results {RESULTS:q}"
                " --published {PUBLISHED:q} --out {PARTIAL:q} 2> {RESULTS:q}/logs/partial.log"
                " || tail -n 1 {RESULTS:q}/logs/partial.log || true"
            )
