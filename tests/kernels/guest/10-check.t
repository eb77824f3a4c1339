#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# schedlat check: what can be recorded on this kernel.
. /tests/lib.sh

run schedlat check
is "$status" 0 "check ends well"
matches "$said" "^tracefs +can record" "tracefs can record"
matches "$said" "place +/sys/kernel/tracing" "where tracefs is"
echo "$said" | grep -q "which scheduler features are on"
is $? 1 "the scheduler's features can be read here"
echo "$said" | grep -E '^(tracefs|bpf)|^  (clock|events|fields|evidence|not known)' | sed 's/^/# /'
finish
