# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash completion for schedlat; tests/lint/completion.t compares it with schedlat CMD -h.

# The options of a command.
__schedlat_options()
{
	case $1 in
	record)
		echo "-o --output -d --duration -p --pid -t --tid -C --cpu -m --buffer-size --no-irq
			--compress --backend --only --slice --flight -T --threshold -v --verbose
			-q --quiet"
		;;
	report)
		echo "-i --input --why -T --threshold -n -H --histogram --by -s --sort --fields -j --json
			-x --field-separator --from --waits -p --pid -t --tid --comm -C --cpu -G --cgroup
			--time --all --exact --threads -v --verbose -q --quiet"
		;;
	timehist)
		echo "-i --input -T --threshold --above --fields -j --json -x --field-separator --from
			--waits -p --pid -t --tid --comm -C --cpu -G --cgroup --time --all --threads
			-v --verbose -q --quiet"
		;;
	top)
		echo "-p --pid -t --tid --comm -C --cpu -G --cgroup -a --all -T --threshold -I --interval
			-d --duration -s --sort --batch -j --json -n --frames --screen --backend
			-v --verbose"
		;;
	bugreport)
		echo "-i --input -o --output --trace --size --redact --why --from --comm -p --pid -t --tid
			-d --duration -m --buffer-size --no-irq --backend --only --slice -q --quiet"
		;;
	diff)
		echo "--a --b --by -n --tail -j --json -x --field-separator --fields --from --waits -p --pid
			-t --tid --comm -C --cpu -G --cgroup --time --all --exact --threads -q --quiet"
		;;
	export)
		echo "--format -o --output -i --input --why -T --threshold -n --by --fields -x --field-separator --from
			--waits -p --pid -t --tid --comm -C --cpu -G --cgroup --time --all --threads
			-q --quiet"
		;;
	slice)
		echo "-p --pid -t --tid --comm -a --all --while -s --sort --fields -j --json
			-x --field-separator -v --verbose -q --quiet"
		;;
	check | list)
		echo "-j --json"
		;;
	esac
	echo "-h --help"
}

# What can follow an option; status 1: nothing in particular.
__schedlat_values()
{
	case $1 in
	-i | --input | -o | --output | --a | --b | --trace) return 2 ;;
	--format) echo "perfetto html folded csv jsonl" ;;
	--from) echo "waking wakeup" ;;
	--waits) echo "wake preempt fork all" ;;
	--by) echo "tid comm tgid cgroup class all" ;;
	--screen) echo "tasks causes cpus outliers all" ;;
	--backend) echo "auto tracefs bpf" ;;
	--tail) echo "p50 p90 p99 p99.9" ;;
	--why) echo "p50 p90 p99 p99.9 max 500us 1ms 0ns" ;;
	--threads) echo "1 2" ;;
	-s | --sort | --fields)
		[ "$2" != top ] || { echo "waited p99 max p50 waits now name"; return; }
		schedlat list columns 2>/dev/null | awk -v set="$2" '$1 == set { print $2 }'
		;;
	-p | --pid) ps -A -o pid= ;;
	--comm) ps -A -o comm= | sort -u ;;
	-d | --duration | --above | -T | --threshold | --flight | --time | --slice | --only | -t | --tid | \
		-C | --cpu | -G | --cgroup | -m | --buffer-size | -n | --frames | -I | --interval | -x | \
		--field-separator | --size) ;;
	*) return 1 ;;
	esac
}

_schedlat()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' set=group word
	local -i at
	local values status=0

	COMPREPLY=()
	# bash splits --opt=value into three words
	if [ "$cur" = "=" ]; then
		cur=''
	elif [ "$prev" = "=" ] && [ "$COMP_CWORD" -ge 2 ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for ((at = 1; at < COMP_CWORD; at++)); do
		word=${COMP_WORDS[at]}
		# behind -- stands somebody else's command
		if [ "$word" = "--" ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			return
		fi
		[[ $word == -* ]] || : "${command:=$word}"
	done
	if [ -z "$command" ]; then
		mapfile -t COMPREPLY < <(compgen -W "record report timehist top diff bugreport export slice check list -h --help --version" \
			-- "$cur")
		return
	fi
	if [ "$command" = list ] && [[ $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "causes events columns" -- "$cur")
		return
	fi
	[[ $command == timehist || $command == export ]] && set="wait"
	[ "$command" = slice ] && set=thread
	[ "$command" = top ] && set=top
	[ "$command" = diff ] && set="diff"
	values=$(__schedlat_values "$prev" "$set") || status=$?
	if [ "$status" -eq 0 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
	elif [ "$status" -eq 2 ] || [[ $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -W "$(__schedlat_options "$command")" -- "$cur")
	fi
}

complete -F _schedlat schedlat
