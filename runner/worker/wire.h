/* The wire between the tracker and its workers: JSON lines with limits, the same for both sides.
 * docs/reference/worker-protocol.md describes it. */
#ifndef TK_WORKER_WIRE_H
#define TK_WORKER_WIRE_H
#include "base/base.h"

#define TK_WIRE_PROTOCOL 2
#define TK_WIRE_LINE_MAX ((size_t)16 << 20)
#define TK_WIRE_DEPTH_MAX 16

struct tk_wire_reader {
	int fd;
	struct tk_buf buf;
	size_t scanned; /* no newline before this */
};

enum tk_wire_read { TK_WIRE_READ_LINE, TK_WIRE_READ_MORE, TK_WIRE_READ_END };

/* Takes a complete line out of the data read so far: TK_WIRE_READ_LINE with its parsed object in
 * *out, or TK_WIRE_READ_MORE. TK_EDATA if the line is not an object of this protocol or is longer
 * than the limit. */
int tk_wire_next_line(
        struct tk_wire_reader *r, enum tk_wire_read *what, json_t **out, struct tk_error *err);
/* One read(2). TK_WIRE_READ_END at the end of the input, else TK_WIRE_READ_MORE. */
int tk_wire_read_more(struct tk_wire_reader *r, enum tk_wire_read *what, struct tk_error *err);
void tk_wire_reader_free(struct tk_wire_reader *r);

/* TK_EDATA unless the line is one object without duplicate keys, within the limits, whose numbers
 * fit into a double. *out is a new reference. */
int tk_wire_parse(const char *line, size_t len, json_t **out, struct tk_error *err);
/* Writes one line; all of it, or TK_EIO. */
int tk_wire_write(int fd, const json_t *object, struct tk_error *err);
/* A JSON string of any bytes, at most `max` of them: what is not printable UTF-8 is replaced. New
 * reference. */
json_t *tk_wire_json_string(const char *text, size_t max);
/* Replaces what is not printable UTF-8 by spaces and question marks, in place. */
void tk_wire_sanitize(char *text);

/* The name of a configuration, and how many of them there may be. */
#define TK_WORKER_CONFIG_SIZE 128
#define TK_WORKER_CONFIGS_MAX 4096

#endif
