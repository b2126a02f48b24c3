#!/bin/sh
# Debian's Slurm for tests/cluster; where it cannot be had, says so and ends well: the tests are skipped by name.
command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null && exit 0
apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null ||
    echo "Slurm cannot be installed here: the cluster tests will be skipped" >&2
