// SPDX-License-Identifier: GPL-2.0-only
#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* ms until then, rounded up. */
static int ms_until(uint64_t ns, int ms)
{
	const uint64_t now = now_ns();
	const uint64_t left = ns > now ? (ns - now + 999999) / 1000000 : 0;

	return left < (uint64_t)ms ? (int)left : ms;
}

/* An enum sl_top_event, or -1: none that matters. */
static int take_signal(struct sl_top_loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->signal_fd, &info, sizeof(info)) != sizeof(info))
		return -1;
	if (info.ssi_signo == SIGWINCH)
		return SL_TOP_RESIZED;
	/* A terminal's ^C reaches the command by itself. */
	if (loop->command->pid && info.ssi_code != SI_KERNEL)
		kill(loop->command->pid, info.ssi_signo);
	return SL_TOP_STOP;
}

int sl_top_loop_next(struct sl_top_loop *loop, struct sl_err *err)
{
	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = loop->signal_fd, .events = POLLIN },
			{ .fd = loop->key_fd, .events = POLLIN },
			{ .fd = loop->command->pid ? loop->command->pid_fd : -1, .events = POLLIN },
		};
		int ms, r = sl_top_take(loop->top, &ms, err);

		if (r < 0)
			return r;
		if (!loop->paused)
			ms = ms_until(loop->next_ns, ms);
		if (loop->deadline_ns)
			ms = ms_until(loop->deadline_ns, ms);
		if (poll(fds, 3, ms) < 0 && errno != EINTR)
			return sl_err_set(err, -errno, "cannot wait: poll: %s", strerror(errno));
		if (fds[0].revents) {
			r = take_signal(loop);
			if (r >= 0)
				return r;
		}
		if (fds[1].revents)
			return SL_TOP_KEY;
		if (!loop->paused && now_ns() >= loop->next_ns) {
			loop->next_ns += loop->interval_ns;
			/* Held up for longer than an interval: no frames to catch up with. */
			if (loop->next_ns <= now_ns())
				loop->next_ns = now_ns() + loop->interval_ns;
			r = sl_top_refresh(loop->top, err);
			return r < 0 ? r : SL_TOP_REFRESH;
		}
		if (loop->command->pid && sl_command_ended(loop->command) && !loop->command_ended) {
			loop->command_ended = true;
			return SL_TOP_ENDED;
		}
		if (loop->deadline_ns && now_ns() >= loop->deadline_ns)
			return SL_TOP_STOP;
	}
}
