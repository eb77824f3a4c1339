# SPDX-License-Identifier: GPL-2.0-only
# Objects, the two libraries and the tool.

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
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
	$(Q)$(LINK) -o $@ $(TOOL_OBJ) $(O)/libschedlat.a $(LIBS)

schedlat: $(O)/schedlat
	$(Q)ln -sfn $< $@

clean:
	rm -rf $(O) $(TREE_LINK)

FORCE:
.PHONY: all clean FORCE

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
