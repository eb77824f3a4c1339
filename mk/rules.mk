# SPDX-License-Identifier: GPL-2.0-only

LIB_OBJ := $(LIB_SRC:%.c=$(O)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(O)/%.o)

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(LIBS_CFLAGS) $(SL_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/libschedlat.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/schedlat: $(TOOL_OBJ) $(O)/libschedlat.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(O)/libschedlat.a $(LIBS)

schedlat: $(O)/schedlat
	$(Q)ln -sfn $< $@

clean:
	rm -rf $(O) schedlat

.PHONY: all clean

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
