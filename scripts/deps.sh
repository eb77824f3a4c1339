#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Install what is missing: scripts/deps.sh [build] [demo] [check] [lab]
#
# Prints nothing when nothing is missing. Packages are only installed on a
# Debian-like system as root; otherwise the exact command is printed. Exit 1
# when something that is needed is still missing.
set -euo pipefail

# set  test  package   ("?" behind the set: useful, not needed)
table='
build  cmd:gcc              gcc
build  cmd:make             make
build  cmd:pkg-config       pkg-config
build  inc:stdlib.h         libc6-dev
build  pc:libtracefs        libtracefs-dev
build  pc:libtraceevent     libtraceevent-dev
build  pc:libzstd           libzstd-dev
build  pc:zlib              zlib1g-dev
build  pc:jansson           libjansson-dev
build  pc:libbpf           libbpf-dev
build  pc:libelf           libelf-dev
build  pc:ncursesw         libncurses-dev
build  cmd:clang           clang
build  cmd:bpftool         bpftool
demo   cmd:cyclictest       rt-tests
demo   cmd:hackbench        rt-tests
check  inc:cmocka.h         libcmocka-dev
check  cmd:patch            patch
check  cmd:prove            perl
check  cmd:python3          python3
check  cmd:tmux             tmux
check  cmd:trace-cmd        trace-cmd
check  cmd:xz               xz-utils
check  cmd:zstd             zstd
check  lib:libasan.so       libgcc-12-dev
check? cmd:man              man-db
check? cmd:protoc           protobuf-compiler
check? cmd:chromium         chromium
check? cmd:mandoc           mandoc
check? cmd:shellcheck       shellcheck
lab    cmd:flex             flex
lab    cmd:bison            bison
lab    cmd:bc               bc
lab    cmd:pahole           dwarves
lab    cmd:lz4              lz4
lab    cmd:perl             perl
lab    inc:gelf.h           libelf-dev
lab    cmd:python3          python3
lab    cmd:trace-cmd        trace-cmd
lab    cmd:lscpu            util-linux
lab?   cmd:rt-app           rt-app
lab?   cmd:stress-ng        stress-ng
'

present()
{
	case $1 in
	cmd:*) PATH="$PATH:/usr/sbin:/sbin" command -v "${1#cmd:}" >/dev/null ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	inc:*) printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h "${1#inc:}" |
		${CC:-gcc} -fsyntax-only -x c - 2>/dev/null ;;
	lib:*) [ "$(${CC:-gcc} -print-file-name="${1#lib:}" 2>/dev/null)" != "${1#lib:}" ] ;;
	esac
}

# The packages of the chosen sets whose test fails; with "needed", without the "?" ones.
missing()
{
	local set test package
	while read -r set test package; do
		[ -n "$set" ] || continue
		[[ " $sets " == *" ${set%\?} "* ]] || continue
		[ "$1" = all ] || [ "$set" = "${set%\?}" ] || continue
		present "$test" || echo "$package"
	done <<< "$table" | sort -u | tr '\n' ' '
}

sets=${*:-build demo check}
want=$(missing all)
[ -n "$want" ] || exit 0
command="apt-get install -y --no-install-recommends ${want% }"

if ! command -v apt-get >/dev/null; then
	echo "deps: missing (names of the Debian packages): $want" >&2
elif [ "$(id -u)" -ne 0 ]; then
	echo "deps: missing: ${want% }. As root: $command" >&2
else
	echo "deps: installing ${want% }"
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# The lists may be old or empty; package by package when one of them does not exist here.
	if ! $command >"$log" 2>&1; then
		apt-get update >"$log" 2>&1 || true
		if ! $command >"$log" 2>&1; then
			for package in $want; do
				apt-get install -y --no-install-recommends "$package" >>"$log" 2>&1 || true
			done
		fi
	fi
	left=$(missing all)
	if [ -n "$left" ]; then
		tail -n 3 "$log" >&2
		echo "deps: could not install ${left% }. When the archive can be reached: $command" >&2
	fi
fi
[ -z "$(missing needed)" ]
