#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The sources that the lab's kernels are made of, untouched: prints their directory. With -n
# nothing is fetched.
#
#	KSRC		a tree of one's own; default: the package below, from Debian's archive
#	KCACHE, KMIRROR	see tests/kernels/fetch.sh
# Exit status 3: they cannot be had here, and the reason is the last line on standard error.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
package=linux-source-7.3 suite=trixie-backports

if [ -n "${KSRC:-}" ]; then
	if ! [ -f "$KSRC/kernel/sched/fair.c" ]; then
		echo "lab: KSRC=$KSRC has no kernel/sched/fair.c: it must be the top of a kernel tree" >&2
		exit 1
	fi
	realpath "$KSRC"
	exit
fi
if [ "${1:-}" = -n ]; then
	cache=${KCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/schedlat/kernels}
	path=$(find "$cache/source" -mindepth 2 -maxdepth 2 -path "*/$suite-*/$package" -type d 2>/dev/null |
		LC_ALL=C sort -V | tail -n 1) || path=
	if [ -z "$path" ]; then
		echo "lab: the kernel's source, package $package of Debian's $suite, is not in $cache" >&2
		exit 3
	fi
elif ! path=$("$here/../kernels/fetch.sh" source "$suite" "$package"); then
	echo "lab: the kernel's source, package $package of Debian's $suite, cannot be had; KSRC=/path/to/linux gives another" >&2
	exit 3
fi
echo "$path"
