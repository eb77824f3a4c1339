# SPDX-License-Identifier: GPL-2.0-only
# Programs for the lab's guest with CPUs of several sizes: tests/lab/eas/README.md.

EAS := $(O)/tests/lab/eas
EAS_PROGRAMS := $(EAS)/eas-load $(EAS)/eas-witness

$(EAS)/eas-load: tests/lab/eas/eas-load.c $(O)/.flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $< $(SL_LDFLAGS) $(LDFLAGS) -lpthread

$(EAS)/witness.skel.h: tests/lab/eas/witness.bpf.c
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -idirafter $(firstword $(wildcard /usr/include/*-linux-gnu)) \
		$(LIBS_CFLAGS) -c -o $(EAS)/witness.bpf.o $<
	$(Q)$(BPFTOOL) gen skeleton $(EAS)/witness.bpf.o name witness_bpf > $@.tmp && mv $@.tmp $@

$(EAS)/eas-witness: tests/lab/eas/eas-witness.c $(EAS)/witness.skel.h $(O)/.flags
	$(call say,LD,$@)
	$(Q)$(COMPILE) -I$(EAS) -o $@ $< $(SL_LDFLAGS) $(LDFLAGS) $(LIBS)

lab-programs: $(EAS_PROGRAMS)
