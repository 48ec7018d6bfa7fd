/* The log of a worker process: what it and its backend print. Private to worker/. */
#ifndef TK_WORKER_LOG_H
#define TK_WORKER_LOG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

struct tk_worker_log {
	int fd;
	bool is_file;        /* only a regular file has a size */
	int64_t start_bytes; /* size when the current request was sent */
};

/* Opens for appending; a log that has grown is moved to PATH.1 first. NULL: /dev/null. */
int tk_worker_log_open(struct tk_worker_log *log, const char *path, struct tk_error *err);
void tk_worker_log_close(struct tk_worker_log *log);
/* Output from here on counts for a new request. */
void tk_worker_log_mark(struct tk_worker_log *log);
/* Whether the current request has printed more than TK_WORKER_LOG_MAX_BYTES. */
#define TK_WORKER_LOG_MAX_BYTES (64ll << 20)
bool tk_worker_log_is_flooded(const struct tk_worker_log *log);
/* Cuts off all but the first MiB of what the current request has printed. */
void tk_worker_log_truncate(const struct tk_worker_log *log);
/* The last line that the current request has printed, sanitized; "" if none. */
void tk_worker_log_last_line(const struct tk_worker_log *log, char *out, size_t size);

#endif
