/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names that a report should not give away: of tasks, cgroups, the host, command lines.
 *
 * One redaction serves a mail and the trace that goes with it: the same name becomes the
 * same substitute in both, in the order in which names are met. Names of the kernel's own threads
 * on each CPU stay; they say nothing of anybody.
 */
#ifndef SL_REPORT_REDACT_H
#define SL_REPORT_REDACT_H

#include "schedlat/report.h"

struct sl_redact;

struct sl_redact *sl_redact_new(void);		/* NULL: out of memory */
void sl_redact_free(struct sl_redact *redact);	/* NULL is fine */

/* "cyclictest" -> "task-1"; the name itself where it stays. Lives as long as the redaction. */
const char *sl_redact_comm(struct sl_redact *redact, const char *comm);
/* "/user.slice/app" -> "/group-1/group-2": every part by its name. */
const char *sl_redact_cgroup(struct sl_redact *redact, const char *path);
/* The value of a metadata key. */
const char *sl_redact_meta_value(struct sl_redact *redact, const char *key, const char *value);
/* The key: some contain the path of a cgroup. */
const char *sl_redact_meta_key(struct sl_redact *redact, const char *key);
/* "cpus=0-1 cgroup=/a": detail of schedlat:task. */
const char *sl_redact_detail(struct sl_redact *redact, const char *detail);
/* "Linux host 6.18.0 x86_64": the second word. */
const char *sl_redact_uname(struct sl_redact *redact, const char *uname);

/* All that of a report, in place; free the report first. One report per redaction. */
void sl_redact_report(struct sl_redact *redact, struct sl_report *report);

/* Out of memory somewhere: what was returned then is "?", never the name. */
bool sl_redact_failed(const struct sl_redact *redact);

#endif
