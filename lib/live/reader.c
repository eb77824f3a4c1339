// SPDX-License-Identifier: LGPL-2.1-only
#include "live/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "live/thread.h"

#define PIPE_BYTES (1 << 20)
/* A reader of 8 CPUs with 500,000 events/s each uses a fifth of its own CPU. */
#define CPUS_PER_THREAD 8
#define SINK_PAGES 64u
/* Rounds also happen on a timer: poll() wakes only at the fill level. */
#define ROUND_MS 100
/* Without buffer_percent: 8 MiB hold 80 ms of the fastest that a CPU was seen to write. */
#define ROUND_MS_BLIND 20

struct cpu_reader {
	int raw_fd, out_fd;
	uint64_t bytes;
};

struct thread {
	struct sl_readers *readers;
	pthread_t pthread;
	unsigned int first, nr;		/* CPUs, as indices */
	int pipe[2];
	size_t pipe_bytes;
	unsigned char *page;		/* one sub-buffer; with a sink SINK_PAGES of them */
	struct pollfd *polls;		/* nr and the stop fd */
	bool started;
	int error;
	unsigned int error_index;
};

struct sl_readers {
	struct sl_instance *instance;
	const struct sl_page_sink *sink;
	struct cpu_reader *cpus;
	struct thread *threads;
	unsigned int nr_threads;
	int *tids;
	int stop_fd, error_fd;
	const uint8_t *avoid_cpus;
	pthread_mutex_t lock;
	pthread_cond_t ready;
	unsigned int nr_ready;
};

/* Pipe to file. The pipe is empty afterwards unless an error is returned. */
static int pipe_to_file(struct thread *t, struct cpu_reader *cpu, size_t bytes)
{
	while (bytes) {
		ssize_t n = splice(t->pipe[0], NULL, cpu->out_fd, NULL, bytes, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes -= n;
		cpu->bytes += n;
	}
	return 0;
}

/* Everything that is there in whole sub-buffers. */
static int splice_cpu(struct thread *t, struct cpu_reader *cpu)
{
	for (;;) {
		ssize_t n = splice(cpu->raw_fd, NULL, t->pipe[1], NULL, t->pipe_bytes,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!n)
			return 0;
		r = pipe_to_file(t, cpu, n);
		if (r < 0)
			return r;
		/* Less than a pipe full: the writer is not far ahead, leave it for the next round. */
		if ((size_t)n < t->pipe_bytes / 2)
			return 0;
	}
}

static int read_full(int fd, unsigned char *data, size_t bytes, size_t *ret_have)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t n = read(fd, data + have, bytes - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n <= 0)
			break;
		have += n;
	}
	*ret_have = have;
	return 0;
}

static int write_full(int fd, const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		bytes -= n;
	}
	return 0;
}

/*
 * One sub-buffer by read(2), the last of which may be partial: the kernel gives
 * the head and the events, and says in the commit word how many bytes they are.
 * The rest of the sub-buffer is padding. 1: there was one, 0: empty.
 */
static int read_page(struct thread *t, struct cpu_reader *cpu, unsigned char *page)
{
	const unsigned int page_bytes = t->readers->instance->page_bytes;
	unsigned long commit;
	size_t have;
	int r = read_full(cpu->raw_fd, page, page_bytes, &have);

	if (r < 0 || have < 8 + sizeof(commit))
		return r;
	memcpy(&commit, page + 8, sizeof(commit));
	commit &= (1ul << 27) - 1;	/* the bits above are flags: lost events */
	/* A stored count of lost events lies right behind the events. */
	commit += 8 + sizeof(commit) + sizeof(long);
	if (commit < have)
		have = commit;
	memset(page + have, 0, page_bytes - have);
	return 1;
}

static int drain_to_file(struct thread *t, struct cpu_reader *cpu)
{
	int r;

	do {
		uint64_t before = cpu->bytes;

		r = splice_cpu(t, cpu);
		if (!r && cpu->bytes != before)
			r = 1;
	} while (r > 0);
	while (!r && (r = read_page(t, cpu, t->page)) > 0) {
		r = write_full(cpu->out_fd, t->page, t->readers->instance->page_bytes);
		if (!r)
			cpu->bytes += t->readers->instance->page_bytes;
	}
	return r;
}

/*
 * Everything that was there when the round began, the events of the partial
 * sub-buffer included: the sink needs all CPUs up to one instant. When a CPU
 * writes faster than we read, its buffer's size is the end of the round.
 */
