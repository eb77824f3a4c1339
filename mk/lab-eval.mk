# SPDX-License-Identifier: GPL-2.0-only
# make lab-eval: what the short-slice series changes, tests A to E: tests/lab/eval.sh.
#	EVAL_TESTS="A D"  EVAL_RUNS=5  EVAL_CPUS="4 8"  EVAL_MODES="icount multi"  EVAL_KEEP=dir
#	EVAL_FEATURES="NO_PUSH_TASK"  EVAL_BASE=base  EVAL_SERIES=all  RESULTS=1

EVAL_VARS := EVAL_TESTS EVAL_RUNS EVAL_CPUS EVAL_MODES EVAL_KEEP EVAL_FEATURES EVAL_BASE EVAL_SERIES \
	EVAL_SECONDS EVAL_RECORDED EVAL_TURN_US RESULTS
export $(EVAL_VARS)

EVAL_WAKE := $(O)/tests/lab/eval/eval-wake

$(EVAL_WAKE): tests/lab/eval/eval-wake.c tests/workloads/rt.c tests/workloads/rt.h $(O)/.flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests/workloads -o $@ $< tests/workloads/rt.c $(SL_LDFLAGS) $(LDFLAGS) -lpthread

# What 91-stress-short-slice runs.
SCHED_STORM := $(O)/tests/lab/eval/sched-storm

$(SCHED_STORM): tests/lab/eval/sched-storm.c $(O)/.flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -o $@ $< $(SL_LDFLAGS) $(LDFLAGS) -lpthread

lab-programs: $(EVAL_WAKE) $(SCHED_STORM)

lab-eval: lab-deps
	@$(MAKE) --no-print-directory lab-programs
	@O='$(O)' tests/lab/eval.sh

.PHONY: lab-eval
