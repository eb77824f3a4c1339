// SPDX-License-Identifier: LGPL-2.1-only
// The charts, drawn by uPlot. Times are drawn as their logarithm, so that all of uPlot's scales
// are linear. Each chart can be walked with the arrow keys and says in words where it is.
"use strict";

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function duration(ns) {
	const units = [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];
	let i = 0;

	while (i < 3 && ns >= units[i + 1][0])
		i++;
	// four digits, as the text report has it; 999.95 us is 1.000 ms
	for (;;) {
		const value = ns / units[i][0];
		const digits = i === 0 ? 0 : value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
		const text = value.toFixed(digits);

		if (i < 3 && Number(text) >= 1000) {
			i++;
			continue;
		}
		return text + " " + units[i][1];
	}
}

const log10 = ns => Math.log10(Math.max(ns, 1));

function axis(extra) {
	return Object.assign({
		stroke: () => css("--text"),
		grid: { stroke: () => css("--line"), width: 1 },
		ticks: { stroke: () => css("--line"), width: 1 },
		font: "13px system-ui, sans-serif",
	}, extra);
}

// A time axis of decades: 1 us, 10 us; the fewer there are, the more between them.
function decades(u, index, min, max) {
	const between = max - min < 1.2 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : max - min < 2.5 ? [1, 2, 5] : [1];
	const steps = between.map(Math.log10);
	const every = max - min > 6 && u.width < 600 ? 2 : 1;
	const found = [];

	for (let d = Math.floor(min); d <= Math.ceil(max); d += every)
		for (const s of steps)
			if (d + s >= min && d + s <= max)
				found.push(d + s);
	return found;
}

const shortly = value => {
	const ns = Math.round(10 ** value);
	const [n, unit] = duration(ns).split(" ");

	return Number(n) + " " + unit;
};

const timeAxis = extra => axis(Object.assign({
	splits: decades, values: (u, splits) => splits.map(shortly), space: 40,
}, extra));

// A chart in a box: follows its width and the colour scheme, and the arrow keys.
function chart(id, label, options, data, say, choose) {
	const box = document.getElementById(id + "-chart");
	const out = document.getElementById(id + "-readout");
	const keys = "Arrow keys walk through the chart" + (choose ? ", Enter opens the row." : ".");
	let at = -1;
	const size = () => ({ width: Math.max(box.clientWidth, 240), height: 300 });
	const u = new uPlot(Object.assign({
		...size(), legend: { show: false },
		hooks: { setCursor: [u => {
			if (u.cursor.idx != null && u.cursor.left >= 0) {
				at = u.cursor.idx;
				out.textContent = say(at);
			}
		}] },
	}, options, {
		cursor: Object.assign({ y: false, drag: { x: false, y: false } }, options.cursor),
	}), data, box);

	box.tabIndex = 0;
	box.setAttribute("role", "group");
	box.setAttribute("aria-label", `${label}. ${keys}`);
	out.textContent = keys;
	box.addEventListener("keydown", event => {
		const last = data[0].length - 1;
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];

		if (event.key === "Enter" && choose && at >= 0) {
			event.preventDefault();		// the row's button has the focus then, and is not meant
			choose(at);
		}
		if (to === undefined || last < 0)
			return;
		event.preventDefault();
		at = Math.min(Math.max(to, 0), last);
		u.setCursor({ left: u.valToPos(data[0][at], "x"), top: 10 }, false);
		out.textContent = say(at);
	});
	if (choose)
		u.over.addEventListener("click", () => at >= 0 && choose(at));
	new ResizeObserver(() => {
		if (size().width !== u.width)
			u.setSize(size());
	}).observe(box);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => u.redraw(false, true));
	return u;
}

const dashes = [[], [8, 4], [2, 3]];	// of wake, preempt and fork waits

// The x values of all kinds together, ascending; per kind the value at or before each of them.
function aligned(lines) {
	const xs = [...new Set(lines.flatMap(line => line.map(point => point[0])))].sort((a, b) => a - b);

	return [xs, ...lines.map(line => {
		const found = new Map(line);
		let value = null;

		return xs.map(x => value = found.has(x) ? found.get(x) : value);
	})];
}

function distributionChart(kinds) {
	// An edge where a range begins, and where a gap begins.
	const lines = kinds.map(kind => {
		const points = [];

		kind.ranges.forEach(([lo, hi, count], i) => {
			const next = kind.ranges[i + 1];

			points.push([log10(lo), count]);
			if (!next || next[0] !== hi)
				points.push([log10(hi), 0]);
		});
		return points;
	});
	const data = aligned(lines);
	const most = Math.max(...kinds.flatMap(kind => kind.ranges.map(range => range[2])));
	const top = Math.ceil(Math.log10(most + 1));
	const height = count => Math.log10(count + 1);

	chart("distribution", "Distribution of the waits", {
		scales: { x: { time: false }, y: { range: [0, Math.max(top, 1)] } },
		axes: [timeAxis(), axis({
			size: 60,
			splits: () => [0, ...Array.from({ length: top + 1 }, (v, d) => height(10 ** d))]
				.filter(v => v <= top),
			values: (u, splits) => splits.map(v => Math.round(10 ** v - 1).toLocaleString("en")),
		})],
		series: [{}, ...kinds.map((kind, i) => ({
			label: kind.kind, width: 2, dash: dashes[i], stroke: () => css("--c" + i),
			fill: i ? undefined : () => css("--accent-fill"),
			paths: uPlot.paths.stepped({ align: 1 }), points: { show: false },
		}))],
	}, [data[0], ...data.slice(1).map(line => line.map(v => v === null ? null : height(v)))], at => {
		const from = Math.round(10 ** data[0][at]);

		return kinds.map((kind, i) => `${(data[i + 1][at] || 0).toLocaleString("en")} ${kind.kind} waits`)
			.join(", ") + (at + 1 < data[0].length ?
				` from ${duration(from)} to ${duration(Math.round(10 ** data[0][at + 1]))}` :
				` from ${duration(from)} on`);
	});
}

