# SPDX-License-Identifier: GPL-2.0-only
# Checks the values of the events on the fair class' decisions, one by one, against the rules that
# their reasons stand for, and against the switches and wakeups beside them. Input is what
# "trace-cmd report -t -l" prints of a recording without losses; one line for each of
#
#	count EVENT REASON N
#	bad RULE N	with up to three "# " lines that broke it
#
# -v equal=1	all tasks weigh NICE_0_LOAD (no groups, nice 0)
# -v idle=PIDS	these tasks are SCHED_IDLE, " 12 13 "
# -v tick=S	weights are constant (no groups): a protection ends when it was said to, but for a tick
# -v smt=1	CPUs have siblings
# -v select=0	the placement events do not say the whole truth (a CPU's mask changes)
# -v lazy=0	the model of preemption is not lazy
#
# Virtual times begin just below 2^64, and awk counts in floating point: n() makes them signed, so
# that those of a short recording on a young machine are exact.

function n(s) {
	if (length(s) < 16 || s ~ /^-/)
		return s + 0
	return (substr(s, 1, length(s) - 9) - 18446744073) * 1000000000 + (substr(s, length(s) - 8) - 709551616)
}

# A string "0" would be true.
function value(s) { return s ~ /^-?[0-9]+$/ && length(s) < 16 ? s + 0 : s }

function get(	i, p) {
	delete f
	for (i = first; i <= NF; i++)
		if (p = index($i, "="))
			f[substr($i, 1, p - 1)] = value(substr($i, p + 1))
}

function want(rule, cond) {
	checked[rule]++
	if (!cond) {
		bad[rule]++
		if (bad[rule] <= 3)
			example[rule] = example[rule] "# " $0 "\n"
	}
}

function eligible(v) { return v - V <= 0 }
function has(flag) { return index("|" f["flags"] "|", "|" flag "|") > 0 }
function trunc(x) { return x < 0 ? -int(-x) : int(x) }
function is_idle(cpu) { return running[cpu] == 0 || index(idle, " " running[cpu] " ") }

# What is common to the events that tell of a pick without protection and buddy.
function best(event, v, d) {
	if (f["best_pid"] == f["pid"]) {
		want(event ": best is the task of the event, with its values",
		     f["best_vruntime"] == f["vruntime"] && f["best_deadline"] == f["deadline"])
	} else if (f["best_pid"] == f["curr_pid"]) {
		want(event ": best is current, with its values",
		     f["best_vruntime"] == f["curr_vruntime"] && f["best_deadline"] == f["curr_deadline"])
	}
	if (f["nr_queued"] == 1)
		return
	want(event ": best is eligible", eligible(n(f["best_vruntime"])))
	if (f["eligible"])
		want(event ": best is no later than the eligible task of the event", n(f["best_deadline"]) - d <= 0)
}

