// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/dat_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZSTD_STATIC_LINKING_ONLY	/* ZSTD_d_format */
#include <zlib.h>
#include <zstd.h>

#include "event/bytes.h"

#define WINDOW_MIN 65536

int64_t sl_dat_pread(const struct sl_dat_file *file, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX - len)
		return 0;
	while (done < len) {
		ssize_t n = pread(file->fd, (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

void sl_dat_cursor_init_file(struct sl_dat_cursor *c, const struct sl_dat_file *file,
			     uint64_t start, uint64_t end)
{
	memset(c, 0, sizeof(*c));
	c->file = file;
	c->end = end < file->bytes ? end : file->bytes;
	c->pos = start < c->end ? start : c->end;
	c->is_window = true;
}

void sl_dat_cursor_init_mem(struct sl_dat_cursor *c, const struct sl_dat_file *file, void *mem,
			    size_t len)
{
	memset(c, 0, sizeof(*c));
	c->file = file;
	c->mem = mem;
	c->end = len;
}

void sl_dat_cursor_release(struct sl_dat_cursor *c)
{
	free(c->mem);
	c->mem = NULL;
}

uint64_t sl_dat_left(const struct sl_dat_cursor *c)
{
	return c->end - c->pos;
}

static const unsigned char *fail(struct sl_dat_cursor *c, int error)
{
	c->cut = true;
	if (!c->error)
		c->error = error;
	c->pos = c->end;
	return NULL;
}

/* Make the window cover [pos, pos + len), which lies inside the range. */
static const unsigned char *fill(struct sl_dat_cursor *c, size_t len)
{
	uint64_t left = c->end - c->pos;
	size_t want = len > WINDOW_MIN ? len : WINDOW_MIN;
	int64_t got;

	if (want > left)
		want = (size_t)left;
	if (want > c->window_size) {
		free(c->mem);
		c->window_len = c->window_size = 0;
		c->mem = malloc(want);
		if (!c->mem)
			return fail(c, -ENOMEM);
		c->window_size = want;
	}
	got = sl_dat_pread(c->file, c->mem, want, c->pos);
	if (got < 0)
		return fail(c, (int)got);
	c->window_pos = c->pos;
	c->window_len = (size_t)got;
	return (size_t)got < len ? fail(c, 0) : c->mem;
}

const unsigned char *sl_dat_peek(struct sl_dat_cursor *c, size_t len)
{
	if (len > c->end - c->pos)
		return fail(c, 0);
	if (!c->is_window)
		return c->mem + c->pos;
	if (c->window_len && c->pos >= c->window_pos &&
	    c->pos - c->window_pos <= c->window_len &&
	    len <= c->window_len - (size_t)(c->pos - c->window_pos))
		return c->mem + (c->pos - c->window_pos);
	return fill(c, len);
}

const unsigned char *sl_dat_take(struct sl_dat_cursor *c, size_t len)
{
	const unsigned char *p = sl_dat_peek(c, len);

	if (p)
		c->pos += len;
	return p;
}

size_t sl_dat_ahead(struct sl_dat_cursor *c, size_t len, const unsigned char **ret_p)
{
	uint64_t left = sl_dat_left(c);
	size_t n = len < left ? len : (size_t)left;

	*ret_p = n ? sl_dat_peek(c, n) : NULL;
	return *ret_p ? n : 0;
}

void sl_dat_skip(struct sl_dat_cursor *c, uint64_t len)
{
	if (len > c->end - c->pos)
		fail(c, 0);
	else
		c->pos += len;
}

uint16_t sl_dat_u16(struct sl_dat_cursor *c)
{
	const unsigned char *p = sl_dat_take(c, 2);

	return p ? sl_load16(p, c->file->swap) : 0;
}

uint32_t sl_dat_u32(struct sl_dat_cursor *c)
{
	const unsigned char *p = sl_dat_take(c, 4);

	return p ? sl_load32(p, c->file->swap) : 0;
}

uint64_t sl_dat_u64(struct sl_dat_cursor *c)
{
	const unsigned char *p = sl_dat_take(c, 8);

	return p ? sl_load64(p, c->file->swap) : 0;
}

void sl_dat_string(struct sl_dat_cursor *c, char *buf, size_t size)
{
	size_t n = 0;

	for (;;) {
		const unsigned char *p = sl_dat_take(c, 1);

		if (!p || !*p)
			break;
		if (n + 1 < size)
			buf[n++] = (char)*p;
	}
	buf[n] = '\0';
}

void sl_dat_codec_release(struct sl_dat_codec *codec)
{
	ZSTD_freeDCtx(codec->zstd);
	codec->zstd = NULL;
}

/*
 * trace-cmd writes frames without the four magic bytes (ZSTD_f_zstd1_magicless);
 * ordinary frames are accepted too.
 */
static bool zstd_block(struct sl_dat_codec *codec, void *dst, size_t dst_len, const void *src,
		       size_t src_len)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	bool plain = src_len >= sizeof(magic) && !memcmp(src, magic, sizeof(magic));
	unsigned int round;

	if (!codec->zstd)
		codec->zstd = ZSTD_createDCtx();
	if (!codec->zstd)
		return false;
	for (round = 0; round < 2; round++, plain = !plain) {
		size_t got;

		if (ZSTD_isError(ZSTD_DCtx_setParameter(codec->zstd, ZSTD_d_format,
							plain ? (int)ZSTD_f_zstd1 :
								(int)ZSTD_f_zstd1_magicless)))
			return false;
		got = ZSTD_decompressDCtx(codec->zstd, dst, dst_len, src, src_len);
		if (!ZSTD_isError(got))
			return got == dst_len;
	}
	return false;
}

bool sl_dat_decompress(struct sl_dat_codec *codec, void *dst, size_t dst_len, const void *src,
		       size_t src_len)
{
	switch (codec->id) {
	case SL_DC_NONE:
		return false;
	case SL_DC_ZLIB: {
		uLongf got = (uLongf)dst_len;

		return uncompress(dst, &got, src, (uLong)src_len) == Z_OK && got == dst_len;
	}
	case SL_DC_ZSTD:
		return zstd_block(codec, dst, dst_len, src, src_len);
	}
	return false;
}
