// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

static const char *const lines[] = {
	"schedlat top: who waits to run, how long, and why",
	"",
	"  1 2 3 4  Tab       tasks, causes, CPUs, outliers; the next of them",
	"  Up Down j k        select; PgUp PgDn Home End; Left Right scroll sideways",
	"  Enter              one task: all its waits drawn, its longest in full; Esc goes back",
	"  s r                sort by the next column, reverse; outliers: by length or time",
	"  /                  only tasks or causes with such a name; empty: all",
	"  a                  all tasks, or those with a slice of their own below the base slice",
	"  + -                the threshold from which on waits are judged: twice, half",
	"  P  Space           pause; what comes meanwhile is counted",
	"  z                  count everything anew",
	"  S                  save the waits that are kept: schedlat report reads the file",
	"  m                  the mouse wheel scrolls (and the terminal's selection is off)",
	"  ? q                this; quit",
	"",
	"w/s: waits per second. wait: time waited per second. P50, P99, max: since the start or z.",
	"Times: n ns, u us, m ms, s s. Percentiles are upper edges of ranges, at most 1/16 too high.",
	"Held most by: the cause with the largest share of its waits that were judged, which are",
	"those of at least the threshold. Exact: the kernel's own values or words say so; derived:",
	"worked out from them; unknown: nobody knows. schedlat-causes(7) explains each cause.",
};

void sl_tui_draw_help(const struct sl_tui *tui)
{
	sl_tui_screen_clear();
	for (int i = 0; i < (int)(sizeof(lines) / sizeof(*lines)); i++)
		sl_tui_screen_line(&tui->screen, i, i ? SL_TUI_PLAIN : SL_TUI_HERE, lines[i], 0);
	sl_tui_screen_line(&tui->screen, tui->screen.lines - 1, SL_TUI_BAR, "any key goes back", 0);
	sl_tui_screen_cursor(-1, 0);
	sl_tui_screen_show();
}
