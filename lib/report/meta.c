// SPDX-License-Identifier: LGPL-2.1-only
#include "report/meta.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define META_MAX 65536		/* keys; more than that is not ours */

const char *sl_meta_get(const struct sl_meta *meta, const char *key)
{
	unsigned int i;

	for (i = 0; i < meta->nr; i++)
		if (!strcmp(meta->v[i].key, key))
			return meta->v[i].value;
	return NULL;
}

bool sl_meta_get_u64(const struct sl_meta *meta, const char *key, uint64_t *ret)
{
	const char *value = sl_meta_get(meta, key);
	char *end;
	unsigned long long n;

	if (!value || value[0] < '0' || value[0] > '9')
		return false;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno || *end)
		return false;
	*ret = n;
	return true;
}

/* Grow a list of ids from "12,34"; words that are no ids are ignored. */
static int parse_ids(const char *text, int32_t **ids, unsigned int *nr)
{
	const char *p = text;

	while (*p) {
		char *end;
		long id = strtol(p, &end, 10);
		int32_t *grown;

		if (end == p)
			break;
		if (id > 0 && id <= INT32_MAX) {
			grown = realloc(*ids, (*nr + 1) * sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			*ids = grown;
			grown[(*nr)++] = (int32_t)id;
		}
		p = *end == ',' ? end + 1 : end;
	}
	return 0;
}

static bool in_list(int32_t id, const int32_t *ids, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool sl_meta_is_target(const struct sl_meta *meta, const struct sl_task *t)
{
	return t->flags & SL_TASK_TARGET || in_list(t->tgid, meta->target_pids, meta->nr_target_pids) ||
	       in_list(t->tid, meta->target_pids, meta->nr_target_pids) ||
	       in_list(t->tid, meta->target_tids, meta->nr_target_tids);
}

/* "cgroup.PATH.nr_throttled.start" and ".end": remember paths whose count rose. */
static int note_throttle(struct sl_meta *meta, const char *key, const char *value)
{
	static const char prefix[] = "cgroup.", end_suffix[] = ".nr_throttled.end";
	size_t len = strlen(key), plen = sizeof(prefix) - 1, slen = sizeof(end_suffix) - 1;
	char start_key[4096];
	uint64_t start = 0;
	void *grown;
	char *path;

	if (len <= plen + slen || strncmp(key, prefix, plen) || strcmp(key + len - slen, end_suffix))
		return 0;
	path = strndup(key + plen, len - plen - slen);
	grown = realloc(meta->throttle, (meta->nr_throttle + 1) * sizeof(*meta->throttle));
	if (grown)
		meta->throttle = grown;
	if (!path || !grown) {
		free(path);
		return -ENOMEM;
	}
	snprintf(start_key, sizeof(start_key), "cgroup.%s.nr_throttled.start", path);
	sl_meta_get_u64(meta, start_key, &start);
	meta->throttle[meta->nr_throttle].path = path;
	meta->throttle[meta->nr_throttle++].throttled = strtoull(value, NULL, 10) > start;
	return 0;
}

/* Is path the group above or the group itself? */
static bool is_ancestor(const char *path, const char *cgroup)
{
	size_t len = strlen(path);

	if (len == 1 && path[0] == '/')
		return true;
	return !strncmp(path, cgroup, len) && (cgroup[len] == '\0' || cgroup[len] == '/');
}

const char *sl_meta_throttled_group(void *arg, const char *cgroup)
{
	const struct sl_meta *meta = arg;
	const char *nearest = NULL;
	unsigned int i;

	for (i = 0; i < meta->nr_throttle; i++)
		if (meta->throttle[i].throttled && is_ancestor(meta->throttle[i].path, cgroup) &&
		    (!nearest || strlen(meta->throttle[i].path) > strlen(nearest)))
			nearest = meta->throttle[i].path;
	return nearest;
}

uint64_t sl_meta_throttle_period_ns(void *arg, const char *cgroup)
{
	const char *group = sl_meta_throttled_group(arg, cgroup);
	char key[4096];
	uint64_t us;

	if (!group)
		return 0;
	snprintf(key, sizeof(key), "cgroup.%s.period_us", group);
	return sl_meta_get_u64(arg, key, &us) && us < UINT64_MAX / 1000 ? us * 1000 : 0;
}

static const char *intern_cgroup(struct sl_meta *meta, const char *path, size_t len);

/* Keys are "cgroup.PATH.ino". */
int sl_meta_group_above(void *arg, uint64_t ino, const char *cgroup, const char **ret_path)
{
	static const char prefix[] = "cgroup.", suffix[] = ".ino";
	struct sl_meta *meta = arg;
	unsigned int i;

	for (i = 0; i < meta->nr; i++) {
		const char *key = meta->v[i].key;
		size_t len = strlen(key), plen = sizeof(prefix) - 1, slen = sizeof(suffix) - 1;
		char path[4096];

		if (len <= plen + slen || len - plen - slen >= sizeof(path) || strncmp(key, prefix, plen) ||
		    strcmp(key + len - slen, suffix) || strtoull(meta->v[i].value, NULL, 10) != ino)
			continue;
		memcpy(path, key + plen, len - plen - slen);
		path[len - plen - slen] = '\0';
		if (!is_ancestor(path, cgroup))
			return 0;
		*ret_path = intern_cgroup(meta, path, strlen(path));
		return 1;
	}
	return -1;
}

static int add_pair(struct sl_meta *meta, const char *key, const char *value)
{
	char *k, *v;

	if (meta->nr == META_MAX)
		return 0;
	if (meta->nr == meta->cap) {
		unsigned int cap = meta->cap ? meta->cap * 2 : 64;
		struct sl_report_meta *grown = realloc(meta->v, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		meta->v = grown;
		meta->cap = cap;
	}
	k = strdup(key);
	v = strdup(value);
	if (!k || !v) {
		free(k);
		free(v);
		return -ENOMEM;
	}
	meta->v[meta->nr].key = k;
	meta->v[meta->nr++].value = v;
	return 0;
}

static const char *intern_cgroup(struct sl_meta *meta, const char *path, size_t len)
{
	char **grown, *copy, *from, *to;
	unsigned int i;

	copy = strndup(path, len);
	for (from = to = copy; from && *from; to++)	/* the recorder writes a blank as \040 */
		if (!strncmp(from, "\\040", 4)) {
			*to = ' ';
			from += 4;
		} else {
			*to = *from++;
		}
	if (to)
		*to = '\0';
	grown = realloc(meta->cgroups, (meta->nr_cgroups + 1) * sizeof(*grown));
	if (grown)
		meta->cgroups = grown;
	if (!copy || !grown) {
		free(copy);
		return NULL;
	}
	for (i = meta->nr_cgroups; i-- > 0;)
		if (!strcmp(meta->cgroups[i], copy)) {
			free(copy);
			return meta->cgroups[i];
		}
	meta->cgroups[meta->nr_cgroups++] = copy;
	return copy;
}

static void apply_mask(struct sl_task *t, const char *list, bool had_mask)
{
	struct sl_cpumask mask = { 0 };

	if (sl_cpumask_parse(&mask, list)) {
		sl_cpumask_release(&mask);
		return;
	}
	if (had_mask && !sl_cpumask_equal(&mask, &t->allowed)) {
		/* It changed while recording, and nothing says when. */
		t->flags &= (uint8_t)~SL_TASK_MASK_VALID;
		sl_cpumask_release(&mask);
		return;
	}
	sl_cpumask_release(&t->allowed);
	t->allowed = mask;
	t->flags |= SL_TASK_MASK_VALID;
}

static void apply_detail(struct sl_meta *meta, struct sl_task *t, const char *detail)
{
	const char *p = detail;
	bool had_mask = t->flags & SL_TASK_MASK_VALID;

	while (*p) {
		const char *end;
		size_t len;

		p += strspn(p, " ");
		/* a cgroup path may hold blanks: it is the rest of the line */
		len = !strncmp(p, "cgroup=", 7) ? strlen(p) : strcspn(p, " ");
		end = p + len;
		if (!strncmp(p, "slice_ns=", 9)) {
			t->slice_ns = strtoull(p + 9, NULL, 10);
			meta->has_slices |= t->slice_ns != 0;
		} else if (!strncmp(p, "own=1", 5)) {
			t->flags |= SL_TASK_OWN;
		} else if (!strncmp(p, "cgroup=", 7)) {
			t->cgroup = intern_cgroup(meta, p + 7, len - 7);
		} else if (!strncmp(p, "cpus=", 5)) {
			char list[1024];

			if (len - 5 < sizeof(list)) {
				memcpy(list, p + 5, len - 5);
				list[len - 5] = '\0';
				apply_mask(t, list, had_mask);
			}
		}
		p = end;
	}
}

static int apply_task(struct sl_meta *meta, struct sl_engine *e, const struct sl_event *ev)
{
	const struct sl_ev_task *m = &ev->task;
	struct sl_task *t;

	if (m->pid <= 0)
		return 0;
	t = sl_tasks_get(&e->tasks, m->pid);
	if (!t)
		return -ENOMEM;
	meta->has_tasks = true;
	if (!t->comm[0])
		sl_task_set_comm(t, m->comm);
	t->tgid = m->tgid > 0 ? m->tgid : -1;
	t->policy = m->policy >= 0 && m->policy <= INT8_MAX ? (int8_t)m->policy : -1;
	if (m->phase)
		t->flags |= SL_TASK_AT_END;
	/* Until an event tells its priority, the policy tells its class. */
	if (t->sched_class == SL_CLASS_UNKNOWN) {
		if (m->policy == 0 || m->policy == 3 || m->policy == 5 || m->policy == 7)
			sl_task_set_prio(t, 120 + (m->nice >= -20 && m->nice <= 19 ? m->nice : 0));
		else if (m->policy == 6)
			sl_task_set_prio(t, -1);
		else if (m->policy == 1 || m->policy == 2)
			t->sched_class = SL_CLASS_RT;	/* which priority is not told */
	}
	if (t->policy == 7 && t->sched_class == SL_CLASS_FAIR)
		t->sched_class = SL_CLASS_EXT;
	if (m->detail)
		apply_detail(meta, t, m->detail);
	if (sl_meta_is_target(meta, t))
		t->flags |= SL_TASK_TARGET;
	sl_task_identity_changed(t);
	return 0;
}

int sl_meta_apply(struct sl_meta *meta, struct sl_engine *e, const struct sl_event *ev)
{
	const char *key, *value;
	int ret;

	if (ev->kind == SL_EV_WINDOW)
		return 0;
	if (ev->kind == SL_EV_TASK)
		return apply_task(meta, e, ev);
	key = ev->meta.key ? ev->meta.key : "";
	value = ev->meta.value ? ev->meta.value : "";
	ret = add_pair(meta, key, value);
	if (!ret)
		ret = note_throttle(meta, key, value);
	if (!ret)
		ret = sl_topology_apply(&meta->topology, key, value);
	if (!ret && !strcmp(key, "cpus_recorded") && !e->some_cpus)
		e->some_cpus = !sl_cpumask_parse(&e->recorded, value);
	if (!strcmp(key, "threshold.ns"))
		e->whole_waits = true;
	if (!ret && !strcmp(key, "target_pids"))
		ret = parse_ids(value, &meta->target_pids, &meta->nr_target_pids);
	if (!ret && !strcmp(key, "target_tids"))
		ret = parse_ids(value, &meta->target_tids, &meta->nr_target_tids);
	return ret;
}

void sl_meta_release(struct sl_meta *meta)
{
	unsigned int i;

	sl_topology_release(&meta->topology);
	for (i = 0; i < meta->nr; i++) {
		free((char *)meta->v[i].key);
		free((char *)meta->v[i].value);
	}
	for (i = 0; i < meta->nr_cgroups; i++)
		free(meta->cgroups[i]);
	for (i = 0; i < meta->nr_throttle; i++)
		free(meta->throttle[i].path);
	free(meta->v);
	free(meta->cgroups);
	free(meta->throttle);
	free(meta->target_pids);
	free(meta->target_tids);
	memset(meta, 0, sizeof(*meta));
}
