// SPDX-License-Identifier: LGPL-2.1-only
#include "out/out.h"

#include <jansson.h>
#include <zlib.h>
#include <zstd.h>

#ifndef SCHEDLAT_VERSION
#error "the build passes SCHEDLAT_VERSION"
#endif

const char *sl_out_version(void)
{
	return SCHEDLAT_VERSION;
}

/* Asked of the libraries that are loaded, not of the headers that we were built with. */
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
	}
	return NULL;
}
