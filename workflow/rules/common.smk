# Configuration and studies, checked; the plans; what all rules share.
import os
import sys
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from rflib import warm
from rflib.experiment.alive import BUSY, hold
from rflib.experiment.job_rules import JOBS, JobRule
from rflib.experiment.pipeline import Pipeline
from rflib.experiment.running_page import RunningPage
from rflib.experiment.sources import VARIABLE, digest
from rflib.experiment.unfinished import interrupted, told, unfinished
from rflib.report.kind import modules as modules_of_kinds
from rflib.report.options import check_shown

# The folder "workflow", also where another workflow uses this one as a module.
HOME = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent

try:
    # What a study shows is checked once; jobs on a cluster read this file too.
    also_check = check_shown if workflow.is_main_process else lambda study: None
    PIPELINE = Pipeline(config, HOME, os.environ.get("RFLIB_MIRRORS", ""), also_check)
    # The report shows the studies that were asked for, and those of which there are results already. A job that parses
    # this file again has other arguments, and draws no report. Snakemake itself tells the targets only after this file.
    TARGETS = get_argument_parser().parse_known_args()[0].targets if workflow.is_main_process else []
    ASKED = PIPELINE.asked(TARGETS)
except ValueError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    for message in PIPELINE.broken.values():
        logger.warning(f"One study is left out; the others go on. {message}")
    ALIVE, alone = hold(Path(".snakemake"))
    if not alone:
        logger.warning(BUSY)

# Rules call the Python that runs Snakemake, unless they have an environment of their own.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

# Jobs refuse code that was edited after the run began.
os.environ.setdefault(VARIABLE, digest())

RESULTS = PIPELINE.results
STUDY_FILES = [PIPELINE.study_files[study] for study in PIPELINE.studies]
REPORT = Path(RESULTS, "report/index.html")
PARTIAL = f"{RESULTS}/report/partial.html"
RUNNING = f"{RESULTS}/report/running.html"


# The command that writes a page about the results that are there.
def page_of_what_is_there(out):
    about = {
        "settings": PIPELINE.settings_text,
        "results": RESULTS,
        "published": PIPELINE.published_folder,
        "out": out,
    }
    options = [word for key, value in about.items() for word in (f"--{key}", str(value))]
    return [sys.executable, "-m", "rflib", "partial", "--studies", *map(str, STUDY_FILES), *options]


# A run of all studies fails at its end if one was left out; a run of another study does not.
def left_out_of(dag):
    everything = any(job.rule.name == "all" for job in dag.jobs)
    return [f"One study was left out. {message}" for message in PIPELINE.broken.values()] if everything else []


# The cells too: a page that is there already, as of another checkout, does not stand for them.
def asked(*studies):
    return [f"{RESULTS}/report/index.html", *(f"{RESULTS}/{study}/cells.parquet" for study in studies)]
