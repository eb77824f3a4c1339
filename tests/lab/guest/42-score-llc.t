#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=base,traced cpus=4 mode=icount4 topo=sockets=2,cores=2,threads=1 seconds=200
# Two caches of the last level: provokers of which CPU a wakee is sent to. The host judges (score.sh).
# shellcheck shell=dash
. /tests/lib.sh
. /tests/score.sh

for backend in tracefs bpf; do
	score $backend idle-missed wake-affine migration remote-wake
done
finish
