// SPDX-License-Identifier: LGPL-2.1-only
// Fills the page from the report (schedlat-report(1), JSON). Names in it come from the recording
// and are only ever set as text.
"use strict";

const byId = id => document.getElementById(id);
const report = JSON.parse(byId("report").textContent);
const kinds = JSON.parse(byId("distribution").textContent);
const why = report.why;
const number = n => n.toLocaleString("en");
const percent = share => (share * 100).toFixed(1) + " %";
const task = (comm, tid) => tid === null ? "-" : `${comm === null ? "?" : comm} ${tid}`;

function element(name, text, attributes) {
	const made = document.createElement(name);

	if (text !== undefined)
		made.append(text);
	for (const [key, value] of Object.entries(attributes || {}))
		made.setAttribute(key, value);
	return made;
}

// A column: {head, get(row) -> text or node, num, wide, sort(row)}; a wide one is not for narrow windows.
const style = column => (column.num ? "num" : "") + (column.wide ? " wide" : "");

function table(id, columns, rows) {
	const head = element("tr"), body = element("tbody");

	for (const c of columns)
		head.append(element("th", c.head, { scope: "col", class: style(c) }));
	for (const row of rows) {
		const line = element("tr");

		columns.forEach((c, i) => line.append(element(i ? "td" : "th", c.get(row),
			i ? { class: style(c) } : { scope: "row", class: style(c) })));
		body.append(line);
	}
	const thead = element("thead");

	thead.append(head);
	byId(id).replaceChildren(thead, body);
}

// ---- what it is ----

function showHead() {
	const { input, loss, definition, counters, tool } = report;
	const lost = number(loss.total) + (loss.unknown_gaps ? " or more" : "");
	const length = duration(input.t_end_ns - input.t_start_ns);
	const facts = [
		loss.total || loss.gaps ?
			`${lost} events were lost in ${number(loss.gaps)} gaps; waits that one touches are no samples` :
			`no events were lost on ${input.cpus} CPUs`,
		`${number(counters.wakeups)} wakeups, of which ${number(counters.samples)} are samples`,
		`${number(input.events)} events in ${length}, clock ${input.clock || "unknown"}, ` +
			`recorded by ${input.backend ? `schedlat (${input.backend})` : "another tool"}`,
		input.kernel || "the kernel is not in the file",
		`schedlat ${tool.version}`,
	];

	if (report.recorded_above_ns)
		facts.unshift(`the recording holds only waits of at least ${duration(report.recorded_above_ns)}; ` +
			"percentiles are of all");
	if (report.flight)
		facts.unshift("a flight recording: its percentiles are not those of the whole run");
	document.title = `schedlat: ${input.file}`;
	byId("title").textContent = input.file;
	byId("definition").textContent = `Waits: ${definition.waits.join(", ")}; a wake wait lasts from ` +
		`sched_${definition.from} (${definition.from === "waking" ? "asked to wake" : "queued"}) until the task runs.`;
	byId("facts").replaceChildren(...facts.map(fact => element("li", fact)));
}

function showAll() {
	const ns = (head, key) => ({ head, get: row => duration(row[key]), num: true });

	table("figures", [
		{ head: "kind", get: row => row.kind }, { head: "waits", get: row => number(row.count), num: true },
		ns("P50", "p50_ns"), ns("P90", "p90_ns"), ns("P99", "p99_ns"), ns("P99.9", "p999_ns"), ns("max", "max_ns"),
	], kinds);
	table("distribution-table", [
		{ head: "kind", get: row => row[0] },
		{ head: "from", get: row => duration(row[1]), num: true },
		{ head: "below", get: row => duration(row[2]), num: true },
		{ head: "waits", get: row => number(row[3]), num: true },
	], kinds.flatMap(kind => kind.ranges.map(range => [kind.kind, ...range])));
	if (!kinds.length)
		return;
	distributionChart(kinds);
	cdfChart(kinds);
}

// ---- causes ----

const chosen = !why.quantile ? `of at least ${duration(why.threshold_ns)}` :
	why.fell_back ? `of at least ${duration(why.threshold_ns)}, too few samples for ${why.label}` :
		`above ${why.label === "max" ? "all others" : why.label.toUpperCase() + " = " + duration(why.threshold_ns)}`;
