// SPDX-License-Identifier: LGPL-2.1-only
#include "report/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REDACTED "redacted"

struct name {
	char *from, *to;
};

/* Substitutes of one sort, in the order of their numbers. */
struct names {
	const char *prefix;		/* "task-" */
	struct name *v;
	size_t nr, cap;
	uint32_t *hash;			/* index + 1 */
	uint32_t hash_mask;
};

struct sl_redact {
	struct names comms, groups;
	struct name *texts;		/* made of several names; kept for their lifetime only */
	size_t nr_texts, cap_texts;
	struct sl_report_meta *meta;	/* of the report; its own array stays as it is */
	bool failed;
};

struct sl_redact *sl_redact_new(void)
{
	struct sl_redact *redact = calloc(1, sizeof(*redact));

	if (redact) {
		redact->comms.prefix = "task-";
		redact->groups.prefix = "group-";
	}
	return redact;
}

static void free_names(struct names *names)
{
	size_t i;

	for (i = 0; i < names->nr; i++) {
		free(names->v[i].from);
		free(names->v[i].to);
	}
	free(names->v);
	free(names->hash);
}

void sl_redact_free(struct sl_redact *redact)
{
	size_t i;

	if (!redact)
		return;
	free_names(&redact->comms);
	free_names(&redact->groups);
	for (i = 0; i < redact->nr_texts; i++)
		free(redact->texts[i].to);
	free(redact->texts);
	free(redact->meta);
	free(redact);
}

bool sl_redact_failed(const struct sl_redact *redact)
{
	return redact->failed;
}

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 16777619u;
	return h ^ h >> 15;
}

static bool grow(struct names *names)
{
	uint32_t mask = names->cap ? names->hash_mask * 2 + 1 : 127, *hash;
	size_t cap = names->cap ? names->cap * 2 : 64, i;
	struct name *v = realloc(names->v, cap * sizeof(*v));

	if (v)
		names->v = v;
	hash = calloc(mask + 1ull, sizeof(*hash));
	if (!v || !hash) {
		free(hash);
		return false;
	}
	for (i = 0; i < names->nr; i++) {
		uint32_t at = hash_of(v[i].from) & mask;

		while (hash[at])
			at = (at + 1) & mask;
		hash[at] = (uint32_t)i + 1;
	}
	free(names->hash);
	names->hash = hash;
	names->hash_mask = mask;
	names->cap = cap;
	return true;
}

static const char *substitute(struct sl_redact *redact, struct names *names, const char *from)
{
	struct name name = { NULL, NULL };
	uint32_t at;

	if (names->nr == names->cap && !grow(names))
		goto failed;
	for (at = hash_of(from) & names->hash_mask; names->hash[at]; at = (at + 1) & names->hash_mask)
		if (!strcmp(names->v[names->hash[at] - 1].from, from))
			return names->v[names->hash[at] - 1].to;
	name.from = strdup(from);
	if (asprintf(&name.to, "%s%zu", names->prefix, names->nr + 1) < 0)
		name.to = NULL;
	if (!name.from || !name.to)
		goto failed;
	names->v[names->nr++] = name;
	names->hash[at] = (uint32_t)names->nr;
	return name.to;
failed:
	free(name.from);
	free(name.to);
	redact->failed = true;
	return "?";
}

/* Keep a text for the caller; takes it over. */
static const char *keep(struct sl_redact *redact, char *text)
{
	if (text && redact->nr_texts == redact->cap_texts) {
		size_t cap = redact->cap_texts ? redact->cap_texts * 2 : 64;
		struct name *grown = realloc(redact->texts, cap * sizeof(*grown));

		if (!grown) {
			free(text);
			text = NULL;
		} else {
			redact->texts = grown;
			redact->cap_texts = cap;
		}
	}
	if (!text) {
		redact->failed = true;
		return "?";
	}
	redact->texts[redact->nr_texts++].to = text;
	return text;
}

const char *sl_redact_comm(struct sl_redact *redact, const char *comm)
{
	static const char *const stay[] = {
		"swapper/", "migration/", "ksoftirqd/", "cpuhp/", "idle_inject/", "rcu_", "rcuo", "rcub/",
	};
	unsigned int i;

	for (i = 0; i < sizeof(stay) / sizeof(*stay); i++)
		if (!strncmp(comm, stay[i], strlen(stay[i])))
			return comm;
	return *comm ? substitute(redact, &redact->comms, comm) : comm;
}

const char *sl_redact_cgroup(struct sl_redact *redact, const char *path)
{
	char *text = NULL, *copy = strdup(path), *at = copy, *part;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	while (out && copy && (part = strsep(&at, "/"))) {
		fputs(*part ? substitute(redact, &redact->groups, part) : "", out);
		if (at)
			putc('/', out);
	}
	if (!out || fclose(out) || !copy) {
		free(text);
		text = NULL;
	}
	free(copy);
	return keep(redact, text);
}

const char *sl_redact_uname(struct sl_redact *redact, const char *uname)
{
	const char *host = strchr(uname, ' '), *rest = host ? strchr(host + 1, ' ') : NULL;
	char *text;

	if (!rest)
		return uname;
	if (asprintf(&text, "%.*s host%s", (int)(host - uname), uname, rest) < 0)
		text = NULL;
	return keep(redact, text);
}

