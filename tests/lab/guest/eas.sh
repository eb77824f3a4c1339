# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Energy-aware scheduling in a guest: the energy model as a table, and traced decisions against
# it. Sourced.

energy_model=/sys/kernel/debug/energy_model

# One line for each state of each domain, slowest first:
#	FIRST LAST PERFORMANCE KHZ UW COST
em_table()
{
	for em_domain in "$energy_model"/cpu*; do
		em_cpus=$(cat "$em_domain/cpus")
		for em_state in "$em_domain"/ps:*; do
			echo "${em_cpus%-*} ${em_cpus#*-} $(cat "$em_state/performance" "$em_state/frequency" \
				"$em_state/power" "$em_state/cost" | tr '\n' ' ')"
		done
	done | sort -n -k 1,1 -k 3,3
}

# Holds every decision in a text of tracefs against the table. Prints
#	bad WHAT...		a number that does not follow from the model, or a choice that does
#				not follow from the numbers: none is expected
#	count KEY N		candidates, computed (those of them whose energy was needed), witnessed
#				(those that the kernel's own tracepoint of its computation showed too),
#				choices, enqueued (choices after which the task was seen to be woken
#				there), energies (all of the kernel's own tracepoint)
#	why PHASE COMM WHY PREV CPU N	choices by the last trace_marker (one word) before them, task, reason,
#				previous and chosen CPU
#	seen WHY N		choices of all tasks by reason
#	cost PHASE N MEAN	choices with a cost in that phase, and what they cost on average
#
# Energy is cost * busy, em_cpu_energy() in 7.3: the cost is that of the slowest state with
# enough performance for the busiest CPU of the domain; busy is the sum of the utilization of all
# its CPUs. A candidate has the former as "util". The latter follows twice: from the energy with
# the task and from the energy without it, and what lies between is the task's own utilization,
# eenv_task_busy_time(), which must be one number for all candidates of a choice.
em_check() # TABLE TRACE
{
	awk '
	function bad(what) { if (bads++ < 20) print "bad " what ": " where }
	function field(name) {
		if (!match($0, " " name "=[^ ]*")) return ""
		return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
	}
	function domain_of(cpu,	d) {
		for (d = 0; d < domains; d++) if (cpu >= first[d] && cpu <= last[d]) return d
		return -1
	}
	function state_for(d, util,	i) {
		for (i = 0; i < states[d] - 1; i++) if (perf[d, i] + 0 >= util + 0) break
		return i
	}
	# Which utilization can the task have, seen from this candidate alone? The state that the
	# domain would be in without the task is not traced: any (a faster one only if the utilization
	# of its CPUs changed between both computations).
	function task_busy(d, k, energy, base,	j, list) {
		if (energy % cost[d, k]) { bad("energy is not a multiple of the cost " cost[d, k]); return "" }
		if (base == 0) return " " energy / cost[d, k] " "
		for (j = 0; j < states[d]; j++)
			if (base % cost[d, j] == 0 && energy / cost[d, k] >= base / cost[d, j])
				list = list " " (energy / cost[d, k] - base / cost[d, j])
		if (list == "") bad("base_energy is no multiple of a cost")
		return list " "
	}
	function common(a, b,	i, n, part, list) {
		n = split(a, part, " ")
		for (i = 1; i <= n; i++) if (index(b, " " part[i] " ")) list = list " " part[i]
		return list == "" ? "" : list " "
	}
	function forget(cpu) { candidates[cpu] = known[cpu] = 0; busy[cpu] = best[cpu] = "" }

	BEGIN { domains = energies = 0 }
	FNR == NR {
		if (!domains || first[domains - 1] != $1 + 0) {
			first[domains] = $1 + 0
			last[domains++] = $2 + 0
		}
		d = domains - 1
		perf[d, states[d] + 0] = $3 + 0
		cost[d, states[d] + 0] = $6 + 0
		states[d]++
		next
	}
	match($0, /tracing_mark_write: /) { phase = substr($0, RSTART + RLENGTH); next }
	!match($0, /\[[0-9]+\]/) { next }
	{ on = substr($0, RSTART + 1, RLENGTH - 2) + 0; where = $0 }

	# The kernel itself: energy of a domain with the task on dst, or without it (dst < 0).
	/ eas_energy: / {
		energies++
		dst = field("dst") + 0; e = field("energy") + 0; u = field("util") + 0; b = field("busy") + 0
		found = 0
		for (d = 0; d < domains; d++)
			if ((dst < 0 || d == domain_of(dst)) && e == cost[d, state_for(d, u)] * b) found = 1
		if (!found) bad("the kernel computes another energy than cost * busy")
		if (dst < 0) { base_energy[on] = e; base_busy[on] = b }
		else {
			own = on " " nr[on] + 0 " " dst
			own_energy[own] = e; own_util[own] = u
			own_base[own] = base_energy[on]; own_task[own] = b - base_busy[on]
		}
	}

	/ sched_energy_candidate: / {
		cand++
		pid = field("pid"); cpu = field("cpu") + 0; d = domain_of(cpu)
		e = field("energy") + 0; b = field("base_energy") + 0; c = field("cost") + 0
		util = field("util") + 0; fits = field("fits") + 0
		if (d < 0 || field("pd") + 0 != first[d]) { bad("the CPU is not in this domain"); next }
		if (fits != 1 && fits != -1) bad("a candidate either fits or misses uclamp_min")
		if (field("spare") + 0 > perf[d, states[d] - 1]) bad("spare is above the capacity")
		# Known to be no better before its energy was computed: fits worse, or as badly.
		if (util == 0 && e == 0) {
			dropped++
			if (c != -1) bad("dropped, but it has a cost")
			if (field("best") + 0 || field("prev") + 0) bad("dropped, but the best or the previous CPU")
			next
		}
		if (util > perf[d, states[d] - 1]) bad("util is above the capacity")
		# Less with the task than without it: others left in between, and the kernel gives up.
		raced[on] = e < b
		if (c != (raced[on] ? -1 : e - b)) bad("cost is not energy - base_energy")
		k = state_for(d, util)
		if (candidates[on] && pid_of[on] != pid) forget(on)
		if (field("best") + 0) best[on] = cpu
		pid_of[on] = pid
		t = raced[on] ? "" : task_busy(d, k, e, b)
		# Busy time ends at the capacity of the domain (eenv_pd_busy_time()): it says nothing then.
		full = e / cost[d, k] >= perf[d, states[d] - 1] * (last[d] - first[d] + 1)
		if (t != "" && !full) {
			busy[on] = known[on] ? common(busy[on], t) : t
			known[on] = 1
			if (busy[on] == "") bad("no utilization of the task explains all candidates")
		}
		n = candidates[on]++
		ccpu[on, n] = cpu; ccost[on, n] = c; cfits[on, n] = fits; cprev[on, n] = field("prev") + 0
		conce[on, n] = field("at_once"); cnr[on, n] = field("nr_running")
		own = on " " nr[on] + 0 " " cpu
		if (own in own_energy) {
			witnessed++
			if (own_energy[own] != e || own_util[own] != util || own_base[own] != b)
				bad("the kernel computed energy " own_energy[own] " util " own_util[own] " base " own_base[own])
			if (!full && !raced[on] && busy[on] != "" && !index(busy[on], " " own_task[own] " "))
				bad("the task adds a utilization of " own_task[own] ", not" busy[on])
		} else if (energies)
			bad("the kernel computed no energy for this CPU")
	}

	/ sched_energy_choice: / {
		choices++
		pid = field("pid"); cpu = field("cpu") + 0; prev = field("prev_cpu") + 0; why = field("why")
		comm = field("comm"); seen[why]++
		if (phase != "") by[phase " " comm " " why " " prev " " cpu]++
		n = pid_of[on] == pid ? candidates[on] : 0
		chosen = -1; least = -1; pcost = ""
		for (i = 0; i < n; i++) {
			if (ccpu[on, i] == cpu) chosen = i
			if (cprev[on, i]) { pcost = ccost[on, i]; if (ccpu[on, i] != prev) bad("prev is marked on another CPU") }
			if (cfits[on, i] > 0 && (least < 0 || ccost[on, i] < ccost[on, least])) least = i
		}
		if (why == "prev" || why == "no-util" || why == "raced") {
			if (cpu != prev) bad(why ", but not the previous CPU")
		} else if (cpu == prev) bad(why ", but it is the previous CPU")
		else if (chosen < 0) bad("the chosen CPU was no candidate")
		if (why == "no-util" && n) bad("no-util, but there are candidates")
		# Each candidate says whether it would be chosen if it were the last.
		if (n && why != "raced" && best[on] != "" && best[on] != cpu) bad("the last best is CPU " best[on])
		if ((why == "raced") != (raced[on] + 0)) bad("raced is said of what was not, or not said")
		if (chosen >= 0 && field("cost") + 0 != -1 && field("cost") + 0 != ccost[on, chosen])
			bad("cost is not that of the chosen candidate")
		if (why == "raced") {
			if (field("cost") + 0 != -1 || field("prev_cost") + 0 != -1) bad("raced, but it has a cost")
		} else if (pcost != "" && field("prev_cost") + 0 != pcost) bad("prev_cost is not that of the candidate")
		if (why == "cheaper") {
			if (pcost == "" || field("cost") + 0 >= pcost) bad("not cheaper than the previous CPU")
			if (chosen >= 0 && cfits[on, chosen] > 0 && ccost[on, chosen] != ccost[on, least])
				bad("not the cheapest of those that fit")
		} else if (why == "fits-better") {
			if (field("fits") + 0 <= field("prev_fits") + 0) bad("does not fit better")
			# A previous CPU that fits worse but costs less raises the bar for the others.
			if (pcost == "" && chosen >= 0 && cfits[on, chosen] > 0 && ccost[on, chosen] != ccost[on, least])
				bad("not the cheapest of those that fit")
		} else if (why == "more-capacity") {
			if (field("fits") + 0 >= 0) bad("more-capacity, but it fits")
		} else if (why == "prev" && field("prev_fits") + 0 > 0) {
			if (least >= 0 && ccost[on, least] < pcost) bad("a cheaper one fits")
		} else if (why == "slice" || why == "less-busy") {
			if (pcost == "" || field("cost") + 0 != pcost) bad("does not cost the same")
		}
		if (field("cost") + 0 >= 0) {
			total[phase] += field("cost")
			compared[phase]++
		}
		# Of those that cost the same: at once before later, then the fewest tasks.
		mine = -1
		for (i = 0; i < n; i++) if (ccpu[on, i] == cpu) mine = i
		for (i = 0; mine >= 0 && conce[on, mine] != "" && why != "raced" && i < n; i++)
			if (cfits[on, i] == cfits[on, mine] && ccost[on, i] == ccost[on, mine] &&
			    domain_of(ccpu[on, i]) == domain_of(cpu) && (conce[on, i] > conce[on, mine] ||
			    (conce[on, i] == conce[on, mine] && cnr[on, i] < cnr[on, mine])))
				bad("CPU " ccpu[on, i] " costs the same and is less busy")
		expect[pid] = cpu
		forget(on)
		raced[on] = 0
		nr[on]++
	}

	/ sched_wakeup: / {
		pid = field("pid")
		if (pid in expect) {
			if (field("target_cpu") + 0 != expect[pid]) bad("woken on another CPU than the chosen " expect[pid])
			else enqueued++
			delete expect[pid]
		}
	}

	END {
		print "count energies " energies + 0
		print "count candidates " cand + 0
		print "count computed " cand - dropped
		print "count witnessed " witnessed + 0
		print "count choices " choices + 0
		print "count enqueued " enqueued + 0
		print "count bad " bads + 0
		for (i in seen) print "seen " i " " seen[i]
		for (i in by) print "why " i " " by[i]
		for (i in compared) print "cost " i " " compared[i] " " total[i] / compared[i]
	}' "$1" "$2"
}