const listed = why.waits.length < why.count ?
	`The ${number(why.waits.length)} longest of these ${number(why.count)} waits are on this page; ` +
		"causes and percentiles count all." : `All ${number(why.count)} of these waits are on this page.`;

function showCauses() {
	const share = row => {
		const cell = element("div", undefined, { class: "share" });
		const bar = element("i");

		bar.style.width = Math.min(row.share, 1) * 6 + "rem";
		cell.append(bar, percent(row.share));
		return cell;
	};
	const sure = key => ({ head: key, num: true, wide: true, get: row =>
		row.confidence[key] ? percent(row.confidence[key] / (row.ns || 1)) : "-" });

	byId("causes-note").textContent = `Of the ${number(why.count)} waits ${chosen}, ${duration(why.total_ns)} in all. ` +
		"Causes of the family place lie across the time of the others.";
	table("causes", [
		{ head: "cause", get: row => row.id }, { head: "family", get: row => row.family, wide: true },
		{ head: "time", get: row => duration(row.ns), num: true }, { head: "share", get: share },
		{ head: "waits", get: row => number(row.count), num: true },
		{ head: "primary", get: row => number(row.primary), num: true, wide: true },
		...["exact", "derived", "unknown"].map(sure),
	], why.causes);
	byId("unexplained").textContent = `Unexplained: ${duration(why.unexplained_ns)}, ` +
		`${percent(why.total_ns ? why.unexplained_ns / why.total_ns : 0)}.`;
	byId("missing").hidden = !why.not_assessable.length;
	byId("missing-list").replaceChildren(...why.not_assessable.map(c => element("li", `${c.id}: needs ${c.needs}`)));
}

// ---- the table of waits ----

const end = wait => wait.start_ns + wait.delay_ns;
const since = ns => ((ns - report.input.t_start_ns) / 1e9).toFixed(6);
const primary = wait => wait.primary.id || "none";
const cpus = wait => `${wait.wake_cpu === null ? "?" : wait.wake_cpu} → ${wait.run_cpu === null ? "?" : wait.run_cpu}`;
const markOf = new Map();	// of primary causes; filled by the timeline

function withMark(wait) {
	const cell = document.createDocumentFragment();

	cell.append(mark(markOf.get(primary(wait))), " ", primary(wait));
	return cell;
}

const waitColumns = [
	{ head: "task", get: wait => task(wait.comm, wait.tid), sort: wait => task(wait.comm, wait.tid) },
	{ head: "waited", get: wait => (wait.run_ns === null ? "≥ " : "") + duration(wait.delay_ns),
		sort: wait => wait.delay_ns, num: true },
	{ head: "primary cause", get: withMark, sort: primary },
	{ head: "of it", get: wait => wait.primary.ns === null ? "-" : duration(wait.primary.ns),
		sort: wait => wait.primary.ns, num: true },
	{ head: "confidence", get: wait => wait.primary.confidence || "-",
		sort: wait => wait.primary.confidence || "-", wide: true },
	{ head: "kind", get: wait => wait.kind, sort: wait => wait.kind, wide: true },
	{ head: "woken by", get: wait => task(wait.waker.comm, wait.waker.tid),
		sort: wait => task(wait.waker.comm, wait.waker.tid), wide: true },
	{ head: "CPU", get: cpus, sort: cpus },
	{ head: "ended at (s)", get: wait => since(end(wait)), sort: end, num: true },
	{ head: "notes", get: wait => [...wait.place_causes, ...wait.taints].join(", ") || "-",
		sort: wait => [...wait.place_causes, ...wait.taints].join(), wide: true },
];

function decided(seg) {
	const d = seg.decision;
	const virtual = ns => (ns < 0 ? "-" : "") + duration(Math.abs(ns));

	if (!d)
		return "";
	return [`at the ${d.at}`, d.lag_ns !== null && `lag ${virtual(d.lag_ns)}`,
		d.deadline_behind_ns !== null &&
			`deadline ${virtual(d.deadline_behind_ns)} behind ${task(d.rival.comm, d.rival.tid)}`,
		d.protected_ns !== null && `running one protected for ${virtual(d.protected_ns)}`].filter(Boolean).join(", ");
}

