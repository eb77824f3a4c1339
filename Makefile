# SPDX-License-Identifier: GPL-2.0-only
#
# make              build ./schedlat and libschedlat
# make O=dir        build into dir
# make V=1          show commands;  WERROR=1  warnings are errors
# make SANITIZE=address,undefined
# make install      DESTDIR= PREFIX=/usr/local
# make demo, make check, make bench: see README.md

O ?= build
PREFIX ?= /usr/local
CC ?= gcc
PKG_CONFIG ?= pkg-config

include mk/config.mk

ROOMS := util event trace live sched wait why stats report out
LIB_SRC := $(wildcard $(ROOMS:%=lib/%/*.c))
TOOL_SRC := $(wildcard tools/*.c)

all: $(O)/libschedlat.a $(O)/schedlat schedlat

include mk/rules.mk
