/* SPDX-License-Identifier: LGPL-2.1-only */
/* The files that make a page of export --format=html, as strings in the library. */
	.section .rodata

.macro asset name, file
	.global	sl_asset_\name
	.hidden	sl_asset_\name
	.type	sl_asset_\name, %object
sl_asset_\name:
	.incbin	"\file"
	.byte	0
	.size	sl_asset_\name, . - sl_asset_\name
.endm

	asset	page_html, "lib/out/html/page.html"
	asset	page_css, "lib/out/html/page.css"
	asset	page_js, "lib/out/html/page.js"
	asset	charts_js, "lib/out/html/charts.js"
	asset	uplot_js, "third_party/uplot/uPlot.iife.min.js"
	asset	uplot_css, "third_party/uplot/uPlot.min.css"
	asset	uplot_license, "third_party/uplot/LICENSE"

	.section .note.GNU-stack, "", %progbits
