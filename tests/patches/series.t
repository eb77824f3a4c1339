#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel patches, but for the compile matrix: make check-patches MATRIX=1.
unset MATRIX
exec kernel-patches/check.sh
