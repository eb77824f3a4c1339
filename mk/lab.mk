# SPDX-License-Identifier: GPL-2.0-only
# The lab: our kernels in qemu, with schedlat inside: tests/lab/README.md.
#
# make lab          build its kernels, boot each, see that it works
# make check-lab    all tests of the lab, on the base, the traced and the debug kernel
#   LAB_SERIES=base|tracepoints|all  LAB_KERNELS=base,traced  LAB_TESTS=10-smoke  LAB_KEEP=dir
#   LAB_CPUS=8  LAB_MODE=icount|multi  LAB_TOPO=sockets=2,cores=2  KSRC=/path/to/linux

LAB_VARS := LAB_SERIES LAB_KERNELS LAB_TESTS LAB_CPUS LAB_MODE LAB_TOPO LAB_KEEP LAB_OPT LAB_SLOW \
	LAB_JOBS KSRC KCACHE KMIRROR QEMU
export $(LAB_VARS)

# What the lab needs is installed first: the programs that are built need it as well.
lab-deps:
	@scripts/deps.sh build demo check lab

# What a guest gets that is the lab's own.
LAB_FENTRY := $(O)/tests/lab/fentry $(O)/tests/lab/fentry.bpf.o

$(O)/tests/lab/fentry.bpf.o: tests/lab/fentry.bpf.c
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -I/usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# Other files add theirs: lab-programs: $(O)/tests/lab/...
lab-programs: all workloads $(LAB_FENTRY) $(filter %/test_bpf,$(UNIT))

lab check-lab: lab-deps
	@$(MAKE) --no-print-directory lab-programs
	@O='$(O)' tests/lab/run.sh $(if $(filter check-lab,$@),check,smoke)

.PHONY: lab check-lab lab-deps lab-programs
