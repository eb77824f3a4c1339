# SPDX-License-Identifier: GPL-2.0-only
# schedlat on other kernels, in qemu: tests/kernels/README.md. Never part of the tests.

check-kernels: $(O)/schedlat workloads $(filter %/test_bpf,$(UNIT))
	@O='$(O)' KERNELS='$(KERNELS)' KIMG='$(KIMG)' KTESTS='$(KTESTS)' KKEEP='$(KKEEP)' \
		KOPT='$(KOPT)' tests/kernels/run.sh

.PHONY: check-kernels
