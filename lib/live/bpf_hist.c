// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf_hist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "live/bpf/consume.h"

void sl_bpf_hists_meta(struct sl_kv_list *list)
{
	sl_kv_addf(list, "hist.first_ns", "%u", 1u << SL_BPF_HIST_FIRST_SHIFT);
	sl_kv_addf(list, "hist.sub", "%u", SL_BPF_HIST_SUB);
}

/* "tgid=1 count=2 ... buckets=1024:1,4096:1 comm=NAME": every bucket by its lower edge. */
void sl_bpf_hist_meta(struct sl_kv_list *list, const struct sl_bpf_hist *hist)
{
	char *text = NULL, key[32];
	const char *comma = "";
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		list->failed = true;
		return;
	}
	fprintf(out, "tgid=%d count=%llu sum_ns=%llu max_ns=%llu buckets=", hist->tgid, hist->count,
		hist->sum_ns, hist->max_ns);
	for (unsigned int i = 0; i < SL_BPF_HIST_BUCKETS; i++) {
		uint64_t from_ns, to_ns;

		if (!hist->buckets[i])
			continue;
		sl_bpf_hist_range(i, &from_ns, &to_ns);
		fprintf(out, "%s%" PRIu64 ":%u", comma, from_ns, hist->buckets[i]);
		comma = ",";
	}
	fprintf(out, " comm=%.16s", hist->comm);
	snprintf(key, sizeof(key), "hist.%d", hist->tid);
	if (fclose(out))
		list->failed = true;
	else
		sl_kv_add(list, key, text);
	free(text);
}