/* "cgroup.PATH.what": where the path ends, since it may contain dots. NULL: no such key. */
static const char *end_of_path(const char *key)
{
	static const char *const whats[] = {
		".ino", ".quota_us", ".period_us", ".weight", ".shares", ".uclamp_min", ".uclamp_max", ".nr_throttled.start", ".nr_throttled.end",
		".throttled_us.start", ".throttled_us.end",
	};
	size_t len = strlen(key), i;

	for (i = 0; i < sizeof(whats) / sizeof(*whats); i++) {
		size_t n = strlen(whats[i]);

		if (!strncmp(key, "cgroup./", 8) && len > n + 7 && !strcmp(key + len - n, whats[i]))
			return key + len - n;
	}
	return NULL;
}

const char *sl_redact_meta_key(struct sl_redact *redact, const char *key)
{
	const char *end = end_of_path(key), *safe;
	char *path, *text;

	if (!end)
		return !strncmp(key, "cgroup.", 7) ? "cgroup." REDACTED : key;
	path = strndup(key + 7, (size_t)(end - key - 7));
	safe = path ? sl_redact_cgroup(redact, path) : "?";
	if (asprintf(&text, "cgroup.%s%s", safe, end) < 0)
		text = NULL;
	free(path);
	return keep(redact, text);
}

/* "... comm=NAME" at its end. */
static const char *redact_hist(struct sl_redact *redact, const char *value)
{
	const char *comm = strstr(value, " comm=");
	char *text;

	if (!comm)
		return value;
	if (asprintf(&text, "%.*s%s", (int)(comm + 6 - value), value, sl_redact_comm(redact, comm + 6)) < 0)
		text = NULL;
	return keep(redact, text);
}

const char *sl_redact_meta_value(struct sl_redact *redact, const char *key, const char *value)
{
	static const char *const whole[] = { "command_line", "cmdline_kernel", "dmi_product" };
	unsigned int i;

	/* a long value goes on in key.1, key.2 */
	for (i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		size_t n = strlen(whole[i]);

		if (!strncmp(key, whole[i], n) && (!key[n] || key[n] == '.'))
			return REDACTED;
	}
	if (!strcmp(key, "uname"))
		return sl_redact_uname(redact, value);
	if (!strncmp(key, "hist.", 5) && isdigit((unsigned char)key[5]))
		return redact_hist(redact, value);
	/* --only comm:NAME and cgroup:PATH */
	if (!strcmp(key, "only"))
		return REDACTED;
	return value;
}

const char *sl_redact_detail(struct sl_redact *redact, const char *detail)
{
	const char *group = strstr(detail, "cgroup="), *safe;
	char *path, *text;

	if (!group)
		return detail;
	path = strdup(group + 7);
	safe = path ? sl_redact_cgroup(redact, path) : "?";
	if (asprintf(&text, "%.*s%s", (int)(group + 7 - detail), detail, safe) < 0)
		text = NULL;
	free(path);
	return keep(redact, text);
}

static void in_place(struct sl_redact *redact, char comm[16])
{
	char name[17] = "";

	memcpy(name, comm, 16);
	snprintf(comm, 16, "%s", sl_redact_comm(redact, name));
}

static void redact_wait(struct sl_redact *redact, struct sl_wait *wait)
{
	unsigned int i;

	in_place(redact, wait->comm);
	in_place(redact, wait->waker_comm);
	if (wait->cgroup)
		wait->cgroup = sl_redact_cgroup(redact, wait->cgroup);
	if (wait->throttled_group)
		wait->throttled_group = sl_redact_cgroup(redact, wait->throttled_group);
	for (i = 0; i < wait->nr_segments; i++) {
		in_place(redact, wait->segments[i].occupant_comm);
		in_place(redact, wait->segments[i].decision.rival_comm);
	}
}

void sl_redact_report(struct sl_redact *redact, struct sl_report *report)
{
	struct sl_report_meta *meta = calloc(report->nr_meta + 1, sizeof(*meta));
	struct sl_source_info *info = (struct sl_source_info *)report->info;
	struct sl_filter *filter = &report->params.filter;
	unsigned int i;

	for (i = 0; meta && i < report->nr_meta; i++) {
		const char *key = report->meta[i].key;

		meta[i].value = sl_redact_meta_value(redact, key, report->meta[i].value);
		meta[i].key = sl_redact_meta_key(redact, key);
	}
	if (!meta) {
		redact->failed = true;
		report->nr_meta = 0;
	}
	free(redact->meta);
	report->meta = redact->meta = meta;
	if (info->kernel)
		info->kernel = sl_redact_uname(redact, info->kernel);
	if (filter->comm_glob)
		filter->comm_glob = strpbrk(filter->comm_glob, "*?[") ? REDACTED :
				    sl_redact_comm(redact, filter->comm_glob);
	if (filter->cgroup)
		filter->cgroup = sl_redact_cgroup(redact, filter->cgroup);
	for (i = 0; i < report->nr_groups; i++) {
		in_place(redact, report->groups[i].comm);
		if (report->groups[i].cgroup)
			report->groups[i].cgroup = sl_redact_cgroup(redact, report->groups[i].cgroup);
	}
	for (i = 0; i < report->why.nr_occupants; i++)
		in_place(redact, report->why.occupants[i].comm);
	for (i = 0; i < report->why.nr_waits; i++)
		redact_wait(redact, &report->why.waits[i]);
}
