#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What make check does of the lab: when its base kernel has been built, boot it and see that
# it works; otherwise one skip that says why. Nothing is built or fetched here.
set -u
cd "$(dirname "$0")/../.." || exit 1

said=$(LAB_KERNELS=base LAB_SERIES='' LAB_CPUS='' LAB_MODE='' LAB_TOPO='' tests/lab/run.sh cached 2>&1)
echo "$said" | sed -E '/^[0-9]+ passed, /d; /^(ok|not ok|1\.\.|#)/!s/^/# /'
echo "$said" | grep -q '^1\.\.' || echo "1..$(echo "$said" | grep -cE '^(not )?ok')"
