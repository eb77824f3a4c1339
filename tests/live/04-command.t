#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command: its status, its signals, its environment.
. "$(dirname "$0")/lib.sh"

out=$("$SCHEDLAT" record --backend tracefs -o a.dat -- sh -c 'exit 37' 2>&1)
is $? 37 "the command's exit status is ours"
matches "$out" "'sh' exited with status 37" "and is printed"
is "$(meta a.dat command_exit_status)" 37 "and is stored"
out=$("$SCHEDLAT" record --backend tracefs -o a.dat -- sh -c 'kill -TERM $$' 2>&1)
is $? 143 "a command that a signal ended"
matches "$out" "'sh' was ended by signal 15" "and that is printed"
is "$(meta a.dat command_signal)" 15 "and stored"

is "$("$SCHEDLAT" record --backend tracefs -q -o a.dat -- sh -c 'grep SigBlk /proc/self/status')" \
	"$(sh -c 'grep SigBlk /proc/self/status')" "the command's signal mask is what ours was"
is "$("$SCHEDLAT" record --backend tracefs -q -o a.dat -- sh -c 'ls /proc/self/fd | wc -l' 2>/dev/null </dev/null)" \
	"$(sh -c 'ls /proc/self/fd | wc -l' 2>/dev/null </dev/null)" "and it inherits no file of ours"
is "$("$SCHEDLAT" record --backend tracefs -q -o a.dat -- printf '%s|' -q --no-irq 'a b')" "-q|--no-irq|a b|" \
	"arguments behind the command are the command's"
is "$(echo text | "$SCHEDLAT" record --backend tracefs -q -o a.dat -- cat)" text "standard input is the command's"

# Signals that we get are passed on; the recording goes on until the command ends.
cat >trap.sh <<'S'
trap 'echo got TERM; exit 5' TERM
trap 'echo got HUP' HUP
trap 'echo got USR1' USR1
echo ready >ready
for i in $(seq 200); do sleep 0.05; done
S
"$SCHEDLAT" record --backend tracefs -q -o b.dat -- bash trap.sh >out.txt &
pid=$!
for _ in $(seq 100); do [ -e ready ] && break; sleep 0.05; done
kill -USR1 $pid
sleep 0.3
kill -USR1 $pid
sleep 0.3
kill -HUP $pid
sleep 0.3
kill -0 $pid
ok $? "it goes on after a signal that the command survives"
wait_for_tracing $pid
ok $? "and still traces"
kill -TERM $pid
sleep 0.5
wait $pid
status=$?
is "$(paste -sd, out.txt)" "got USR1,got USR1,got HUP,got TERM" "the command got every signal"
is $status 5 "and its status is ours"

# The second signal stops the recording even if the command does not care.
rm -f ready
cat >deaf.sh <<'S'
trap '' TERM HUP INT
echo ready >ready
for i in $(seq 60); do sleep 0.05; done
S
"$SCHEDLAT" record --backend tracefs -q -o c.dat -- bash deaf.sh &
pid=$!
for _ in $(seq 100); do [ -e ready ] && break; sleep 0.05; done
kill -TERM $pid
sleep 0.2
kill -TERM $pid
wait $pid
is $? 137 "a command that ignores signals is killed in the end"
[ -s c.dat ]
ok $? "and the file is there"

start=$(date +%s%N)
"$SCHEDLAT" record --backend tracefs -q -d 300ms -o d.dat -- sleep 60
is $? 143 "-d ends the command"
within $((($(date +%s%N) - start) / 1000000)) 300 2300 "in time (ms)"

# Children of -p are selected by the report; the others are there as context.
command -v python3 >/dev/null || { skip "-p" "no python3"; finish; }
cat >parent.sh <<'S'
for i in $(seq 100); do /bin/sleep 0.01; done
S
bash parent.sh &
parent=$!
sleep 0.1
"$SCHEDLAT" record --backend tracefs -q -d 500ms -p $parent -o e.dat
kill $parent 2>/dev/null
is "$(meta e.dat target_pids)" $parent "-p is stored"
comms=$("$SCHEDLAT" report -i e.dat --by comm --json |
	python3 -c 'import json, sys; print(",".join(sorted({g["comm"] for g in json.load(sys.stdin)["groups"]})))')
matches ",$comms," ",sleep," "children of -p are reported"
is "$(tr , '\n' <<<"$comms" | grep -vxE 'bash|sleep' | paste -sd,)" "" "and only they"
within "$("$SCHEDLAT" report -i e.dat --all --by comm -x , | wc -l)" 3 10000 "--all shows the others"
sleep 0.3 &
start=$(date +%s%N)
"$SCHEDLAT" record --backend tracefs -q -t $! -o f.dat
within $((($(date +%s%N) - start) / 1000000)) 100 3000 "without -d it ends with the last of -t (ms)"
finish