static int feed_sink(struct thread *t, unsigned int index, bool last)
{
	const unsigned int page_bytes = t->readers->instance->page_bytes;
	struct cpu_reader *cpu = &t->readers->cpus[index];
	const struct sl_page_sink *sink = t->readers->sink;
	const uint64_t limit = cpu->bytes + t->readers->instance->buffer_bytes;
	int r;

	while (last || cpu->bytes < limit) {
		ssize_t n = splice(cpu->raw_fd, NULL, t->pipe[1], NULL, SINK_PAGES * page_bytes,
				   SPLICE_F_NONBLOCK);
		size_t have;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n <= 0)
			break;
		r = read_full(t->pipe[0], t->page, n, &have);
		if (!r && have != (size_t)n)
			r = -EIO;
		if (!r)
			r = sink->pages(sink->arg, index, t->page, n / page_bytes);
		if (r < 0)
			return r;
		cpu->bytes += n;
	}
	do {
		r = read_page(t, cpu, t->page);
		if (r <= 0)
			return r;
		cpu->bytes += page_bytes;
		r = sink->pages(sink->arg, index, t->page, 1);
	} while (!r && last);
	return r;
}

static void thread_failed(struct thread *t, unsigned int index, int error)
{
	const uint64_t one = 1;

	t->error = error;
	t->error_index = index;
	if (write(t->readers->error_fd, &one, sizeof(one)) < 0)
		return;	/* the counter is full: it is readable already */
}

static int round_of(struct thread *t, bool last)
{
	struct sl_readers *readers = t->readers;

	for (unsigned int i = t->first; i < t->first + t->nr; i++) {
		int r;

		if (readers->sink)
			r = feed_sink(t, i, last);
		else
			r = last ? drain_to_file(t, &readers->cpus[i]) :
				splice_cpu(t, &readers->cpus[i]);
		if (r < 0) {
			thread_failed(t, i, r);
			return r;
		}
	}
	if (readers->sink && readers->sink->round) {
		int r = readers->sink->round(readers->sink->arg);

		if (r < 0) {
			thread_failed(t, t->first, r);
			return r;
		}
	}
	return 0;
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	struct sl_readers *readers = t->readers;
	const bool poll_cpus = readers->instance->has_buffer_percent;
	struct pollfd *stop = &t->polls[t->nr];

	prctl(PR_SET_NAME, "schedlat-read");
	sl_thread_avoid_cpus(readers->avoid_cpus);
	pthread_mutex_lock(&readers->lock);
	readers->tids[t - readers->threads] = syscall(SYS_gettid);
	readers->nr_ready++;
	pthread_cond_signal(&readers->ready);
	pthread_mutex_unlock(&readers->lock);

	for (;;) {
		if (poll_cpus)
			poll(t->polls, t->nr + 1, ROUND_MS);
		else
			poll(stop, 1, ROUND_MS_BLIND);
		if (stop->revents)
			break;
		if (round_of(t, false) < 0)
			return NULL;
	}
	round_of(t, true);
	return NULL;
}