function cdfChart(kinds) {
	// 0.9 is 1, 0.99 is 2: how rare it is to take longer. The last wait has nothing above it.
	const lines = kinds.map(kind => {
		let below = 0;
		const points = [];

		for (const [lo, hi, count] of kind.ranges) {
			if (!points.length)
				points.push([log10(lo), 0]);
			below += count;
			points.push([log10(Math.min(hi, kind.max_ns)), below / kind.count]);
		}
		return points;
	});
	const data = aligned(lines);
	const most = Math.max(...kinds.map(kind => kind.count));
	const top = Math.max(Math.log10(most * 2), 1);
	const height = share => Math.min(-Math.log10(Math.max(1 - share, 1e-12)), top);
	const percent = share => +(share * 100).toFixed(4);
	const marks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

	chart("cdf", "Share of the waits that took at most so long", {
		scales: { x: { time: false }, y: { range: [0, top] } },
		axes: [timeAxis(), axis({
			size: 70, splits: () => marks.map(height).filter((v, i) => -Math.log10(1 - marks[i]) <= top),
			values: (u, splits) => splits.map((v, i) => percent(marks[i]) + " %"),
		})],
		series: [{}, ...kinds.map((kind, i) => ({
			label: kind.kind, width: 2, dash: dashes[i], stroke: () => css("--c" + i),
			points: { show: false },
		}))],
	}, [data[0], ...data.slice(1).map(line => line.map(v => v === null ? null : height(v)))], at =>
		kinds.map((kind, i) => `${percent(data[i + 1][at] || 0)} % of ${kind.kind} waits`).join(", ") +
			` took at most ${duration(Math.round(10 ** data[0][at]))}`);
}

// Marks that differ in shape as well as in colour: points around 0, or strokes.
const shapes = [
	Array.from({ length: 16 }, (v, i) => [Math.cos(i * Math.PI / 8), Math.sin(i * Math.PI / 8)]),
	[[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]],
	[[0, -1.1], [1, .8], [-1, .8]],
	[[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]],
	[[0, 1.1], [1, -.8], [-1, -.8]],
	[[-.4, -1.1], [.4, -1.1], [.4, -.4], [1.1, -.4], [1.1, .4], [.4, .4], [.4, 1.1], [-.4, 1.1], [-.4, .4],
		[-1.1, .4], [-1.1, -.4], [-.4, -.4]],
	Array.from({ length: 10 }, (v, i) => {
		const r = i % 2 ? .5 : 1.3;

		return [r * Math.sin(i * Math.PI / 5), -r * Math.cos(i * Math.PI / 5)];
	}),
	[[-1.2, -.35], [1.2, -.35], [1.2, .35], [-1.2, .35]],
];

function mark(which) {
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const path = document.createElementNS("http://www.w3.org/2000/svg", "polygon");

	svg.setAttribute("viewBox", "-1.4 -1.4 2.8 2.8");
	svg.setAttribute("aria-hidden", "true");
	path.setAttribute("points", shapes[which].map(p => p.join(",")).join(" "));
	path.setAttribute("fill", `var(--c${which})`);
	svg.append(path);
	return svg;
}

// waits: in the order of time; kinds: names and what belongs to each; one mark per kind.
function timelineChart(waits, start, kinds, say, choose) {
	const xs = waits.map(wait => (wait.start_ns + wait.delay_ns - start) / 1e9);
	const data = [xs, ...kinds.map(kind => waits.map(wait => kind.holds(wait) ? log10(wait.delay_ns) : null))];
	const low = Math.min(...waits.map(wait => log10(wait.delay_ns)));
	const high = Math.max(...waits.map(wait => log10(wait.delay_ns)));
	const draw = which => (u, series, i0, i1) => {
		const path = new Path2D(), r = 5 * devicePixelRatio;

		for (let i = i0; i <= i1; i++) {
			if (data[series][i] === null)
				continue;
			const x = u.valToPos(xs[i], "x", true), y = u.valToPos(data[series][i], "y", true);

			shapes[which].forEach(([dx, dy], k) => path[k ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
			path.closePath();
		}
		u.ctx.save();
		u.ctx.fillStyle = css("--c" + which);
		u.ctx.fill(path);
		u.ctx.restore();
		return null;
	};

	return chart("timeline", "The longest waits over time", {
		scales: { x: { time: false, range: (u, min, max) => {
			const room = (max - min || 1) * 0.02;

			return [min - room, max + room];
		} }, y: { range: [low - 0.1, high + 0.1] } },
		axes: [
			axis({ values: (u, splits) => splits.map(s => +s.toPrecision(6) + " s") }),
			timeAxis({ size: 70 }),
		],
		series: [{}, ...kinds.map(kind => ({
			label: kind.name, paths: draw(kind.mark), points: { show: false },
		}))],
		cursor: { points: { show: false } },
	}, data, say, choose);
}
