/* Two sinks for one event: a line for people on stderr, a JSON line for programs in a file.
 *
 * A line goes out in one write, so that lines of several processes on one file never mix. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

json_t *tk_json_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *tk_json_text(const char *s)
{
	json_t *v = s && *s ? json_string(s) : json_null();

	return v ? v : json_string("?");
}

json_t *tk_json_valid_text(const char *s)
{
	AUTO(tk_buf) valid = TK_BUF_INIT;

	tk_buf_add_utf8(&valid, s, strlen(s));
	return json_string(tk_buf_cstr(&valid));
}

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
	text[len] = '\n';                            /* in place of the NUL: one write, one line */
	tk_file_write_fd(the_log.fd, text, len + 1); /* one that cannot be written stops no night */
	free(text);
}

/* Names of commits and output of tools end up here: no control character of theirs may reach a
 * terminal. */
static void to_stderr(enum tk_log_level level, const char *message)
{
	AUTO(tk_buf) line = TK_BUF_INIT;

	tk_buf_add_str(&line, "tracker: ");
	if (level <= TK_LOG_WARN)
		tk_buf_add_printf(&line, "%s: ", level_words[level]);
	tk_buf_add_str(&line, message);
	tk_text_sanitize(line.data, "\n\t", '?');
	tk_buf_add_char(&line, '\n');
	if (the_log.before)
		the_log.before(the_log.arg);
	tk_file_write_fd(STDERR_FILENO, tk_buf_cstr(&line), line.len);
	if (the_log.after)
		the_log.after(the_log.arg);
}

void tk_log_record(enum tk_log_level level, const char *event, json_t *fields, const char *message)
{
	AUTO(tk_buf) text = TK_BUF_INIT;

	tk_buf_add_utf8(&text, message, strlen(message));
	if (the_log.fd >= 0)
		to_file(level, event, fields, tk_buf_cstr(&text));
	json_decref(fields);
}

void tk_log(enum tk_log_level level, const char *event, json_t *fields, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	AUTO_TEXT message = tk_vsprintf(fmt, ap);
	va_end(ap);
	if (level <= the_log.level)
		to_stderr(level, message);
	tk_log_record(level, event, fields, message);
}
