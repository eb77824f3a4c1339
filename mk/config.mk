# SPDX-License-Identifier: GPL-2.0-only
# Compiler flags and the libraries that pkg-config finds.

CPPFLAGS += -Iinclude -Ilib -D_GNU_SOURCE
CFLAGS ?= -O2 -g
SL_CFLAGS = -std=gnu11 -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -fvisibility=hidden -fPIC

LIBS_NEEDED := libtracefs libtraceevent libzstd zlib jansson
LIBS_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS_NEEDED) 2>/dev/null)
LIBS := $(shell $(PKG_CONFIG) --libs $(LIBS_NEEDED) 2>/dev/null) -lpthread

ifneq ($(WERROR),)
SL_CFLAGS += -Werror
endif
ifneq ($(SANITIZE),)
SL_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
endif
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))
