/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the machine says about itself, as keys and values of a recording. A key
 * whose value cannot be read is absent: absent means unknown, never "no".
 */
#ifndef SL_LIVE_META_H
#define SL_LIVE_META_H

#include "live/text.h"

/* Kernel, scheduler tunables, preemption model, tick, sched_ext, hypervisor, drivers. */
void sl_meta_system(struct sl_kv_list *list);
/* Online and possible CPUs; per CPU package, core, siblings, cluster, LLC, capacity. */
void sl_meta_topology(struct sl_kv_list *list);

#endif
