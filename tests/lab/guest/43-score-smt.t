#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=base,traced cpus=4 mode=icount4 topo=sockets=1,cores=2,threads=2 seconds=200
# Two cores with two threads each, that share a cache. The host judges (score.sh).
# shellcheck shell=dash
. /tests/lib.sh
. /tests/score.sh

for backend in tracefs bpf; do
	score $backend scan-limit stacked-short pinned-busy saturation idle-exit
done
finish
