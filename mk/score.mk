# SPDX-License-Identifier: GPL-2.0-only
# make score: the scoreboard. The provokers of tests/workloads share one runtime.
#	SCORE='--only rt-hog --backend bpf'	options of tests/score/score.py

PROVOKERS := $(patsubst %.c,$(O)/%,$(filter-out tests/workloads/rt.c,$(wildcard tests/workloads/*.c)))

$(PROVOKERS): $(O)/%: %.c tests/workloads/rt.c tests/workloads/rt.h $(O)/.flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $< tests/workloads/rt.c $(SL_LDFLAGS) $(LDFLAGS) -lpthread

workloads: $(PROVOKERS)

score: $(O)/schedlat $(PROVOKERS)
	@O='$(O)' tests/score/score.py $(SCORE)

.PHONY: workloads score
