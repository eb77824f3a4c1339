// SPDX-License-Identifier: LGPL-2.1-only
#include "live/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX_BYTES (16u << 20)

static char *read_path(const char *path)
{
	size_t len = 0, room = 4096;
	char *text = NULL, *grown;
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;

	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t n;

		if (!text || len + 1 >= room) {
			room = text ? room * 2 : room;
			grown = room > TEXT_MAX_BYTES ? NULL : realloc(text, room);
			if (!grown) {
				errno = ENOMEM;
				goto fail;
			}
			text = grown;
		}
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			goto fail;
		if (!n)
			break;
		len += n;
	}
	close(fd);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = 0;
	return text;

fail:
	saved = errno;
	free(text);
	close(fd);
	errno = saved;
	return NULL;
}

static char *vread(const char *fmt, va_list ap)
{
	char *path, *text;

	if (vasprintf(&path, fmt, ap) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	text = read_path(path);
	free(path);
	return text;
}

char *sl_text_read(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = vread(fmt, ap);
	va_end(ap);
	return text;
}

bool sl_text_read_u64(uint64_t *ret_value, const char *fmt, ...)
{
	unsigned long long value;
	char *text, *end;
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	text = vread(fmt, ap);
	va_end(ap);
	if (!text)
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	ok = isdigit((unsigned char)*text) && !*end && !errno;
	if (ok)
		*ret_value = value;
	free(text);
	return ok;
}

int sl_text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return -errno;
	do {
		n = write(fd, text, strlen(text));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		r = -errno;
	close(fd);
	return r;
}

int sl_cpulist_parse(const char *text, uint8_t *ret_set, struct sl_err *err)
{
	uint8_t set[SL_CPU_MAX] = { 0 };
	const char *at = text;

	do {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*at))
			goto malformed;
		first = last = strtoul(at, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				goto malformed;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || (*end && *end != ','))
			goto malformed;
		if (last >= SL_CPU_MAX)
			return sl_err_set(err, SL_EUSAGE, "CPU list '%s': CPU numbers go up to %d", text,
					  SL_CPU_MAX - 1);
		memset(set + first, 1, last - first + 1);
		at = *end ? end + 1 : end;
	} while (*at || at[-1] == ',');
	memcpy(ret_set, set, sizeof(set));
	return 0;

malformed:
	return sl_err_set(err, SL_EUSAGE, "CPU list '%s' is malformed: expected for example 0-3,8", text);
}

char *sl_cpulist_format(const uint8_t *set)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const char *comma = "";

	if (!out)
		return NULL;
	for (unsigned int cpu = 0; cpu < SL_CPU_MAX; cpu++) {
		unsigned int last = cpu;

		if (!set[cpu])
			continue;
		while (last + 1 < SL_CPU_MAX && set[last + 1])
			last++;
		fprintf(out, last > cpu ? "%s%u-%u" : "%s%u", comma, cpu, last);
		comma = ",";
		cpu = last;
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

void sl_kv_add(struct sl_kv_list *list, const char *key, const char *value)
{
	struct sl_kv kv;

	if (list->failed)
		return;
	if (list->nr == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct sl_kv *grown = realloc(list->items, room * sizeof(*grown));

		if (!grown) {
			list->failed = true;
			return;
		}
		list->items = grown;
		list->room = room;
	}
	kv.key = strdup(key);
	kv.value = strdup(value);
	if (!kv.key || !kv.value) {
		free(kv.key);
		free(kv.value);
		list->failed = true;
		return;
	}
	for (char *c = kv.value; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	list->items[list->nr++] = kv;
}

void sl_kv_addf(struct sl_kv_list *list, const char *key, const char *fmt, ...)
{
	char *value;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&value, fmt, ap);
	va_end(ap);
	if (n < 0) {
		list->failed = true;
		return;
	}
	sl_kv_add(list, key, value);
	free(value);
}

const char *sl_kv_get(const struct sl_kv_list *list, const char *key)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].key, key))
			return list->items[i].value;
	return NULL;
}

void sl_kv_clear(struct sl_kv_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].key);
		free(list->items[i].value);
	}
	free(list->items);
	*list = (struct sl_kv_list){ 0 };
}
