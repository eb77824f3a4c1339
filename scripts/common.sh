# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # tracefs_why is for the scripts that source this
# Sourced by the scripts here: where tracefs is, and mounting it for the time of a run.

TRACEFS=/sys/kernel/tracing
tracefs_mounted_here=

# Where tracefs is mounted, or nothing.
tracefs_path()
{
	awk '{ for (i = 7; i <= NF; i++) if ($i == "-") { if ($(i + 1) == "tracefs") { print $5; exit } } }' \
		/proc/self/mountinfo
}

# 0: tracefs can be used. Otherwise tracefs_why says why not.
tracefs_begin()
{
	tracefs_why=
	if [ -z "$(tracefs_path)" ]; then
		if [ "$(id -u)" -ne 0 ]; then
			tracefs_why="tracefs is not mounted and mounting it needs root"
			return 1
		fi
		if ! mount -t tracefs tracefs "$TRACEFS" 2>/dev/null; then
			tracefs_why="tracefs is not mounted and mount -t tracefs tracefs $TRACEFS is refused"
			return 1
		fi
		tracefs_mounted_here=$TRACEFS
		echo "Mounted tracefs at $TRACEFS; it is unmounted at the end."
	fi
	if ! [ -w "$(tracefs_path)/instances" ]; then
		tracefs_why="no right to write to $(tracefs_path)/instances (root has it)"
		return 1
	fi
}

# Undo what tracefs_begin did.
tracefs_end()
{
	[ -n "$tracefs_mounted_here" ] || return 0
	umount "$tracefs_mounted_here" && echo "Unmounted $tracefs_mounted_here."
	tracefs_mounted_here=
}
