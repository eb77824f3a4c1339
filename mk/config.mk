# SPDX-License-Identifier: GPL-2.0-only
# Compiler flags and the libraries that pkg-config finds.

CFLAGS ?= -O2 -g
SL_CPPFLAGS = -Iinclude -Ilib -D_GNU_SOURCE -DSCHEDLAT_VERSION='"$(VERSION)"' \
	-DTRACEEVENT_VERSION='"$(TRACEEVENT_VERSION)"' -DTRACEFS_VERSION='"$(TRACEFS_VERSION)"'
SL_CFLAGS = -std=gnu11 -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes \
	    -fvisibility=hidden -fPIC
SL_LDFLAGS = -Wl,--as-needed

# The BPF program is always built by clang; bpftool lies in sbin, which is not in every PATH.
CLANG ?= clang
BPFTOOL ?= $(firstword $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool) bpftool)

# pkg-config module = Debian package
LIBS_NEEDED := libtracefs=libtracefs-dev libtraceevent=libtraceevent-dev libzstd=libzstd-dev \
	       zlib=zlib1g-dev jansson=libjansson-dev libbpf=libbpf-dev
# What only the tool needs: the library's users do not.
TOOL_LIBS_NEEDED := ncursesw=libncurses-dev
MODULES := $(foreach m,$(LIBS_NEEDED),$(firstword $(subst =, ,$(m))))
TOOL_MODULES := $(foreach m,$(TOOL_LIBS_NEEDED),$(firstword $(subst =, ,$(m))))

# Targets that compile nothing must work on a machine without the libraries.
ifneq ($(filter-out clean uninstall lint deps demo check,$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell command -v $(PKG_CONFIG)),)
$(error $(PKG_CONFIG) is missing: on Debian, apt-get install pkg-config)
endif
MISSING := $(foreach m,$(LIBS_NEEDED) $(TOOL_LIBS_NEEDED),$(if $(shell $(PKG_CONFIG) --exists \
	   $(firstword $(subst =, ,$(m))) && echo y),,$(lastword $(subst =, ,$(m)))))
ifneq ($(strip $(MISSING)),)
$(error libraries are missing: on Debian, apt-get install $(strip $(MISSING)))
endif
TOOLS_NEEDED := $(if $(shell command -v $(CLANG)),,clang) $(if $(shell command -v $(BPFTOOL)),,bpftool)
ifneq ($(strip $(TOOLS_NEEDED)),)
$(error programs for the BPF part are missing: on Debian, apt-get install $(strip $(TOOLS_NEEDED)))
endif
LIBS_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(MODULES))
LIBS := $(shell $(PKG_CONFIG) --libs $(MODULES)) -lpthread -lm
TOOL_LIBS_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(TOOL_MODULES))
TOOL_LIBS := $(shell $(PKG_CONFIG) --libs $(TOOL_MODULES))
# These two cannot be asked for their version at run time.
TRACEEVENT_VERSION := $(shell $(PKG_CONFIG) --modversion libtraceevent)
TRACEFS_VERSION := $(shell $(PKG_CONFIG) --modversion libtracefs)
endif

ifneq ($(WERROR),)
SL_CFLAGS += -Werror
endif
ifneq ($(SANITIZE),)
SL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
SL_LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifneq ($(LTO),)
# Inlined across files, gcc 12 takes outputs that are only set on success for uninitialised.
SL_CFLAGS += -flto=auto -ffat-lto-objects -Wno-maybe-uninitialized
SL_LDFLAGS += -flto=auto
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))
