# SPDX-License-Identifier: GPL-2.0-only
# The kernel patches: kernel-patches/README.md.
#
# make check-patches            apply, checkpatch.pl, contract; part of make check
# make check-patches MATRIX=1   each patch alone compiles in every config of matrix/
#   MATRIX_CONFIGS=full,i386  MATRIX_DIR=dir  KSRC=/path/to/linux  KCACHE=dir

PATCHES_VARS := MATRIX MATRIX_CONFIGS MATRIX_DIR MATRIX_JOBS KSRC KCACHE KMIRROR
export $(PATCHES_VARS)

check-patches:
	@kernel-patches/check.sh

.PHONY: check-patches
