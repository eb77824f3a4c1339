// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tried in this order; the first whose probe likes the first bytes gets the file. */
static const struct sl_source_ops *const formats[] = {
	&sl_source_dat_ops,
	&sl_source_text_ops,
};

#define HEAD_BYTES 512

/* Formats that we know by sight and do not read. */
static int check_foreign(const char *path, const unsigned char *head, unsigned int len,
			 struct sl_err *err)
{
	if (len >= 8 && (!memcmp(head, "PERFILE2", 8) || !memcmp(head, "PERFFILE", 8) ||
			 !memcmp(head, "2ELIFREP", 8)))
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: perf.data, not supported yet: record with `schedlat "
				  "record` or trace-cmd", path);
	return 0;
}

static bool looks_like_text(const unsigned char *head, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (head[i] < ' ' && !strchr("\t\n\r\f\v", head[i] ? head[i] : 1))
			return false;
	return true;
}

static int open_fd(const char *path, int fd, struct sl_source **ret_source, struct sl_err *err)
{
	unsigned char head[HEAD_BYTES];
	unsigned int i, len;
	struct stat st;
	ssize_t got;
	int r;

	if (fstat(fd, &st) < 0)
		return sl_err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return sl_err_set(err, SL_EDATA,
				  "cannot read %s: it is a directory: give the trace file in it", path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: a trace is read at many places, which a pipe or "
				  "device does not allow: save it to a file and give its name", path);
	do {
		got = pread(fd, head, sizeof(head), 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return sl_err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	if (got == 0)
		return sl_err_set(err, SL_EDATA,
				  "cannot read %s: it is empty: was the recording interrupted? record "
				  "again", path);
	len = (unsigned int)got;
	r = check_foreign(path, head, len, err);
	if (r)
		return r;
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i]->probe(head, len))
			return formats[i]->open(path, fd, ret_source, err);
	if (looks_like_text(head, len))
		return sl_err_set(err, SL_EDATA,
				  "cannot read %s: it is a text file, not a trace: give a trace.dat "
				  "(`schedlat record` or trace-cmd; printed reports cannot be read back)",
				  path);
	return sl_err_set(err, SL_EDATA,
			  "cannot read %s: not a trace.dat: record with `schedlat record` or "
			  "trace-cmd", path);
}

int sl_source_open(const char *path, struct sl_source **ret_source, struct sl_err *err)
{
	bool standard_input = !strcmp(path, "-");
	int fd, r;

	fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
			      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return sl_err_set(err, -errno, "cannot open %s: %s%s", path, strerror(errno),
				  errno == ENOENT ? ": name a recording with -i, or make one with "
						    "`schedlat record`" : "");
	r = open_fd(standard_input ? "standard input" : path, fd, ret_source, err);
	if (r < 0)
		close(fd);
	return r;
}

const struct sl_source_info *sl_source_info(const struct sl_source *source)
{
	return &source->info;
}

int sl_source_next(struct sl_source *source, struct sl_event *ret_events, unsigned int max,
		   struct sl_err *err)
{
	return source->ops->next(source, ret_events, max, err);
}

int sl_source_rewind(struct sl_source *source, struct sl_err *err)
{
	return source->ops->rewind(source, err);
}

void sl_source_free(struct sl_source *source)
{
	if (source)
		source->ops->free(source);
}

unsigned int sl_source_progress(const struct sl_source *source)
{
	unsigned int permille = source->ops->progress(source);

	return permille < 1000 ? permille : 1000;
}
