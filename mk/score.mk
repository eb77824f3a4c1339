# SPDX-License-Identifier: GPL-2.0-only
# make score: the scoreboard. The provokers of tests/workloads share one runtime.
#	SCORE='--only rt-hog --backend bpf'	options of tests/score/score.py
# make lab-score: in the lab's guests; the variables of make check-lab (mk/lab.mk)

PROVOKERS := $(patsubst %.c,$(O)/%,$(filter-out tests/workloads/rt.c,$(wildcard tests/workloads/*.c)))

$(PROVOKERS): $(O)/%: %.c tests/workloads/rt.c tests/workloads/rt.h $(O)/.flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $< tests/workloads/rt.c $(SL_LDFLAGS) $(LDFLAGS) -lpthread

workloads: $(PROVOKERS)

score: $(O)/schedlat $(PROVOKERS)
	@O='$(O)' tests/score/score.py $(SCORE)

# The same script records in the lab's guests; what is in $(O)/tests/lab goes there.
$(O)/tests/lab/score-record: tests/score/record.sh
	@mkdir -p $(@D)
	$(Q)install $< $@

lab-programs: $(O)/tests/lab/score-record

# make lab-score: the same in the lab's guests, on the base and the traced kernel.
LAB_SCORES := $(patsubst tests/lab/guest/%.t,%,$(wildcard tests/lab/guest/*-score-*.t))
comma := ,

lab-score: lab-deps
	@$(MAKE) --no-print-directory lab-programs
	@O='$(O)' LAB_TESTS='$(subst $() ,$(comma),$(LAB_SCORES))' tests/lab/run.sh check

.PHONY: workloads score lab-score
