/* SPDX-License-Identifier: LGPL-2.1-only */
/* slice: a row per thread, as text, JSON (schema schedlat.slice/1) and CSV. */
#ifndef SL_OUT_SLICE_H
#define SL_OUT_SLICE_H

#include "live/slice_scan.h"
#include "out/out.h"

struct sl_out_slices {
	const struct sl_slice_row *rows;
	size_t nr;
	struct sl_slice_base base;
	bool setting;		/* the rows say what became of setting a slice */
	uint64_t asked_ns;
};

/* Of the view: fields (not JSON), sort, separator (CSV). 0 or -ENOMEM. */
int sl_out_slice_text(struct sl_out *out, const struct sl_out_slices *slices,
		      const struct sl_out_view *view);
int sl_out_slice_json(struct sl_out *out, const struct sl_out_slices *slices,
		      const struct sl_out_view *view);
int sl_out_slice_csv(struct sl_out *out, const struct sl_out_slices *slices,
		     const struct sl_out_view *view);

#endif
