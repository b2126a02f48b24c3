"""Make docs/results/reliability.md from pytest's JUnit files: python tests/reliability_page.py FILE... > PAGE."""

from __future__ import annotations

import os
import platform
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from datetime import UTC, datetime

HEADER = """\
# Reliability

Written by `make reliability` from the tests' own record. Each case is one fault and passes only if the run after
it completes and its results are the undisturbed ones to the bit. For fuzzing, each case is one file format;
for generated files, it is a data set of full size that must be prepared and loaded within a bound of memory.

"""


def main(paths: list[str]) -> None:
    """Print a table with one line for each test function."""
    groups = defaultdict(list)
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            name = re.sub(r"\[.*", "", case.get("name", "")).removeprefix("test_").replace("_", " ")
            groups[case.get("classname", "").replace(".", "/"), name].append(case)
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores"
    print(f"{HEADER}{when}; Python {platform.python_version()}, {machine}.\n")
    print("| file | test | cases | passed | inputs | seconds |\n|---|---|---|---|---|---|")
    for (file, name), cases in groups.items():
        passed = sum(case.find("failure") is None and case.find("error") is None for case in cases)
        skipped = [case.find("skipped") for case in cases if case.find("skipped") is not None]
        inputs = sum(int(item.get("value", 0)) for case in cases for item in case.iter("property"))
        seconds = sum(float(case.get("time", 0)) for case in cases)
        outcome = f"skipped: {skipped[0].get('message')}" if skipped else passed
        print(f"| `{file}.py` | {name} | {len(cases)} | {outcome} | {inputs or ''} | {seconds:.0f} |")
    if not any("fuzz" in file for file, _ in groups):
        print("\nWithout `make fuzz`, which takes ten minutes more; `make test` holds its short form.")


if __name__ == "__main__":
    main(sys.argv[1:])
