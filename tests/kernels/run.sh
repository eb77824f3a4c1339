#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make check-kernels: schedlat on the kernels of three Debian releases, in qemu.
# The last line is
#	N passed, N failed, N skipped
#
#	KERNELS		which: "6.1 6.12 7.3" (default), or names of suites
#	KIMG		a bzImage of one's own instead, tested under its file name
#	KTESTS		only these tests of guest/: 20-tracefs,30-bpf
#	KKEEP		a directory for kernel logs and what the tests left
#	KOPT		more options of boot.py
#	KCACHE, KMIRROR, QEMU	see fetch.sh
# The build directory is O, as for the other tests.
set -euo pipefail
here=$(dirname "$(realpath "$0")")

# With the extra programs of a guest; what one has not is left out.
programs=(bpftool cyclictest hackbench trace-cmd "${O:-build}/tests/unit/test_bpf")
# The suites whose linux-image-cloud-amd64 is of these versions. Backports moves on to
# the next kernel in time: what the cache still has is used, then the name must change.
declare -A suites=([6.1]=bookworm [6.12]=trixie [7.3]=trixie-backports)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

tally() # FILE
{
	local p f s
	read -r p f s < <(awk '
		/^ok / { if (tolower($0) ~ /# *skip/) s++; else p++ }
		/^not ok / { f++ }
		END { print p + 0, f + 0, s + 0 }' "$1")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

give_up() # WHAT
{
	echo "not ok 1 - $1"
	failed=$((failed + 1))
}

boot() # NAME KERNEL [CONFIG RELEASE]
{
	local name=$1 status=0
	local -a more=()

	if [ -s "${3:-}" ]; then
		mkdir -p "$work/own/boot"
		cp "$3" "$work/own/boot/config-$4"
		python3 "$here/mkcpio.py" "$work/own" > "$work/own.cpio"
		more+=(--initrd "$work/own.cpio")
		rm -rf "$work/own"
	fi
	[ -z "${KTESTS:-}" ] || more+=(--tests "$KTESTS")
	[ -z "${KKEEP:-}" ] || more+=(--log "$KKEEP/$name.log" --out "$KKEEP/$name")
	# shellcheck disable=SC2086 # KOPT is a list
	"$here/boot.py" --name "$name" --qemu "$qemu" --kernel "$2" --initrd "$work/guest.cpio" \
		"${more[@]}" ${KOPT:-} | tee "$work/tap" || status=$?
	tally "$work/tap"
	# boot.py could not even begin.
	[ "$status" -le 1 ] && grep -q '^1\.\.' "$work/tap" || give_up "$name: boot.py ended with status $status"
}

for tool in python3 ldd; do
	command -v "$tool" >/dev/null || { echo "check-kernels: $tool is missing"; give_up "$tool"; }
done
[ -z "${KKEEP:-}" ] || mkdir -p "$KKEEP"
if busybox=$("$here/fetch.sh" busybox) && qemu=$("$here/fetch.sh" qemu) &&
	"$here/initramfs.sh" "$work/guest.cpio" "$busybox" "${programs[@]}"; then
	echo "# $("$qemu" --version | head -n 1)"
	if [ -n "${KIMG:-}" ]; then
		boot "$(basename "$KIMG")" "$KIMG"
	else
		for name in ${KERNELS:-6.1 6.12 7.3}; do
			if [ -n "${suites[$name]:-}" ]; then
				directory=$("$here/fetch.sh" kernel "${suites[$name]}" "$name") || directory=
			else
				directory=$("$here/fetch.sh" kernel "$name") || directory=
			fi
			if [ -n "$directory" ]; then
				boot "$name" "$directory/vmlinuz" "$directory/config" "$(cat "$directory/release")"
			else
				give_up "$name: its kernel cannot be had, see above"
			fi
		done
	fi
else
	give_up "the guest cannot be made, see above"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
