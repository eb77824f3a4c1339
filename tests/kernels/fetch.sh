#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Debian packages for the guests, unpacked into a cache; nothing is installed.
#
#	fetch.sh kernel SUITE [VERSION]	a directory with vmlinuz, config, release, version
#	fetch.sh qemu			a qemu-system-x86_64 of version 10 or newer
#	fetch.sh busybox		a static busybox
#	fetch.sh source SUITE PACKAGE	the sources of a kernel (linux-source-7.3), untouched
#	fetch.sh list			what the cache holds
#
# The last line of output is the path that was asked for; what happens is said on
# standard error. The apt here has its own sources, lists and archives (APT_CONFIG),
# so the machine's are neither used nor changed, and root is not needed.
#	KCACHE		the cache (default: schedlat/kernels in XDG_CACHE_HOME or ~/.cache)
#	KMIRROR		a Debian mirror; default: the one the machine's apt uses
#	QEMU		a qemu to take instead of one that is looked for
# What the cache holds serves when the archive cannot be reached.
set -euo pipefail

cache=${KCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/schedlat/kernels}
image=linux-image-cloud-amd64
keys=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "fetch: $*" >&2; }
die() { say "$*"; exit 1; }

mirror()
{
	local uri
	if [ -n "${KMIRROR:-}" ]; then
		echo "${KMIRROR%/}"
		return
	fi
	uri=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
	[ -n "$uri" ] || die "the machine's apt knows no Debian mirror: give one, KMIRROR=http://..."
	echo "${uri%/}"
}

# An apt of our own for some suites: sets APT_CONFIG. The lists are brought up to date
# when they are older than six hours.
apt_for() # SUITE...
{
	local IFS=+ from suite tool
	local dir=$cache/apt/$*

	for tool in apt-get apt-cache dpkg-deb; do
		command -v "$tool" >/dev/null || die "$tool is missing: the packages come from Debian's archive"
	done
	[ -r "$keys" ] || die "$keys is missing: install the package debian-archive-keyring"
	from=$(mirror)
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/none.d"
	for suite; do
		echo "deb [signed-by=$keys] $from $suite main"
	done > "$dir/sources.list"
	: > "$dir/status"
	cat > "$dir/apt.conf" <<-END
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "$dir/none.d";
		Dir::Etc::preferencesparts "$dir/none.d";
		Dir::State "$dir";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Cache::archives "$dir/archives";
		Dir::Log "$dir";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Debug::NoLocking "true";
	END
	export APT_CONFIG=$dir/apt.conf archives=$dir/archives stamp=$dir/updated
	[ -z "$(find "$stamp" -mmin -360 2>/dev/null)" ] || return 0
	rm -f "$stamp"
	if ! apt-get -qq update >"$dir/update.log" 2>&1 || grep -q '^[WE]:' "$dir/update.log"; then
		tail -n 3 "$dir/update.log" >&2
		return 1
	fi
	touch "$stamp"
}

# A package could not be had: the lists may be older than the archive.
no_package()
{
	rm -f "$stamp"
	die "$1 cannot be fetched; the next run looks at the archive anew"
}

version_of() # PACKAGE SUITE
{
	apt-cache show "$1/$2" 2>/dev/null | awk '/^Version: / && !seen++ { print $2 }'
}