function wakeup_preempt(	v, d, cv, cd, prot, asked, shortest) {
	why = f["why"]; v = n(f["vruntime"]); d = n(f["deadline"]); V = n(f["avg_vruntime"])
	cv = n(f["curr_vruntime"]); cd = n(f["curr_deadline"]); prot = n(f["curr_vprot"]) - cv
	asked = why ~ /^(picked|short|ineligible|buddy|protected|deadline)$/
	if (why != "throttled")
		want("wakeup: eligible iff vruntime is not after the average", f["eligible"] == eligible(v))
	want("wakeup: curr-protected iff current is before its vprot", has("curr-protected") == (prot > 0))
	want("wakeup: preempts iff the reason says so", f["preempt"] == (why ~ /^(idle-curr|sync-resched|picked|short)$/))
	want("wakeup: two different tasks", f["pid"] > 0 && f["curr_pid"] > 0 && f["pid"] != f["curr_pid"])
	want("wakeup: the current task is the one that was switched to", !(f["cpu"] in running) ||
	     running[f["cpu"]] == f["curr_pid"] || T - switched[f["cpu"]] < 0.000050 || late(f["cpu"], f["curr_pid"]))
	want("wakeup: a pick and a best one iff the reason needs them", asked == (f["picked_pid"] > 0) && asked == (f["best_pid"] > 0))
	want("wakeup: short only for a shorter slice", !has("short") || n(f["slice"]) < n(f["curr_slice"]))
	if (asked)
		best("wakeup", v, d)
	if (why == "picked")
		want("wakeup: picked is the wakee", f["picked_pid"] == f["pid"])
	else if (asked)
		want("wakeup: another was picked", f["picked_pid"] != f["pid"])
	if (why == "picked" && f["nr_queued"] > 1)
		want("wakeup: the picked wakee is eligible", eligible(v))
	if (why == "picked" && !has("short") && f["nr_queued"] > 1)
		want("wakeup: a protected eligible current is not passed over but for a buddy",
		     !(prot > 0 && eligible(cv)) || buddies)
	if (why == "short")
		want("wakeup: short is eligible and has the shorter slice", has("short") && eligible(v))
	if (why == "ineligible")
		want("wakeup: ineligible is not", !eligible(v))
	if (why == "protected")
		want("wakeup: protected current was picked, is eligible and before vprot, wakee eligible",
		     f["picked_pid"] == f["curr_pid"] && prot > 0 && eligible(cv) && eligible(v) && !has("short"))
	if (why == "deadline")
		want("wakeup: deadline: the picked one is the best, and no later than the eligible wakee",
		     eligible(v) && f["picked_pid"] == f["best_pid"] && n(f["best_deadline"]) - d <= 0)
	if (why == "deadline" && f["picked_pid"] == f["curr_pid"])
		want("wakeup: deadline: current is before the wakee", eligible(cv) && cd - d < 0)
	if (why == "deadline" && f["picked_pid"] != f["curr_pid"] && prot > 0 && !has("short"))
		want("wakeup: deadline: a protected current was not eligible", !eligible(cv))
	if (why == "fork")
		want("wakeup: fork is new and not shorter", has("fork") && !(n(f["slice"]) < n(f["curr_slice"])))
	if (why ~ /^sync/)
		want("wakeup: sync has the flag", has("sync"))
	if (f["preempt"]) {
		# each on its own: busybox joins a large number as 1.30783e+10
		due[cpu] = 1
		due_cpu[cpu] = f["cpu"]; due_pid[cpu] = f["curr_pid"]
		due_v[cpu] = cv; due_d[cpu] = cd; due_p[cpu] = prot > 0 ? cv : n(f["curr_vprot"])
		preempts++
	}
	# A wait for the end of a protection begins; the latest word of it counts. What was left is
	# cut down next: update_protect_slice(), to a shortest slice from here.
	if (why == "protected" && f["best_pid"] == f["pid"] && (f["curr_pid"] in weight)) {
		shortest = (n(f["slice"]) < n(f["curr_slice"]) ? n(f["slice"]) : n(f["curr_slice"])) * 1048576 / weight[f["curr_pid"]]
		if (shortest + (V < cv ? V - cv : 0) < prot)
			prot = shortest + (V < cv ? V - cv : 0)
		held_since[f["curr_pid"]] = T
		held_for[f["curr_pid"]] = prot * weight[f["curr_pid"]] / 1048576 / 1e9
		held_to[f["curr_pid"]] = cv + prot
	}
	last_deadline[f["curr_pid"]] = cd
}

# That the switch of this CPU is still to be told: its event follows by a moment.
function late(c, pid) {
	owed[c] = owed[c] " " pid
	return 1
}

