# SPDX-License-Identifier: GPL-2.0-only
# Tests, demo, measurements. The work is in scripts/; this gives it a build.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT := $(UNIT_SRC:%.c=$(O)/%)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(FUZZ_SRC:%.c=$(O)/%)
BENCH := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
FUZZ_SECONDS ?= 300

# Every program under tests/ is one file linked with the static library.
$(O)/tests/%: tests/%.c $(O)/libschedlat.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -MF $@.d -MT $@ -I. -Itests -o $@ $< $(SL_LDFLAGS) $(LDFLAGS) \
		$(O)/libschedlat.a $(if $(filter tests/unit/%,$<),-lcmocka) $(LIBS)

# libFuzzer comes with clang; the fuzz build is one of its own: make O=build/fuzz CC=clang fuzzers
$(FUZZ): SL_CFLAGS += -fsanitize=fuzzer
$(FUZZ): SL_LDFLAGS += -fsanitize=fuzzer

unit-tests: $(UNIT)
fuzzers: $(FUZZ)
bench-tools: $(O)/schedlat $(BENCH)

deps:
	@scripts/deps.sh build demo check

demo:
	@MAKE='$(MAKE)' scripts/demo.sh

check:
	@MAKE='$(MAKE)' WERROR='$(WERROR)' scripts/check.sh

lint:
	@scripts/run-tests.sh lint

bench: bench-tools
	@O='$(O)' tests/bench/run.py

fuzz:
	@MAKE='$(MAKE)' scripts/fuzz.sh $(FUZZ_SECONDS)

.PHONY: unit-tests fuzzers bench-tools deps demo check lint bench fuzz

-include $(UNIT:%=%.d) $(FUZZ:%=%.d) $(BENCH:%=%.d)
