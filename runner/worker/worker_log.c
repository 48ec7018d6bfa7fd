/* See worker_log.h. */
#include "worker/worker_log.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/wire.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROTATE_BYTES (16ll << 20)
#define TAIL_BYTES 4096
#define KEPT_BYTES (1ll << 20) /* of a request that floods the log */

/* Keeps one old log. */
static void rotate(const char *path)
{
	struct stat st;
	char *old = NULL;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < ROTATE_BYTES ||
	        asprintf(&old, "%s.1", path) < 0)
		return;
	if (rename(path, old) != 0)
		tk_log(TK_LOG_WARN, "worker_log", NULL, "cannot rotate the log %s", path);
	free(old);
}

int tk_worker_log_open(struct tk_worker_log *log, const char *path, struct tk_error *err)
{
	struct stat st;
	if (path)
		rotate(path);
	else
		path = "/dev/null";
	*log = (struct tk_worker_log){
	        .fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
	if (log->fd < 0)
		return tk_fail_errno(err, "%s", path);
	log->is_file = fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode);
	return TK_OK;
}

void tk_worker_log_close(struct tk_worker_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

static int64_t log_size(const struct tk_worker_log *log)
{
	struct stat st;
	return log->is_file && fstat(log->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

void tk_worker_log_mark(struct tk_worker_log *log)
{
	log->start_bytes = log_size(log);
}

bool tk_worker_log_is_flooded(const struct tk_worker_log *log)
{
	return log_size(log) - log->start_bytes > TK_WORKER_LOG_MAX_BYTES;
}

void tk_worker_log_truncate(const struct tk_worker_log *log)
{
	if (ftruncate(log->fd, log->start_bytes + KEPT_BYTES) != 0)
		tk_log(TK_LOG_WARN, "worker_log", NULL, "cannot truncate the log of a worker");
}

void tk_worker_log_last_line(const struct tk_worker_log *log, char *out, size_t size)
{
	char tail[TAIL_BYTES + 1];
	int64_t end = log_size(log), start = end - TAIL_BYTES;
	if (start < log->start_bytes)
		start = log->start_bytes;
	out[0] = 0;
	ssize_t n = end > start ? pread(log->fd, tail, (size_t)(end - start), start) : 0;
	for (ssize_t i = 0; i < n; i++)
		if (tail[i] == 0)
			tail[i] = ' ';
	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' '))
		n--;
	if (n <= 0)
		return;
	tail[n] = 0;
	const char *line = strrchr(tail, '\n');
	snprintf(out, size, "%.200s", line ? line + 1 : tail);
	tk_wire_sanitize(out);
}
