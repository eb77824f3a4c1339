# SPDX-License-Identifier: GPL-2.0-only
# Objects, the two libraries and the tool.

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o) $(O)/lib/out/html/assets.o
TOOL_OBJ := $(TOOL_SRC:%.c=$(O)/%.o)
COMPILE = $(CC) $(CPPFLAGS) $(SL_CPPFLAGS) $(LIBS_CFLAGS) $(SL_CFLAGS) $(CFLAGS)
LINK = $(CC) $(SL_CFLAGS) $(CFLAGS) $(SL_LDFLAGS) $(LDFLAGS)
SOVERSION := 0
SONAME := libschedlat.so.$(SOVERSION)

# ./schedlat belongs to the default build, not to one of many others.
TREE_LINK := $(if $(filter build,$(O)),schedlat)

# Another compiler or other flags: build again. What only turns warnings into errors is no reason.
FLAGS = $(subst ','\'',$(filter-out -Werror,$(COMPILE) $(LINK)))
$(O)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' > $@

$(O)/%.o: %.c $(O)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# The page of export --format=html: its parts become strings of the library.
$(O)/lib/out/html/assets.o: lib/out/html/assets.S $(wildcard lib/out/html/* third_party/uplot/*) $(O)/.flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter -m%,$(CFLAGS)) -c -o $@ $<

# The BPF program becomes a header that the loader includes. It reads the kernel's types from
# lib/live/bpf/vmlinux.h: no BTF of any kernel is needed here.
BPF_OBJ := $(O)/lib/live/bpf/schedlat.bpf.o
BPF_SKEL := $(O)/lib/live/bpf/schedlat.skel.h
BPF_CFLAGS = -target bpf -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter $(filter -Werror,$(SL_CFLAGS))

$(BPF_OBJ): lib/live/bpf/schedlat.bpf.c
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Ilib $(LIBS_CFLAGS) -MMD -MP -c -o $@ $<

$(BPF_SKEL): $(BPF_OBJ)
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name schedlat_bpf > $@.tmp && mv $@.tmp $@

BPF_USERS := $(O)/lib/live/bpf/load.o $(O)/lib/live/bpf/consume.o $(O)/lib/live/bpf/live.o
$(BPF_USERS): $(BPF_SKEL)
$(BPF_USERS): private SL_CPPFLAGS += -I$(O)/lib

$(TOOL_OBJ): private SL_CPPFLAGS += -Itools $(TOOL_LIBS_CFLAGS)

$(O)/libschedlat.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/$(SONAME): $(LIB_OBJ) lib/libschedlat.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=lib/libschedlat.map \
		-o $@ $(LIB_OBJ) $(LIBS)

$(O)/libschedlat.so: $(O)/$(SONAME)
	$(Q)ln -sfn $(SONAME) $@

$(O)/schedlat: $(TOOL_OBJ) $(O)/libschedlat.a
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(TOOL_OBJ) $(O)/libschedlat.a $(LIBS) $(TOOL_LIBS)

schedlat: $(O)/schedlat
	$(Q)ln -sfn $< $@

clean:
	rm -rf $(O) $(TREE_LINK)

FORCE:
.PHONY: all clean FORCE

-include $(BPF_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