function pick_fair(	v, d, cv, cd, prot) {
	why = f["why"]; v = n(f["vruntime"]); d = n(f["deadline"]); V = n(f["avg_vruntime"])
	cv = n(f["curr_vruntime"]); cd = n(f["curr_deadline"]); prot = f["curr_pid"] > 0 ? n(f["curr_vprot"]) - cv : 0
	want("pick: on the CPU that it is for", f["cpu"] == cpu)
	want("pick: only iff one is queued", (why == "only") == (f["nr_queued"] == 1))
	want("pick: eligible iff vruntime is not after the average", f["eligible"] == eligible(v))
	want("pick: curr-protected iff current is before its vprot", has("curr-protected") == (prot > 0))
	want("pick: protection is what is left", n(f["protection"]) == prot)
	want("pick: all but the only one are eligible", why == "only" || eligible(v))
	if (f["pid"] == f["curr_pid"])
		want("pick: current has one set of values", v == cv && d == cd && f["vprot"] == f["curr_vprot"])
	if (f["curr_pid"] > 0 && (cpu in running))
		want("pick: current is the running task", f["curr_pid"] == running[cpu])
	best("pick", v, d)
	if (why == "protected")
		want("pick: protected is current, with protection left", f["pid"] == f["curr_pid"] && prot > 0)
	if (why == "curr")
		want("pick: curr is current, unprotected, and the best", f["pid"] == f["curr_pid"] && prot <= 0 && f["best_pid"] == f["pid"])
	if (why == "leftmost" || why == "search") {
		want("pick: by deadline: the best, and not current", f["best_pid"] == f["pid"] && f["pid"] != f["curr_pid"])
		want("pick: by deadline: current is ineligible, or neither protected nor earlier",
		     !f["curr_pid"] || !eligible(cv) || (prot <= 0 && cd - d >= 0))
	}
	if (why == "buddy")
		want("pick: a buddy is not alone", f["nr_queued"] > 1)
	if (pending[cpu] != "" && pending[cpu] != running[cpu])
		want("pick: the last one was switched to", 0)
	picks++
	pending[cpu] = has("picked-delayed") ? "" : f["pid"]
	last_deadline[f["pid"]] = d
}

function place_entity(	avg, placed, lag, vslice, v, d) {
	avg = n(f["avg_vruntime"]); lag = n(f["lag"]); placed = n(f["placed_lag"]); v = n(f["vruntime"]); d = n(f["deadline"])
	vslice = n(f["vslice"])
	if (has("initial") && !f["rel_deadline"])
		vslice = whole(n(f["slice"]) * 1048576 / n(f["weight"]), n(f["vslice"]) * 2) ? n(f["vslice"]) : -1
	want("place: vruntime is the average less the lag", v == avg - placed)
	if (f["rel_deadline"]) {
		if (equal) # else its weight may have changed since the deadline was taken along
			want("place: a deadline that was kept has at most its slice ahead", d - v <= n(f["slice"]) + 1)
	} else
		want("place: the deadline is vruntime and vslice", d == v + vslice)
	want("place: the lag grows and keeps its sign, or is not used", placed == 0 || (lag * placed > 0 && (lag < 0 ? placed <= lag : placed >= lag)))
	want("place: no lag in an empty queue", f["nr_queued"] > 0 || placed == 0)
	want("place: the lag is used where others are queued", f["nr_queued"] == 0 || lag == 0 || placed != 0)
	if (!has("initial"))
		want("place: vslice is the slice by weight", whole(n(f["slice"]) * 1048576 / n(f["weight"]), n(f["vslice"])))
	if (equal) {
		want("place: weight of nice 0", f["weight"] == 1048576)
		if (f["nr_queued"] > 0 && lag != 0)
			want("place: the lag is inflated by (W + w) / W", placed == lag + trunc(lag / f["nr_queued"]))
	}
	last_deadline[f["pid"]] = d
	weight[f["pid"]] = f["weight"]
}

# Equal but for the rounding of the kernel's inverse weights: a few of a million.
function whole(x, y) { return x - y <= 1 + x / 200000 && y - x <= 1 + x / 200000 }

