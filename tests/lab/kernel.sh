#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A kernel of the lab: builds it unless the cache has it, prints its directory.
#
#	kernel.sh [-n] SERIES CONFIG [DIRECTORY]
#
# SERIES: base (the source as it is), all (all of kernel-patches/series), or a group of it,
# which is a directory there: tracepoints. CONFIG: fast, debug (config/). DIRECTORY has more
# for a kernel that is only for the lab: *.patch, applied after the series in the order of
# their names, and *.config.
# With -n nothing is built or fetched: exit status 4 when the cache does not have it.
#
# The directory has bzImage, config, System.map, release, version, vmlinux (without its
# debug information; the types are in it). Kernels are kept by what they are made of: source,
# options, patches (not what is written above a patch's diff), compiler. All of a config are built
# in one tree, in which only those files are changed that differ from the build before.
#	KSRC, KCACHE	see source.sh and tests/kernels/fetch.sh
#	LAB_JOBS	how many compilers at once; default: one per CPU
# Exit status 3: the source cannot be had.
set -euo pipefail
shopt -s inherit_errexit
here=$(dirname "$(realpath "$0")")
patches=$here/../../kernel-patches
cache=$(realpath -m "${KCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/schedlat/kernels}")
lab=$cache/lab
# How many kernels of a name stay in the cache, and how many build trees.
keep_kernels=4 keep_trees=4

say() { echo "lab: $*" >&2; }
die() { say "$*"; exit 1; }

only_cached=
[ "${1:-}" != -n ] || { only_cached=1; shift; }
series=${1:-} config=${2:-} extra=${3:-}
[ -n "$config" ] || die "usage: kernel.sh [-n] base|tracepoints|all fast|debug [DIRECTORY]"
[ -f "$here/config/$config.config" ] || die "$config: no such config, config/ has: $(cd "$here/config" && echo *.config)"
[ -z "$extra" ] || [ -d "$extra" ] || die "$extra is not a directory with patches and options"
extra=${extra:+$(realpath "$extra")}
say_name=$series${extra:++$(basename "$extra")}-$config

# The patches, one path a line, in order.
list_patches()
{
	local name
	if [ "$series" != base ]; then
		if ! [ -f "$patches/series" ]; then
			say "kernel-patches/series is not there: '$series' has no patch, it is the same as base"
		else
			grep -vE '^[[:space:]]*(#|$)' "$patches/series" | while read -r name _; do
				[ "$series" = all ] || [ "${name%%/*}" = "$series" ] || continue
				[ -f "$patches/$name" ] || die "kernel-patches/series names $name, which is not there"
				echo "$patches/$name"
			done
		fi
	fi
	[ -z "$extra" ] || find "$extra" -maxdepth 1 -name '*.patch' | LC_ALL=C sort
}

