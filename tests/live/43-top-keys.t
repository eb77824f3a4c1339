#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# top in a terminal: every screen and key, two sizes, what is saved, and that the terminal is given back.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v tmux >/dev/null || skip_all "tmux is not installed"
command -v python3 >/dev/null || skip_all "python3 is not installed"

mux() { tmux -L "schedlat-test-$$" -f /dev/null "$@"; }
trap 'mux kill-server 2>/dev/null; kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
screen() { mux capture-pane -p -t a; }
keys() { mux send-keys -t a "$@"; }
# Until the screen shows it.
shows() # ERE NAME
{
	local i
	for i in $(seq 150); do
		[[ $(screen) =~ $1 ]] && break
		sleep 0.1
	done
	[[ $(screen) =~ $1 ]]
	ok $? "$2" "want: $1" "$(screen)"
}
# A shell in a terminal, whose state before and after is compared.
begin() # WIDTH HEIGHT [NAME=VALUE...]
{
	mux kill-server 2>/dev/null
	mux new-session -d -x "$1" -y "$2" -s a "env ${*:3} TERM=screen-256color PS1='$ ' sh"
	keys "stty -a > before" Enter
	sleep 0.3
}
start() { keys "'$SCHEDLAT' top $*; echo status=\$?" Enter; }
given_back() # NAME
{
	local i
	for i in $(seq 100); do
		[[ $(screen) =~ status=[0-9] ]] && break
		sleep 0.1
	done
	keys "stty -a > after" Enter
	sleep 0.5
	# the first line has the size, which may have changed
	[ "$(mux display -p -t a '#{alternate_on}#{cursor_flag}')" = 01 ] && [ -s after ] &&
		cmp -s <(tail -n +2 before) <(tail -n +2 after)
	ok $? "$1" "alternate screen, cursor: $(mux display -p -t a '#{alternate_on}#{cursor_flag}')" \
		"$(diff before after)" "$(screen)"
	rm -f after
}

# A thread that is held up by a realtime one on its CPU: its waits are long, and end.
cat >load.py <<'END'
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
name = lambda text: libc.prctl(15, text, 0, 0, 0)
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
if os.fork():
    name(b"keys-\x07victim")
    while os.path.exists("go"):
        time.sleep(0.003)
else:
    name(b"keys-hog")
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    while os.path.exists("go"):
        end = time.time() + 0.005
        while time.time() < end:
            pass
        time.sleep(0.02)
END
touch go
python3 load.py &
load=$!

begin 80 24 LC_ALL=C.UTF-8
start -a -I 500ms --comm "'keys*'"
shows 'keys-.x07victim' "80x24: tasks, with the name escaped"
shows '[a-z]+-[a-z]+ [0-9]+%' "a cause is named"
is "$(screen | awk 'length > 80' | wc -l)" 0 "80 columns are enough"
keys s
shows 'by p99' "s: the next order"
keys r r
keys 2
shows 'rt-class +[0-9.]+ % +[0-9.]+ %' "2: causes"
shows 'by who ran meanwhile' "all waits are accounted for"
keys 3
shows 'min slice' "3: CPUs"
keys 4
shows 'kept: [0-9]+ waits' "4: outliers"
keys Tab
shows 'held most by' "Tab: tasks again"
keys '/'
keys 'nobody' Enter
shows "nothing is like 'nobody'" "/: only such tasks"
keys '/' C-u Enter
shows 'keys-.x07victim' "and all of them"
keys -- -
shows 'at least 500.0 us are judged' "-: the threshold is halved"
keys +
shows 'at least 1.000 ms are judged' "+: and doubled"
keys a
shows 'threads .short slices' "a: short slices only"
keys a
shows 'keys-.x07victim' "and all again"
keys '?'
shows 'any key goes back' "?: help"
keys x Down Up
keys 1 Home Enter
shows 'all its waits' "Enter: a task in detail, its histogram drawn"
shows 'held by, in the' "what held it"
keys End
shows 'rt-class' "its longest waits, segment by segment"
keys PPage NPage Right Left Escape
shows 'held most by' "Escape: back"
keys z
shows 'counted anew' "z: reset"
keys m m
sleep 2
# Nothing happens any more, so that what is saved is what the screen shows.
rm go
wait $load
sleep 1.2
keys P
shows PAUSED "P: paused"
keys 4
shows 'kept: [0-9]+ waits' "what is kept stands still"
outliers=$(screen)
keys S C-u
keys "saved.dat" Enter
shows 'saved, [0-9]+ KiB: schedlat report' "S: saved"
keys q
given_back "q: the terminal is as before"
"$SCHEDLAT" report -j -q -i saved.dat --why=1ms --comm 'keys*' >saved.json 2>&1
is $? 0 "report reads what was saved"
is "$(echo "$outliers" | python3 -c '
import json, re, sys
text = sys.stdin.read()
why = json.load(open("saved.json"))["why"]
def short(ns):
    for scale, unit in ((1e3, "u"), (1e6, "m"), (1e9, "s")):
        if ns < scale * 999.5:
            break
    v = ns / scale
    return f"{v:.2f}" if v < 9.995 else f"{v:.1f}" if v < 99.95 else f"{v:.0f}"
kept = int(re.search(r"kept: (\d+) waits", text).group(1))
rows = re.findall(r"^ *[\d.]+ keys-\S+/(\d+) +([\d.]+)[um] +\d+ +(\S+)", text, re.M)
want = [(str(w["tid"]), short(w["delay_ns"]), w["primary"]["id"]) for w in why["waits"]][:len(rows)]
print(kept == why["count"], len(rows) > 3, rows == want or (rows, want))')" "True True True" \
	"and says the same about each wait"

begin 200 60 LC_ALL=C NO_COLOR=1
touch go
python3 load.py &
load=$!
start -a -I 500ms --comm "'keys*'" -s now
shows 'waits now' "200x60: where they wait has a column"
shows 'on CPU [0-9]+ behind keys-hog/[0-9]+' "who waits at this moment, where and behind whom"
keys 2
shows 'rt-class' "causes"
is "$(mux capture-pane -p -e -t a | grep -c $'\x1b\\[[0-9;]*3[0-7]m')" 0 "NO_COLOR: there are no colours"
is "$(screen | LC_ALL=C grep -c $'[\x80-\xff]')" 0 "without UTF-8 everything is ASCII"
mux resize-window -t a -x 60 -y 20
shows 'is too small: 80 x 24' "a window that is too small is told so"
mux resize-window -t a -x 100 -y 30
shows 'held by' "and drawn again when it is not"
keys C-c
given_back "SIGINT: the terminal is as before"
for signal in TERM SEGV; do
	keys clear Enter
	start -a -I 500ms
	shows 'held most by' "it runs"
	pkill -"$signal" -P "$(mux display -p -t a '#{pane_pid}')" schedlat
	given_back "SIG$signal: the terminal is as before"
done
rm go
wait $load
keys clear Enter
keys "'$SCHEDLAT' top -I 500ms -- sh -c 'kill -SEGV \$\$'; echo status=\$?" Enter
shows 'ended by signal 11' "a command that crashes is told of"
keys q
given_back "and the terminal is as before"
keys clear Enter "TERM=dumb '$SCHEDLAT' top; echo status=\$?" Enter
shows 'status=129' "a terminal that cannot place text: usage error"
shows "TERM='dumb' cannot place text" "and why"
finish
