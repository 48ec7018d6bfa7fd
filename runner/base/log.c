/* Two sinks for one event: a line for people on stderr, a JSON line for programs in a file.
 *
 * A line goes out in one write, so that lines of several processes on one file never mix. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

static struct {
	enum tk_log_level level;
	int fd;
	void (*before)(void *), (*after)(void *);
	void *arg;
} the_log = {.level = TK_LOG_INFO, .fd = -1};

static const char *const level_words[] = {"error", "warning", "info", "debug"};

void tk_log_set_level(enum tk_log_level level)
{
	the_log.level = level;
}

void tk_log_set_hooks(void (*before)(void *), void (*after)(void *), void *arg)
{
	the_log.before = before;
	the_log.after = after;
	the_log.arg = arg;
}

int tk_log_open(const char *jsonl_path, struct tk_error *err)
{
	int fd = open(jsonl_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		return tk_fail_errno(err, "log file %s", jsonl_path);
	tk_log_close();
	the_log.fd = fd;
	return TK_OK;
}

void tk_log_close(void)
{
	if (the_log.fd >= 0)
		close(the_log.fd);
	the_log.fd = -1;
}

/* A log that cannot be written must not stop a night: failures are ignored. */
static void write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		data += n;
		len -= (size_t)n;
	}
}

/* `message` is valid UTF-8; fields that jansson cannot write (made with its _nocheck functions) are
 * left out, not the line. */
static char *json_line(
        enum tk_log_level level, const char *event, json_t *fields, const char *message)
{
	char now[TK_TIME_ISO_SIZE];
	json_t *line =
	        json_pack("{s:s, s:s, s:s, s:s}", "time", tk_time_format_iso(tk_clock_now_s(), now),
	                "level", level_words[level], "event", event, "message", message);
	char *text;

	if (!line)
		return NULL;
	if (fields)
		json_object_update_missing(line, fields);
	text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text && fields) {
		json_decref(line);
		return json_line(level, event, NULL, message);
	}
	json_decref(line);
	return text;
}

static void to_file(enum tk_log_level level, const char *event, json_t *fields, const char *message)
{
	char *text = json_line(level, event, fields, message);
	size_t len;

	if (!text)
		return;
	len = strlen(text);
	text[len] = '\n'; /* in place of the NUL: one write, one line */
	write_all(the_log.fd, text, len + 1);
	free(text);
}

/* Names of commits and output of tools end up here: no control character of theirs may reach a
 * terminal. */
static void to_stderr(enum tk_log_level level, const char *message)
{
	struct tk_buf line = TK_BUF_INIT;

	tk_buf_add_str(&line, "tracker: ");
	if (level <= TK_LOG_WARN)
		tk_buf_add_printf(&line, "%s: ", level_words[level]);
	tk_buf_add_str(&line, message);
	if (line.data && !line.status)
		tk_text_sanitize(line.data, "\n\t", '?');
	tk_buf_add_char(&line, '\n');
	if (the_log.before)
		the_log.before(the_log.arg);
	write_all(STDERR_FILENO, tk_buf_cstr(&line), line.status ? 0 : line.len);
	if (the_log.after)
		the_log.after(the_log.arg);
	tk_buf_free(&line);
}

void tk_log(enum tk_log_level level, const char *event, json_t *fields, const char *fmt, ...)
{
	struct tk_buf raw = TK_BUF_INIT, message = TK_BUF_INIT;
	va_list ap;

	if (level <= the_log.level || the_log.fd >= 0) {
		va_start(ap, fmt);
		tk_buf_add_vprintf(&raw, fmt, ap);
		va_end(ap);
		tk_buf_add_utf8(&message, tk_buf_cstr(&raw), raw.status ? 0 : raw.len);
		if (the_log.fd >= 0)
			to_file(level, event, fields, tk_buf_cstr(&message));
		if (level <= the_log.level)
			to_stderr(level, tk_buf_cstr(&message));
	}
	tk_buf_free(&raw);
	tk_buf_free(&message);
	json_decref(fields);
}

void tk_log_record(enum tk_log_level level, const char *event, json_t *fields, const char *message)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_buf_add_utf8(&text, message, strlen(message));
	if (the_log.fd >= 0)
		to_file(level, event, fields, tk_buf_cstr(&text));
	tk_buf_free(&text);
	json_decref(fields);
}
