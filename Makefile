# SPDX-License-Identifier: GPL-2.0-only
#
# make              build ./schedlat, libschedlat.a and libschedlat.so
# make O=dir        build into dir (default: build)
# make V=1          show commands;  WERROR=1  warnings are errors;  LTO=1  link-time optimisation
# make SANITIZE=address,undefined
# make install      DESTDIR= PREFIX=/usr/local;  make uninstall
# make demo         record ten seconds here and explain them
# make check        every test;  make lint  only those of tests/lint
# make bench        measure speed and overhead;  make fuzz  FUZZ_SECONDS=300
# make check-kernels  on the kernels of other Debian releases, in qemu (tests/kernels)
# make lab          build the lab's kernels and boot them;  make check-lab  all its tests (tests/lab)
# make lab-eval     what the short-slice series changes, in guests (tests/lab/README.md)
# make check-patches  the kernel patches apply, keep their contract; MATRIX=1: and compile
# make score        does it name the true cause? SCORE="--only rt-hog"; mk/score.mk

O ?= build
PREFIX ?= /usr/local
CC ?= gcc
PKG_CONFIG ?= pkg-config
VERSION := 0.1.0

ROOMS := util event trace live sched wait why stats report top out
LIB_SRC := $(filter-out %.bpf.c,$(wildcard $(ROOMS:%=lib/%/*.c) lib/live/bpf/*.c))
TOOL_SRC := $(wildcard tools/*.c tools/tui/*.c)

all:

include mk/config.mk
include mk/rules.mk
include mk/test.mk
include mk/score.mk
include mk/kernels.mk
include mk/lab.mk
include mk/eas.mk
include mk/lab-eval.mk
include mk/patches.mk
include mk/install.mk

all: $(O)/schedlat $(O)/libschedlat.a $(O)/libschedlat.so $(O)/schedlat.pc $(TREE_LINK)
