/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * trace.dat, lowest level: bounded reads and the codecs.
 *
 * A cursor walks a range of the file (through a small window that grows to the
 * largest item asked for) or a block of memory. A read past the end of the range
 * or of the file sets `cut` and gives zeros from then on, so that a parser checks
 * once at the end of an item and not at every number.
 */
#ifndef SL_TRACE_DAT_FILE_H
#define SL_TRACE_DAT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct sl_dat_file {
	int fd;
	const char *path;
	uint64_t bytes;
	bool swap;		/* the file has the other byte order than this machine */
	bool big_endian;
};

/* pread() everything that is there. Returns the bytes read (short only at the end) or -errno. */
int64_t sl_dat_pread(const struct sl_dat_file *file, void *buf, size_t len, uint64_t offset);

struct sl_dat_cursor {
	const struct sl_dat_file *file;
	uint64_t pos, end;	/* in the file, or in mem */
	bool cut;		/* something was asked for that is not there */
	int error;		/* -errno of a failed read or allocation, with cut */
	unsigned char *mem;	/* owned; whole range, or a window of the file */
	bool is_window;
	uint64_t window_pos;
	size_t window_len, window_size;
};

/* A range of the file; `end` is lowered to the file's size. */
void sl_dat_cursor_init_file(struct sl_dat_cursor *c, const struct sl_dat_file *file,
			     uint64_t start, uint64_t end);
/* A block of memory (allocated with malloc()) that the cursor takes over. */
void sl_dat_cursor_init_mem(struct sl_dat_cursor *c, const struct sl_dat_file *file, void *mem,
			    size_t len);
void sl_dat_cursor_release(struct sl_dat_cursor *c);

/* The next len bytes, contiguous, without consuming them; NULL (and cut) when not there. */
const unsigned char *sl_dat_peek(struct sl_dat_cursor *c, size_t len);
/* The same, consumed. The pointer lives until the next call. */
const unsigned char *sl_dat_take(struct sl_dat_cursor *c, size_t len);
/* Bytes that can be had in one piece without a large read: at most len, 0 at the end. */
size_t sl_dat_ahead(struct sl_dat_cursor *c, size_t len, const unsigned char **ret_p);
void sl_dat_skip(struct sl_dat_cursor *c, uint64_t len);
uint16_t sl_dat_u16(struct sl_dat_cursor *c);
uint32_t sl_dat_u32(struct sl_dat_cursor *c);
uint64_t sl_dat_u64(struct sl_dat_cursor *c);
/* A NUL-terminated string of at most size - 1 bytes into buf; a longer one is cut off. */
void sl_dat_string(struct sl_dat_cursor *c, char *buf, size_t size);
/* Bytes left in the range. */
uint64_t sl_dat_left(const struct sl_dat_cursor *c);

enum sl_dat_codec_id { SL_DC_NONE, SL_DC_ZLIB, SL_DC_ZSTD };

struct sl_dat_codec {
	enum sl_dat_codec_id id;
	void *zstd;		/* ZSTD_DCtx, made when first needed */
};

void sl_dat_codec_release(struct sl_dat_codec *codec);

/* Decompress into exactly dst_len bytes. False when the data does not give them. */
bool sl_dat_decompress(struct sl_dat_codec *codec, void *dst, size_t dst_len, const void *src,
		       size_t src_len);

/* Largest piece that one compressed block may claim to hold. */
#define SL_DAT_BLOCK_MAX (64u << 20)

#endif
