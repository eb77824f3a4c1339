// SPDX-License-Identifier: LGPL-2.1-only
#include "event/told.h"

#include <stddef.h>

#define WORD(ID, word) word,
#define NAMES(function, LIST)                                                           \
	const char *function(int number)                                                \
	{                                                                               \
		static const char *const words[] = { LIST(WORD) };                      \
		size_t nr = sizeof(words) / sizeof(*words);                             \
                                                                                        \
		return number >= 0 && (size_t)number < nr ? words[number] : NULL;       \
	}

NAMES(sl_preempt_why_name, SL_PREEMPT_WHYS)
NAMES(sl_pick_why_name, SL_PICK_WHYS)
NAMES(sl_select_path_name, SL_SELECT_PATHS)
NAMES(sl_select_why_name, SL_SELECT_WHYS)
NAMES(sl_energy_why_name, SL_ENERGY_WHYS)
NAMES(sl_resched_site_name, SL_RESCHED_SITES)
NAMES(sl_min_slice_site_name, SL_MIN_SLICE_SITES)
NAMES(sl_push_trigger_name, SL_PUSH_TRIGGERS)
NAMES(sl_push_result_name, SL_PUSH_RESULTS)
