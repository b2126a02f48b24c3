#!/bin/sh
# Debian's Chromium and its driver for the tests of the page; where they cannot be had, says so and ends well: the
# tests are skipped by name.
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0
apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null ||
    echo "Chromium cannot be installed here: the tests of the page in a browser will be skipped" >&2