function select_cpu(	target, res, limit) {
	why = f["why"]; target = f["target_cpu"]; res = f["cpu"]; limit = f["scan_limit"]
	want("select: path and reason agree", f["path"] == "fast" ? why ~ /^(idle-|per-cpu-kthread|scan-limit|no-idle|affinity)/ : why == f["path"])
	want("select: an affine target is the waker's CPU", !f["affine"] || (target == cpu && f["path"] == "fast" && cpu != f["prev_cpu"]))
	want("select: no other target than the waker's and the previous CPU", target == f["prev_cpu"] || f["affine"])
	want("select: a limited scan keeps to its limit", smt || limit < 0 || f["scanned"] + 0 <= limit + 0)
	if (why == "idle-target")
		want("select: idle-target is the target", res == target)
	if (why == "idle-prev")
		want("select: idle-prev is the previous CPU", res == f["prev_cpu"])
	if (why == "idle-recent")
		want("select: idle-recent is another one", res != f["prev_cpu"] && res != target)
	if (why ~ /^(scan-limit|no-idle|affinity)$/)
		want("select: without an idle CPU it is the target", res == target)
	if (why == "scan-limit")
		want("select: the scan was as long as its limit", limit >= 0 && (smt || f["scanned"] == limit))
	if (why == "idle-scan")
		want("select: the scan looked at a CPU", f["scanned"] > 0)
	if (why ~ /^idle-/ && (res in running) && !is_idle(res) && T - switched[res] >= 0.000050) {
		owed_idle[res] = T
		owed_line[res] = $0
	} else if (why ~ /^idle-/)
		want("select: an idle CPU is one", 1)
	if (f["wake_flags"] ~ /ttwu|fork/)
		chosen[f["pid"]] = res
	asked_for[f["pid"]] = 1
}

function resched(	v, d, p) {
	v = n(f["vruntime"]); d = n(f["deadline"]); p = n(f["vprot"])
	site = f["site"]
	want("resched: of the running task", !(f["cpu"] in running) || running[f["cpu"]] == f["pid"] ||
	     T - switched[f["cpu"]] < 0.000050 || late(f["cpu"], f["pid"]))
	if (site == "wakeup") {
		want("resched: wakeup follows a sched_wakeup_preempt that preempts, with its values", due[cpu] &&
		     due_cpu[cpu] == f["cpu"] && due_pid[cpu] == f["pid"] && due_v[cpu] == v && due_d[cpu] == d && due_p[cpu] == p)
		due[cpu] = 0
		resched_wakeup++
	}
	if (site == "deadline") {
		want("resched: deadline: the new one is ahead", d - v > 0)
		if (equal && (f["pid"] in last_deadline))
			want("resched: deadline: the old one was passed", v - last_deadline[f["pid"]] >= 0 || d == last_deadline[f["pid"]])
	}
	if (site == "protection")
		want("resched: protection is over, the slice is not", v - p >= 0 && d - v > 0)
	if (tick && (f["pid"] in held_since)) {
		if (site == "protection" || site == "deadline" || site == "hrtick")
			want("protection: is over within a tick of what was left", T - held_since[f["pid"]] <= held_for[f["pid"]] + tick)
		if (site ~ /^(protection|deadline|hrtick)$/ && whole(p, held_to[f["pid"]])) {
			want("protection: and not before", T - held_since[f["pid"]] >= held_for[f["pid"]] - 0.0001)
			printf "held %d: said %.6f, was %.6f\n", f["pid"], held_for[f["pid"]], T - held_since[f["pid"]]
		}
		delete held_since[f["pid"]]
	}
	want("resched: a tick is an interrupt", !f["tick"] || context ~ /[hH]/)
	want("resched: lazy where the site and the model are", f["lazy"] == (lazy && site ~ /^(wakeup|deadline|protection)$/))
	last_deadline[f["pid"]] = d
}

# "comm:pid [prio]" as trace-cmd's plugins print a task: sets pid_of and prio_of.
function task_at(text) {
	pid_of = -1
	while (match(text, /:[0-9]+ \[-?[0-9]+\]/)) {
		pid_of = substr(text, RSTART + 1) + 0
		text = substr(text, RSTART + 1)
		prio_of = substr(text, index(text, "[") + 1) + 0
	}
}

