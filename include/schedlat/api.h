/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * SL_API marks what libschedlat.so exports; everything else is hidden. A
 * function marked here is also listed in lib/libschedlat.map.
 */
#ifndef SCHEDLAT_API_H
#define SCHEDLAT_API_H

#define SL_API __attribute__((visibility("default")))

#endif