# Unpack into DIR all of PACKAGES and nothing else.
unpack() # DIR PACKAGE...
{
	local dir=$1 deb
	shift
	mkdir -p "$dir"
	rm -f "$archives"/*.deb
	(cd "$archives" && apt-get -qq download "$@") >&2 || no_package "$*"
	for deb in "$archives"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -f "$archives"/*.deb
}

# The newest entry of the cache whose name begins so.
cached() # DIRECTORY PREFIX
{
	find "$cache/$1" -mindepth 1 -maxdepth 1 -name "$2*" ! -name '*.part' 2>/dev/null |
		LC_ALL=C sort -V | tail -n 1 || true
}

# The kernel itself is in a package that the meta package leads to by its dependencies:
# linux-image-VERSION-cloud-amd64; since 7.x linux-binary- and linux-base-VERSION behind it
# have the kernel and its configuration.
get_kernel() # SUITE [VERSION]
{
	local suite=$1 want=${2:-} version dir part file have
	local -a chain=("$image") packages=()

	if ! apt_for "$suite"; then
		dir=$(cached kernel "$suite-$want")
		[ -n "$dir" ] || die "$image of $suite: the archive cannot be reached and the cache has none"
		say "the archive cannot be reached; $(cat "$dir/release") is taken from the cache"
		echo "$dir"
		return
	fi
	version=$(version_of "$image" "$suite")
	[ -n "$version" ] || die "there is no package $image in $suite"
	if [[ -n $want && $version != "$want".* ]]; then
		dir=$(cached kernel "$suite-$want.")
		[ -n "$dir" ] || die "$image in $suite is $version now, not $want: name another suite, or KIMG=/path"
		say "$image in $suite is $version now; $(cat "$dir/release") is taken from the cache"
		echo "$dir"
		return
	fi
	dir=$cache/kernel/$suite-$version
	if [ -s "$dir/release" ]; then
		echo "$dir"
		return
	fi

	say "$image $version of $suite"
	while [ ${#chain[@]} -gt 0 ]; do
		packages+=("${chain[@]}")
		mapfile -t chain < <(apt-cache show "${chain[@]}" | sed -n 's/^Depends: //p' | tr ',' '\n' |
			sed -nE 's/^ *(linux-(image|binary|base)-[0-9][^ ]*).*/\1/p' | sort -u)
		[ ${#packages[@]} -lt 8 ] || break
	done
	part=$dir.part
	rm -rf "$part"
	unpack "$part/files" "${packages[@]}"
	file=$(find "$part/files" \( -name 'vmlinuz-*' -o -name vmlinuz \) -type f | head -n 1)
	[ -n "$file" ] || die "$image of $suite, $version: no vmlinuz in ${packages[*]}"
	have=${file##*/vmlinuz-}
	[ "$have" != "$file" ] || have=$(basename "$(dirname "$file")")
	mv "$file" "$part/vmlinuz"
	find "$part/files" \( -name "config-$have" -o -name config \) -type f -exec mv {} "$part/config" \;
	rm -rf "$part/files"
	echo "$version" > "$part/version"
	echo "$have" > "$part/release"
	rm -rf "$dir"
	mv "$part" "$dir"
	echo "$dir"
}

# Debian 12's qemu 7.2 is too old: with several threads it crashes kernels that patch
# their code often, with one it lets a CPU run for 100 ms while the other stands still.
good_qemu() # PROGRAM
{
	local major
	major=$("$1" --version 2>/dev/null | sed -nE '1s/.* version ([0-9]+)\..*/\1/p')
	[ "${major:-0}" -ge 10 ]
}

get_qemu()
{
	local codename suite version dir part path

	if [ -n "${QEMU:-}" ]; then
		good_qemu "$QEMU" || say "$QEMU is not qemu 10 or newer: expect crashes and stalls that no scheduler made"
		echo "$QEMU"
		return
	fi
	path=$(command -v qemu-system-x86_64 || true)
	if [ -n "$path" ]; then
		if good_qemu "$path"; then
			echo "$path"
			return
		fi
		say "$path is older than 10.0, which is needed: looking for another"
	fi
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	case $codename in
	bookworm) suite=bookworm-backports ;;
	trixie) suite=trixie ;;
	*) die "qemu-system-x86_64 10.0 or newer is needed: install it, or QEMU=/path (it is only fetched on Debian 12 and 13)" ;;
	esac
	if ! apt_for "$codename" "$codename-backports"; then
		dir=$(cached qemu "$codename-")
		[ -n "$dir" ] || die "qemu-system-x86 of $suite: the archive cannot be reached and the cache has none"
		echo "$dir/qemu"
		return
	fi
	version=$(version_of qemu-system-x86 "$suite")
	[ -n "$version" ] || die "there is no package qemu-system-x86 in $suite"
	dir=$cache/qemu/$codename-${version//:/_}
	if [ -x "$dir/qemu" ] && good_qemu "$dir/qemu"; then
		echo "$dir/qemu"
		return
	fi
	say "qemu-system-x86 $version of $suite"
	part=$dir.part
	rm -rf "$part"
	mkdir -p "$part"
	# What the machine has installed need not be fetched.
	rm -f "$archives"/*.deb
	apt-get -qq -y -o Dir::State::status=/var/lib/dpkg/status --download-only -t "$suite" \
		install qemu-system-x86 >&2 || no_package "qemu-system-x86 of $suite"
	for deb in "$archives"/*.deb; do
		dpkg-deb -x "$deb" "$part"
	done
	rm -f "$archives"/*.deb
	cat > "$part/qemu" <<-'END'
		#!/bin/sh
		here=$(dirname "$(realpath "$0")")
		lib=$here/usr/lib/x86_64-linux-gnu
		LD_LIBRARY_PATH=$lib:$here/lib/x86_64-linux-gnu exec "$here/usr/bin/qemu-system-x86_64" \
			-L "$here/usr/share/qemu" -L "$here/usr/share/seabios" "$@"
	END
	chmod +x "$part/qemu"
	good_qemu "$part/qemu" || die "qemu-system-x86 $version of $suite does not start: $("$part/qemu" --version 2>&1 | head -n 2)"
	rm -rf "$dir"
	mv "$part" "$dir"
	echo "$dir/qemu"
}

get_busybox()
{
	local codename=bookworm version dir part

	if ! apt_for "$codename"; then
		dir=$(cached busybox '')
		[ -n "$dir" ] || die "busybox-static of $codename: the archive cannot be reached and the cache has none"
		echo "$dir/busybox"
		return
	fi
	version=$(version_of busybox-static "$codename")
	[ -n "$version" ] || die "there is no package busybox-static in $codename"
	dir=$cache/busybox/${version//:/_}
	if ! [ -x "$dir/busybox" ]; then
		say "busybox-static $version of $codename"
		part=$dir.part
		rm -rf "$part"
		unpack "$part" busybox-static
		mv "$(find "$part" -type f -path '*/bin/busybox')" "$part/busybox"
		rm -rf "$dir"
		mv "$part" "$dir"
	fi
	echo "$dir/busybox"
}

# The archive keeps only the newest version of a package: what the cache has of an older
# one serves when the archive is away, not instead of it.
get_source() # SUITE PACKAGE
{
	local suite=$1 package=$2 version dir part tree

	if ! apt_for "$suite"; then
		dir=$(cached source "$suite-$package-")
		[ -n "$dir" ] || die "$package of $suite: the archive cannot be reached and the cache has none"
		say "the archive cannot be reached; $package $(cat "$dir/version") is taken from the cache"
		echo "$dir/$package"
		return
	fi
	version=$(version_of "$package" "$suite")
	if [ -z "$version" ]; then
		dir=$(cached source "$suite-$package-")
		[ -n "$dir" ] || die "there is no package $package in $suite"
		say "there is no package $package in $suite any more; $(cat "$dir/version") is taken from the cache"
		echo "$dir/$package"
		return
	fi
	dir=$cache/source/$suite-$package-$version
	if [ -s "$dir/version" ]; then
		echo "$dir/$package"
		return
	fi
	say "$package $version of $suite (about 160 MB)"
	part=$dir.part
	rm -rf "$part"
	unpack "$part/files" "$package"
	tree=$(find "$part/files/usr/src" -name "$package.tar.*" -type f | head -n 1)
	[ -n "$tree" ] || die "$package of $suite, $version: no $package.tar in it"
	tar -x -f "$tree" -C "$part" || die "$package of $suite, $version: $(basename "$tree") cannot be unpacked"
	[ -s "$part/$package/Makefile" ] || die "$package of $suite, $version: $(basename "$tree") has no $package/"
	rm -rf "$part/files"
	echo "$version" > "$part/version"
	rm -rf "$dir"
	mv "$part" "$dir"
	echo "$dir/$package"
}

[ "$(uname -m)" = x86_64 ] || die "the guests are x86-64, this machine is $(uname -m)"
mkdir -p "$cache"
exec 9> "$cache/lock"
flock 9
case ${1:-} in
kernel) get_kernel "${2:?suite}" "${3:-}" ;;
qemu) get_qemu ;;
busybox) get_busybox ;;
source) get_source "${2:?suite}" "${3:?package}" ;;
list) (cd "$cache" && du -sh kernel/* qemu/* busybox/* source/* 2>/dev/null) || true ;;
*) die "usage: fetch.sh kernel SUITE [VERSION] | qemu | busybox | source SUITE PACKAGE | list" ;;
esac
