// SPDX-License-Identifier: LGPL-2.1-only
#include "report/filter.h"

#include <fnmatch.h>

static bool listed(int32_t id, const int32_t *ids, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static bool in_cgroup(const char *cgroup, const char *wanted)
{
	size_t len = strlen(wanted);

	while (len && wanted[len - 1] == '/')
		len--;
	return cgroup && !strncmp(cgroup, wanted, len) && (!cgroup[len] || cgroup[len] == '/');
}

static bool passes(const struct sl_filter *f, const struct sl_meta *meta, const struct sl_task *t)
{
	if (f->nr_pids && !listed(t->tgid, f->pids, f->nr_pids) &&
	    !(t->tgid < 0 && listed(t->tid, f->pids, f->nr_pids)))
		return false;
	if (f->nr_tids && !listed(t->tid, f->tids, f->nr_tids))
		return false;
	if (f->comm_glob) {
		char comm[SL_COMM_LEN + 1] = { 0 };

		memcpy(comm, t->comm, SL_COMM_LEN);
		if (fnmatch(f->comm_glob, comm, 0))
			return false;
	}
	if (f->cgroup && !in_cgroup(t->cgroup, f->cgroup))
		return false;
	if (!f->ignore_recorded_targets && (meta->nr_target_pids || meta->nr_target_tids) &&
	    !sl_meta_is_target(meta, t))
		return false;
	return true;
}

bool sl_filter_task(const struct sl_filter *f, const struct sl_meta *meta, struct sl_task *t)
{
	if (!t->verdict)
		t->verdict = passes(f, meta, t) ? 1 : -1;
	return t->verdict > 0;
}
