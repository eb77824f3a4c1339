#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=base,traced cpus=2 mode=icount4 seconds=400
# The provokers, recorded through tracefs. The host judges (score.sh).
# shellcheck shell=dash
. /tests/lib.sh
. /tests/score.sh

score tracefs
finish
