/* The log: human lines on stderr, the same events as JSON lines in --log=FILE.
 *
 * The level and the two sinks are the only global mutable state of the program. Results never go
 * here (stdout is results). */
#ifndef TK_BASE_LOG_H
#define TK_BASE_LOG_H
#include <jansson.h>
#include <stdbool.h>

struct tk_error;

enum tk_log_level { TK_LOG_ERROR, TK_LOG_WARN, TK_LOG_INFO, TK_LOG_DEBUG };

void tk_log_set_level(enum tk_log_level level); /* what reaches stderr; the file gets everything */
int tk_log_open(const char *jsonl_path,
        struct tk_error *err); /* appends; each line {"time","level","event","message",fields...} */
void tk_log_close(void);

/* `event` is a stable word for programs ("build_failed"); `fields` (a JSON object, may be NULL) is
 * stolen. */
void tk_log(enum tk_log_level level, const char *event, json_t *fields, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* For the log file only: events that stderr shows in another form. */
void tk_log_record(enum tk_log_level level, const char *event, json_t *fields, const char *message);

/* Called before and after a line is written to stderr, so that a live progress line can step aside;
 * NULL to remove. */
void tk_log_set_hooks(void (*before)(void *), void (*after)(void *), void *arg);

#endif