function sched_switch(	prev, next_pid, prio, i) {
	get()
	if ("next_pid" in f) {
		prev = f["prev_pid"]; next_pid = f["next_pid"]; prio = f["next_prio"]
	} else {
		i = index($0, " ==> ")
		task_at(substr($0, 1, i))
		prev = pid_of
		task_at(substr($0, i))
		next_pid = pid_of; prio = prio_of
	}
	if (cpu in running) {
		want("switch: from the running task", running[cpu] == prev)
		if (next_pid > 0 && prio >= 100)
			want("switch: to the task that was picked", pending[cpu] == next_pid)
		else if (pending[cpu] != "" && pending[cpu] != prev)
			want("switch: away from a pick only for a higher class", next_pid > 0 && prio < 100)
	}
	if (owed[cpu] != "") {
		want("a task that was said to run is switched to", index(owed[cpu] " ", " " next_pid " "))
		owed[cpu] = ""
	}
	# However long that takes: with -icount a CPU may stand still right before it tells of the switch.
	if (cpu in owed_idle) {
		want("select: an idle CPU is one", next_pid == 0)
		delete owed_idle[cpu]
	}
	if (tick && (prev in held_since)) {
		want("protection: who leaves the CPU was not protected for longer", T - held_since[prev] <= held_for[prev] + tick)
		delete held_since[prev]
	}
	pending[cpu] = ""
	running[cpu] = next_pid
	switched[cpu] = T
	switches++
}

function wakeup(	pid, c) {
	get()
	if ("target_cpu" in f) {
		pid = f["pid"]; c = f["target_cpu"]
	} else {
		task_at($0)
		pid = pid_of
		c = $0
		sub(/.*CPU:/, "", c)
	}
	if (pid in chosen) {
		want("select: the wakeup is on the CPU that was chosen", chosen[pid] == c + 0)
		delete chosen[pid]
	}
}

function migrate() {
	get()
	if (f["pid"] in chosen)
		want("select: the migration is to the CPU that was chosen", chosen[f["pid"]] == f["dest_cpu"])
}

function throttle(what,	key) {
	key = f["cpu"] " " f["cgroup"]
	if (what == "throttle") {
		want("throttle: nothing is left", n(f["runtime_left"]) <= 0)
		want("throttle: has tasks", f["nr_queued"] > 0)
		want("throttle: a task of it runs", f["pid"] > 0)
	}
	want("throttle: has limits, and a depth", n(f["quota"]) > 0 && f["period"] > 0 && f["level"] > 0)
	want("throttle: comes in turn with unthrottle", !(key in state) || state[key] != what)
	state[key] = what
	groups[what " " f["cgroup"] " " f["level"] " " f["quota"] " " f["period"]]++
}

BEGIN { if (lazy == "") lazy = 1 }

# comm-pid, CPU and context, time, event
{
	first = 0
	for (i = 2; i <= 6 && i <= NF; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/) { first = i + 2; break }
	if (!first)
		next
	event = $(first - 1)
	T = $(first - 2) + 0
	context = $(first - 3)
	match(context, /^[0-9]+/)
	cpu = substr(context, 1, RLENGTH) + 0
	context = substr(context, RLENGTH + 1)
}
event == "sched_switch:" { sched_switch(); next }
event == "sched_wakeup:" || event == "sched_wakeup_new:" { wakeup(); next }
event == "sched_migrate_task:" { migrate(); next }
event ~ /^sched_(wakeup_preempt|pick_fair|place_entity|select_task_rq_fair|resched_fair|cfs_throttle|cfs_unthrottle):$/ {
	get()
	name = substr(event, 7, length(event) - 7)
	counts[name " " (name == "place_entity" ? f["rel_deadline"] ? "kept" : "new" : name ~ /^cfs/ ? "-" : name == "resched_fair" ? f["site"] : f["why"])]++
	if (name == "wakeup_preempt") wakeup_preempt()
	else if (name == "pick_fair") pick_fair()
	else if (name == "place_entity") place_entity()
	else if (name == "select_task_rq_fair") select_cpu()
	else if (name == "resched_fair") resched()
	else throttle(name == "cfs_throttle" ? "throttle" : "unthrottle")
}

END {
	if (preempts || resched_wakeup)
		want("resched: as many for wakeups as wakeups that preempt", preempts == resched_wakeup)
	for (i in counts)
		print "count", i, counts[i]
	for (i in groups)
		print "group", i, groups[i]
	print "count switch -", switches + 0
	for (i in checked)
		print "rule", checked[i], i
	for (i in bad)
		printf "bad %d of %d: %s\n%s", bad[i], checked[i], i, example[i]
}