function parts(wait) {
	const line = element("tr", undefined, { class: "parts" });
	const cell = element("td", undefined, { colspan: waitColumns.length });
	const bar = element("div", undefined, { class: "bar", "aria-hidden": "true" });
	const inner = element("table"), head = element("tr"), body = element("tbody"), thead = element("thead");
	const segments = wait.segments || [];
	const name = seg => seg.reason || seg.kind;
	// After 104 days of uptime an instant in ns is no longer exact as a number here; lengths are.
	const folded = segments.some((seg, i) => i &&
		Math.abs(seg.start_ns - segments[i - 1].start_ns - segments[i - 1].ns) > 1024);
	let at = 0;

	for (const seg of segments) {
		const piece = element("span", name(seg));

		piece.style.flexGrow = seg.ns;
		bar.append(piece);
	}
	for (const text of ["at", "length", "share", "held by", "CPU", "by whom", "confidence", "what was compared"])
		head.append(element("th", text, { scope: "col" }));
	for (const seg of segments) {
		const row = element("tr");

		for (const text of [duration(folded ? seg.start_ns - wait.start_ns : at), duration(seg.ns),
			percent(seg.ns / wait.delay_ns), name(seg), seg.cpu === null ? "-" : seg.cpu,
			task(seg.occupant.comm, seg.occupant.tid), seg.confidence, decided(seg)])
			row.append(element("td", String(text)));
		at += seg.ns;
		body.append(row);
	}
	thead.append(head);
	inner.append(thead, body);
	cell.append(bar, inner);
	if (folded)
		cell.append(element("p", "Stretches of one cause and task are added up: they do not follow each other.",
			{ class: "note" }));
	if (wait.avoidable_ns)
		cell.append(element("p", `CPU ${wait.avoidable_cpu} was free for ${duration(wait.avoidable_ns)} of it.`));
	line.append(cell);
	return line;
}

const rowOf = new Map();	// wait -> its row

function toggle(wait, open) {
	const row = rowOf.get(wait), button = row.querySelector("button");
	const isOpen = button.getAttribute("aria-expanded") === "true";

	if (open === isOpen)
		return;
	button.setAttribute("aria-expanded", String(!isOpen));
	button.firstChild.data = isOpen ? "+" : "−";
	if (isOpen)
		row.nextSibling.remove();
	else
		row.after(parts(wait));
}

function makeRow(wait) {
	const row = element("tr");

	waitColumns.forEach((c, i) => {
		const cell = element(i ? "td" : "th", undefined, { class: style(c) });

		if (!i) {
			const button = element("button", "+", { type: "button", "aria-expanded": "false",
				"aria-label": `Segments of this wait of ${task(wait.comm, wait.tid)}` });

			button.addEventListener("click", () => toggle(wait));
			cell.setAttribute("scope", "row");
			cell.append(button, " ");
		}
		cell.append(c.get(wait));
		row.append(cell);
	});
	rowOf.set(wait, row);
}

function showWaits() {
	const body = element("tbody"), head = element("tr"), thead = element("thead");
	let column = waitColumns[1], down = true, words = "";
	const text = wait => [task(wait.comm, wait.tid), primary(wait), wait.kind,
		task(wait.waker.comm, wait.waker.tid), ...wait.place_causes, ...wait.taints].join(" ").toLowerCase();

	function fill() {
		const shown = why.waits.filter(wait => text(wait).includes(words));
		const order = (a, b) => {
			const x = column.sort(a), y = column.sort(b);

			return (x > y) - (x < y) || b.delay_ns - a.delay_ns;
		};

		shown.sort((a, b) => down ? order(b, a) : order(a, b));
		why.waits.forEach(wait => toggle(wait, false));
		body.replaceChildren(...shown.map(wait => rowOf.get(wait)));
		byId("filter-count").textContent = `${number(shown.length)} of ${number(why.waits.length)}`;
		[...head.children].forEach((th, i) => {
			if (waitColumns[i] === column)
				th.setAttribute("aria-sort", down ? "descending" : "ascending");
			else
				th.removeAttribute("aria-sort");
		});
	}

	for (const c of waitColumns) {
		const th = element("th", undefined, { scope: "col", class: style(c) });
		const button = element("button", c.head, { type: "button" });

		button.addEventListener("click", () => {
			down = c === column ? !down : Boolean(c.num);
			column = c;
			fill();
		});
		th.append(button);
		head.append(th);
	}
	why.waits.forEach(makeRow);
	thead.append(head);
	byId("waits").replaceChildren(thead, body);
	byId("waits-note").textContent = `${listed} A heading sorts, + shows what held the task in each instant.`;
	byId("filter").addEventListener("input", event => {
		words = event.target.value.toLowerCase();
		fill();
	});
	fill();
}