# The options asked for: of several lines for one the last.
wanted()
{
	local -a files=("$here/config/fast.config")
	[ "$config" = fast ] || files+=("$here/config/$config.config")
	[ -z "$extra" ] || mapfile -t -O ${#files[@]} files < <(find "$extra" -maxdepth 1 -name '*.config' | LC_ALL=C sort)
	cat "${files[@]}" | awk '
		match($0, /^(# )?CONFIG_[A-Za-z0-9_]+/) {
			name = substr($0, RSTART, RLENGTH); sub(/^# /, "", name)
			if (!(name in line)) order[++n] = name
			line[name] = $0
		}
		END { for (i = 1; i <= n; i++) print line[order[i]] }'
}

# Which source this is: for a tree of one's own also by what changed in it.
source_id() # TREE
{
	local version
	if [ -z "${KSRC:-}" ]; then
		cat "$1/../version"
		return
	fi
	version=$(awk '$1 == "VERSION" || $1 == "PATCHLEVEL" || $1 == "SUBLEVEL" { v = v (v == "" ? "" : ".") $3 }
		END { print v }' "$1/Makefile")
	echo "$version-$(cd "$1" && find . -name .git -prune -o -type f -printf '%P %s %T@\n' | LC_ALL=C sort |
		{ pwd; cat; } | sha256sum | cut -c 1-12)"
}

needed_tools()
{
	local tool missing=
	for tool in gcc make ld flex bison bc pahole lz4 perl patch xz sha256sum; do
		command -v $tool >/dev/null || missing+=" $tool"
	done
	printf '#include <gelf.h>\n' | gcc -fsyntax-only -x c - 2>/dev/null || missing+=" gelf.h(libelf-dev)"
	[ -z "$missing" ] || die "building a kernel needs${missing}: scripts/deps.sh lab installs it"
}

# Bring the build tree to the source with the patches. A file whose content stays is not
# touched: make goes by the times.
put_patches()
{
	local stage=$work/stage file patch
	rm -rf "$stage"
	mkdir "$stage"
	: > "$work/files.new"
	for patch in "${list[@]}"; do
		sed -nE 's,^(\+\+\+ b|--- a)/([^	]*).*,\2,p' "$patch"
	done | sort -u > "$work/files.new"
	while read -r file; do
		[ ! -f "$tree/$file" ] || install -D -m 644 "$tree/$file" "$stage/$file"
	done < "$work/files.new"
	for patch in "${list[@]}"; do
		patch -p1 -F0 -s -f --no-backup-if-mismatch -r - -d "$stage" < "$patch" >"$work/patch.out" 2>&1 ||
			die "$(realpath --relative-base="$patches" "$patch") does not apply to $id without fuzz:
$(sed 's/^/	/' "$work/patch.out")"
	done
	sort -u -o "$work/files.now" "$work/files.new" <(cat "$work/files" 2>/dev/null)
	mv "$work/files.now" "$work/files"
	while read -r file; do
		# A file that is no longer patched gets a new time too.
		grep -qxF "$file" "$work/files.new" || [ ! -f "$tree/$file" ] ||
			install -D -m 644 "$tree/$file" "$stage/$file"
		if [ ! -f "$stage/$file" ]; then
			rm -f "$work/src/$file"
		elif ! cmp -s "$stage/$file" "$work/src/$file"; then
			# The tree consists of hard links to the source: never write into a file.
			rm -f "$work/src/$file"
			install -D -m 644 "$stage/$file" "$work/src/$file"
		fi
	done < "$work/files"
	rm -rf "$stage"
}

make_tree()
{
	local part=$work/src.part
	[ ! -d "$work/src" ] || return 0
	rm -rf "$part"
	mkdir -p "$part"
	find "$tree" -mindepth 1 -maxdepth 1 ! -name .git -exec cp -al -t "$part" {} + 2>/dev/null || {
		rm -rf "$part"
		mkdir -p "$part"
		find "$tree" -mindepth 1 -maxdepth 1 ! -name .git -exec cp -a -t "$part" {} +
	}
	if [ -e "$part/.config" ] || [ -d "$part/include/config" ]; then
		make -C "$part" mrproper >/dev/null
	fi
	mv "$part" "$work/src"
}

make_kernel() # GOAL...
{
	make -C "$work/src" O="$work/obj-$config" KCONFIG_ALLCONFIG="$work/wanted" \
		KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_USER=lab \
		KBUILD_BUILD_HOST=schedlat LOCALVERSION="-$label" \
		-j"${LAB_JOBS:-$(nproc)}" "$@" </dev/null >>"$log" 2>&1
}

check_options()
{
	local line name missing=
	while read -r line; do
		name=${line#\# }
		case $line in
		'# '*) ! grep -q "^${name%% *}=" "$work/obj-$config/.config" ;;
		*) grep -qxF -- "$line" "$work/obj-$config/.config" ;;
		esac || missing+="
	$line"
	done < "$work/wanted"
	[ -z "$missing" ] || die "$say_name, $id: these options do not come out as asked for:$missing"
}

build()
{
	local part=$lab/kernel/$key.part begin=$SECONDS object=$work/obj-$config file
	needed_tools
	make_tree
	log=$work/$say_name.log
	: > "$log"
	wanted > "$work/wanted"
	put_patches
	mkdir -p "$object"
	make_kernel allnoconfig || die "$say_name: the options cannot be set:
$(tail -n 5 "$log")"
	check_options
	say "building $say_name of $id; messages in $log"
	if ! make_kernel bzImage; then
		grep -m 8 -E '(error|Error|undefined reference)' "$log" >&2 || tail -n 8 "$log" >&2
		die "$say_name of $id does not build, see $log"
	fi
	rm -rf "$part"
	mkdir -p "$part"
	cp "$object/arch/x86/boot/bzImage" "$object/System.map" "$part/"
	cp "$object/.config" "$part/config"
	objcopy --strip-debug "$object/vmlinux" "$part/vmlinux"
	cat "$object/include/config/kernel.release" > "$part/release"
	echo "$id" > "$part/version"
	for file in "${list[@]}"; do
		realpath --relative-base="$patches" "$file"
	done > "$part/patches"
	rm -rf "$lab/kernel/$key"
	mv "$part" "$lab/kernel/$key"
	say "built $say_name in $((SECONDS - begin)) s"
}

# The oldest go: what is used is touched.
prune() # DIRECTORY PREFIX COUNT
{
	find "$1" -mindepth 1 -maxdepth 1 -type d -name "$2*" -printf '%T@ %p\n' | sort -rn | tail -n +$(($3 + 1)) |
		while read -r _ path; do rm -rf "$path"; done
}

tree=$("$here/source.sh" ${only_cached:+-n})
id=$(source_id "$tree")
paths=$(list_patches)
list=()
[ -z "$paths" ] || mapfile -t list <<< "$paths"
# Named by the groups that it has: "all" is the same kernel as its only group.
label=base
for path in "${list[@]}"; do
	group=$(basename "$(dirname "$path")")
	[[ +$label+ == *"+$group+"* ]] || label+=+$group
done
[ -z "$extra" ] || [[ +$label+ == *"+$(basename "$extra")+"* ]] || label+=+$(basename "$extra")
label=${label#base+}
key=$label-$config-$({
	echo "$id"
	gcc --version | head -n 1
	pahole --version 2>/dev/null || true
	wanted
	[ ${#list[@]} -eq 0 ] || awk 'FNR == 1 { on = 0 } /^(diff|---) / { on = 1 } on' "${list[@]}"
} | sha256sum | cut -c 1-16)

if ! [ -s "$lab/kernel/$key/bzImage" ]; then
	[ -z "$only_cached" ] || exit 4
	work=$lab/work/$id
	[ "$config" = fast ] || work+=-$config
	mkdir -p "$work" "$lab/kernel"
	exec 8> "$work.lock"
	if ! flock -n 8; then
		say "waiting for another build in $work"
		flock 8
	fi
	[ -s "$lab/kernel/$key/bzImage" ] || build
	touch "$work"
	prune "$lab/kernel" "$label-$config-" $keep_kernels
	prune "$lab/work" '' $keep_trees
fi
touch "$lab/kernel/$key"
echo "$lab/kernel/$key"
