# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A cgroup with nearly all of the CPU, so that what else the machine does hardly counts. Sourced; needs
# the cpu controller, v1 or v2. Enter it with alone; leave with alone_end.

alone()
{
	local root
	root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
	if [ -n "$root" ]; then
		alone_dir=$root/schedlat-test-$$ alone_root=$root
		mkdir "$alone_dir" 2>/dev/null && echo 262144 >"$alone_dir/cpu.shares" &&
			echo $$ >"$alone_dir/cgroup.procs"
		return
	fi
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	grep -qsw cpu "$root/cgroup.subtree_control" || return 1
	alone_dir=$root/schedlat-test-$$ alone_root=$root
	mkdir "$alone_dir" 2>/dev/null && echo 10000 >"$alone_dir/cpu.weight" && echo $$ >"$alone_dir/cgroup.procs"
}

alone_end()
{
	local _
	echo $$ >"$alone_root/cgroup.procs"
	for _ in 1 2 3 4 5; do
		rmdir "$alone_dir" 2>/dev/null && return
		sleep 0.1
	done
}