function choose(wait) {
	const row = rowOf.get(wait);

	if (!row.isConnected) {
		byId("filter").value = "";
		byId("filter").dispatchEvent(new Event("input"));
	}
	document.querySelectorAll("tr.chosen").forEach(other => other.classList.remove("chosen"));
	row.classList.add("chosen");
	toggle(wait, true);
	row.querySelector("button").focus();
	row.scrollIntoView({ block: "center" });
}

// ---- the longest waits over time ----

const MARKS = 7;	// causes with a mark of their own, most frequent first; one more for the others

function showTimeline() {
	const waits = [...why.waits].sort((a, b) => end(a) - end(b));
	const counts = new Map();

	waits.forEach(wait => counts.set(primary(wait), (counts.get(primary(wait)) || 0) + 1));
	const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a > b) - (a < b));
	const own = names.length > MARKS + 1 ? names.slice(0, MARKS) : names;

	names.forEach(name => markOf.set(name, own.includes(name) ? own.indexOf(name) : MARKS));
	const series = own.map((name, i) => ({
		name, mark: i, count: counts.get(name), holds: wait => primary(wait) === name,
	}));

	if (own.length < names.length)
		series.push({
			name: "others", mark: MARKS, holds: wait => !own.includes(primary(wait)),
			count: names.slice(MARKS).reduce((sum, name) => sum + counts.get(name), 0),
		});
	byId("timeline-note").textContent = waits.length ? `Each mark is one of the waits ${chosen}: when it ended, how long ` +
		`it was, its primary cause. ${listed}` : "There is none.";
	if (!waits.length)
		return;
	const say = wait => `${task(wait.comm, wait.tid)} waited ${duration(wait.delay_ns)} ` +
		`until ${since(end(wait))} s: ${primary(wait)}` + (wait.primary.ns === null ? "" : " " + duration(wait.primary.ns));
	const u = timelineChart(waits, report.input.t_start_ns, series, at => say(waits[at]), at => choose(waits[at]));

	byId("timeline-legend").replaceChildren(...series.map((s, i) => {
		const button = element("button", undefined, { type: "button", "aria-pressed": "true" });
		const item = element("li");

		button.append(mark(s.mark), ` ${s.name} (${number(s.count)})`);
		button.addEventListener("click", () => {
			const show = button.getAttribute("aria-pressed") !== "true";

			button.setAttribute("aria-pressed", String(show));
			u.setSeries(i + 1, { show });
		});
		item.append(button);
		return item;
	}));
}

// ---- groups ----

const GROUPS = 200;

function showGroups() {
	const all = report.groups, name = row => row.comm || row.cgroup || row.class || "all";
	const ns = (head, key, wide) =>
		({ head, get: row => row[key] === null ? "-" : duration(row[key]), num: true, wide });
	const id = (head, key) => all.some(row => row[key] !== null) ?
		[{ head, get: row => row[key] === null ? "-" : row[key], num: true }] : [];

	byId("groups-note").textContent = (all.length > GROUPS ? `The first ${GROUPS} of ${number(all.length)} rows. ` : "") +
		(report.percentiles.exact ? "Exact, nearest rank." :
			`From a histogram: at most ${percent(report.percentiles.max_relative_error)} too high.`);
	table("groups", [
		{ head: "task", get: name }, ...id("tid", "tid"), ...id("process", "tgid"),
		{ head: "kind", get: row => row.kind, wide: true },
		{ head: "waits", get: row => number(row.count), num: true },
		ns("avg", "avg_ns", true), ns("P50", "p50_ns"), ns("P90", "p90_ns", true), ns("P99", "p99_ns"),
		ns("P99.9", "p999_ns"), ns("max", "max_ns"),
	], all.slice(0, GROUPS));
}

showHead();
showAll();
showCauses();
showTimeline();
showWaits();
showGroups();
