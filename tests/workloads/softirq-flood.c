// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: softirq
 *
 * Thousands of UDP sockets listen on one port of the loopback device, and the flood
 * sends datagrams to its broadcast address: each is copied to every socket in one go, in
 * the softirq that follows the transmission, on the sender's CPU. The victim is woken by
 * a timer on that CPU, most of the time in the midst of this, and has to wait for its end.
 * Nobody reads: full sockets drop their copies, which takes about as long.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "rt.h"

#define MOST 15000
#define WANTED (2 * RT_MS)

static const struct rt_about about = {
	.causes = "softirq",
	/* what the sender needs from there to the end of its system call */
	.parts = "resched-delayed:10",
};

static struct sockaddr_in to;
static int out;

static uint64_t blow(void)
{
	uint64_t began = rt_now();

	if (sendto(out, "", 1, 0, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != ENOBUFS)
		rt_die("sendto: %s", strerror(errno));
	return rt_now() - began;
}

static void flood(void *arg)
{
	(void)arg;
	while (rt_more())
		blow();
}

static struct rt_beat victim = { .period_ns = 7300 * RT_US, .cpu_ns = 20 * RT_US };

static int udp_socket(void)
{
	const int one = 1, small = 1;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		rt_skip("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	return fd;
}

int main(int argc, char **argv)
{
	uint64_t ns = 0;

	rt_begin(argc, argv, &about);
	rt_need_files(MOST);
	out = udp_socket();
	to.sin_family = AF_INET;
	to.sin_addr.s_addr = htonl(INADDR_ANY);
	for (int i = 0; i < MOST && ns < WANTED; i++) {
		int fd = udp_socket();

		if (bind(fd, (struct sockaddr *)&to, sizeof(to)))
			rt_skip("bind: %s", strerror(errno));
		if (!to.sin_port) {
			/* the others share what the first one got */
			socklen_t len = sizeof(to);

			getsockname(fd, (struct sockaddr *)&to, &len);
		}
		if (i % 500 == 499) {
			struct in_addr any = to.sin_addr;

			to.sin_addr.s_addr = htonl(0x7fffffff); /* 127.255.255.255 */
			for (int k = 0; k < 20; k++)
				blow();
			ns = blow();
			to.sin_addr = any;
		}
	}
	if (ns < WANTED / 10)
		rt_skip("a datagram takes only %llu us", (unsigned long long)ns / 1000);
	to.sin_addr.s_addr = htonl(0x7fffffff);
	rt_start(&(struct rt_spec){ .comm = "udp-flood", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 50 * RT_MS, .run = flood });
	rt_start(&(struct rt_spec){ .comm = "v-softirq", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS / 10, .run = rt_beat, .arg = &victim });
	return rt_run();
}
