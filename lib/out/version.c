// SPDX-License-Identifier: LGPL-2.1-only
#include "out/out.h"

#include <jansson.h>
#include <zlib.h>
#include <zstd.h>

#if !defined(SCHEDLAT_VERSION) || !defined(TRACEEVENT_VERSION) || !defined(TRACEFS_VERSION)
#error "the build passes these (mk/config.mk)"
#endif

const char *sl_out_version(void)
{
	return SCHEDLAT_VERSION;
}

/* As loaded where a library can be asked; the two tracing libraries as built with. */
const char *sl_out_library(unsigned int i, const char **ret_version)
{
	switch (i) {
	case 0:
		*ret_version = jansson_version_str();
		return "jansson";
	case 1:
		*ret_version = zlibVersion();
		return "zlib";
	case 2:
		*ret_version = ZSTD_versionString();
		return "zstd";
	case 3:
		*ret_version = TRACEEVENT_VERSION;
		return "libtraceevent";
	case 4:
		*ret_version = TRACEFS_VERSION;
		return "libtracefs";
	}
	return NULL;
}