static int start_thread(struct sl_readers *readers, struct thread *t, struct sl_err *err)
{
	const unsigned int page_bytes = readers->instance->page_bytes;
	int r, size;

	t->polls = calloc(t->nr + 1, sizeof(*t->polls));
	t->page = malloc((size_t)page_bytes * (readers->sink ? SINK_PAGES : 1));
	if (!t->polls || !t->page)
		return sl_err_set(err, -ENOMEM, "cannot start a reader: out of memory");
	if (pipe2(t->pipe, O_CLOEXEC | (readers->sink ? O_NONBLOCK : 0)) < 0)
		return sl_err_set(err, -errno, "cannot start a reader: pipe: %s", strerror(errno));
	fcntl(t->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	size = fcntl(t->pipe[1], F_GETPIPE_SZ);
	t->pipe_bytes = size > 0 ? size : 65536;
	for (unsigned int i = 0; i < t->nr; i++) {
		t->polls[i].fd = readers->cpus[t->first + i].raw_fd;
		t->polls[i].events = POLLIN;
	}
	t->polls[t->nr].fd = readers->stop_fd;
	t->polls[t->nr].events = POLLIN;
	r = sl_thread_start(&t->pthread, thread_main, t, err);
	t->started = !r;
	return r;
}

int sl_readers_start(const struct sl_readers_params *params, struct sl_readers **ret_readers,
		     struct sl_err *err)
{
	const unsigned int nr_cpus = params->instance->nr_cpus;
	struct sl_readers *readers = calloc(1, sizeof(*readers));
	unsigned int per_thread;
	int r = 0;

	if (!readers)
		return sl_err_set(err, -ENOMEM, "cannot start the readers: out of memory");
	readers->instance = params->instance;
	readers->sink = params->sink;
	readers->avoid_cpus = params->avoid_cpus;
	readers->stop_fd = eventfd(0, EFD_CLOEXEC);
	readers->error_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&readers->lock, NULL);
	pthread_cond_init(&readers->ready, NULL);
	readers->nr_threads = params->sink ? 1 : (nr_cpus + CPUS_PER_THREAD - 1) / CPUS_PER_THREAD;
	readers->cpus = calloc(nr_cpus, sizeof(*readers->cpus));
	readers->threads = calloc(readers->nr_threads, sizeof(*readers->threads));
	readers->tids = calloc(readers->nr_threads, sizeof(*readers->tids));
	if (!readers->cpus || !readers->threads || !readers->tids || readers->stop_fd < 0 ||
	    readers->error_fd < 0) {
		r = sl_err_set(err, -ENOMEM, "cannot start the readers: out of memory or files");
		goto fail;
	}
	for (unsigned int i = 0; i < nr_cpus; i++) {
		readers->cpus[i].raw_fd = -1;
		readers->cpus[i].out_fd = params->fds ? params->fds[i] : -1;
	}
	for (unsigned int i = 0; i < nr_cpus && !r; i++)
		r = sl_instance_open_cpu(params->instance, params->instance->cpus[i],
					 &readers->cpus[i].raw_fd, err);
	per_thread = (nr_cpus + readers->nr_threads - 1) / readers->nr_threads;
	for (unsigned int i = 0; i < readers->nr_threads && !r; i++) {
		struct thread *t = &readers->threads[i];

		t->readers = readers;
		t->first = i * per_thread;
		t->nr = nr_cpus - t->first < per_thread ? nr_cpus - t->first : per_thread;
		r = start_thread(readers, t, err);
	}
	if (r < 0)
		goto fail;
	pthread_mutex_lock(&readers->lock);
	while (readers->nr_ready < readers->nr_threads)
		pthread_cond_wait(&readers->ready, &readers->lock);
	pthread_mutex_unlock(&readers->lock);
	*ret_readers = readers;
	return 0;

fail:
	sl_readers_free(readers);
	return r;
}

int sl_readers_error_fd(const struct sl_readers *readers)
{
	return readers->error_fd;
}

const int *sl_readers_tids(const struct sl_readers *readers, unsigned int *ret_nr)
{
	*ret_nr = readers->nr_threads;
	return readers->tids;
}

static void end_threads(struct sl_readers *readers)
{
	const uint64_t one = 1;

	for (unsigned int i = 0; readers->threads && i < readers->nr_threads; i++) {
		struct thread *t = &readers->threads[i];

		if (t->started) {
			while (write(readers->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
				;
			pthread_join(t->pthread, NULL);
			t->started = false;
		}
	}
	for (unsigned int i = 0; readers->cpus && i < readers->instance->nr_cpus; i++) {
		if (readers->cpus[i].raw_fd >= 0)
			close(readers->cpus[i].raw_fd);
		readers->cpus[i].raw_fd = -1;
	}
}

int sl_readers_stop(struct sl_readers *readers, uint64_t *ret_bytes, struct sl_err *err)
{
	const unsigned int page_bytes = readers->instance->page_bytes;

	/*
	 * Nothing is recorded any more, so that a raised reader disturbs no
	 * measurement; a load that starves fair tasks must not hold up the end.
	 */
	for (unsigned int i = 0; i < readers->nr_threads; i++)
		sl_thread_raise(readers->tids[i]);
	end_threads(readers);
	for (unsigned int i = 0; i < readers->instance->nr_cpus; i++)
		ret_bytes[i] = readers->cpus[i].bytes - readers->cpus[i].bytes % page_bytes;
	for (unsigned int i = 0; i < readers->nr_threads; i++) {
		const struct thread *t = &readers->threads[i];

		if (t->error < 0)
			return sl_err_set(err, t->error, "cannot store events of CPU %u: %s",
					  readers->instance->cpus[t->error_index], strerror(-t->error));
	}
	return 0;
}

void sl_readers_free(struct sl_readers *readers)
{
	if (!readers)
		return;
	end_threads(readers);
	for (unsigned int i = 0; readers->threads && i < readers->nr_threads; i++) {
		struct thread *t = &readers->threads[i];

		if (t->pipe[1]) {
			close(t->pipe[0]);
			close(t->pipe[1]);
		}
		free(t->polls);
		free(t->page);
	}
	if (readers->stop_fd >= 0)
		close(readers->stop_fd);
	if (readers->error_fd >= 0)
		close(readers->error_fd);
	pthread_mutex_destroy(&readers->lock);
	pthread_cond_destroy(&readers->ready);
	free(readers->cpus);
	free(readers->threads);
	free(readers->tids);
	free(readers);
}
