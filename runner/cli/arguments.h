/* What people type: kinds of options for TK_OPT_PARSED() and TK_OPT_WORD(), moments, names of
 * series. */
#ifndef TK_CLI_ARGUMENTS_H
#define TK_CLI_ARGUMENTS_H
#include <jansson.h>

#include "base/options.h"
#include "core/verdict.h"
#include "core/vocabulary.h"

struct tk_error;
struct tk_store;

/* "--mode=MODE" as an enum tk_mode, and the start of its help */
#define TK_OPTION_MODE_WORD(id, name, ...) "|" name
#define TK_OPT_MODE(at, help_) \
	TK_OPT_NAME(WORD, "mode", 0, help_), \
	        .arg = "MODE", .words = TK_MODES(TK_OPTION_MODE_WORD) + 1, .to = (void *)(at), \
	        .size = sizeof *(at)
#define TK_OPTION_MODE_HELP \
	"Measure in this mode: cold, hot, paced, sustained, contended or sequence"
/* of a command that does not measure within a sequence */
#define TK_OPTION_SINGLE_MODE_HELP "Measure in this mode: cold, hot, paced, sustained or contended"

/* "regressed,missing": a set of statuses; "none" is the empty one. */
struct tk_status_set {
	bool is_given;
	bool has[TK_VERDICT_STATUS_COUNT];
};
int tk_option_parse_statuses(const char *text, void *set, struct tk_error *err);
/* Takes the list of the configuration where none was given. */
void tk_status_set_default(struct tk_status_set *set, char *const *words);

/* A const char *: an address that begins with https://, http:// or file:// */
int tk_option_parse_url(const char *text, void *to, struct tk_error *err);

/* ---- moments --------------------------------------------------------------------------------- */

/* "7d" (that long before now), a date or time ("2026-11-21", "2026-11-21T09:42:00Z",
 * "@1700000000"), "today", "yesterday" or "last week" -> seconds since 1970, UTC. A day is its
 * first second, with `end_of_day` its last one. TK_EUSAGE: none of these, with a message. */
int tk_when_parse(
        const char *text, int64_t now_s, bool end_of_day, int64_t *out, struct tk_error *err);

/* In an imported history that ended before a moment that is relative to now ("7d", "yesterday"),
 * *now_s becomes the time of its newest night, and a line on stderr says so. Of a machine that
 * measures here, no night in a range is a failure. machine NULL: any. */
int tk_when_count_from_end(struct tk_store *s, const char *text, const char *machine,
        int64_t *now_s, struct tk_error *err);

/* ---- series ---------------------------------------------------------------------------------- */

enum tk_likeness { TK_LIKENESS_NONE, TK_LIKENESS_PART, TK_LIKENESS_START, TK_LIKENESS_EQUAL };

/* The series that are most like `text`, by name: `id` and `slug` of the one with this name; else of
 * those that match the pattern or start with it; else of those with a part like it, in the name or,
 * where `problem` is not NULL, in the title; a problem that is not "" is one itself. The caller
 * frees *out, also after a failure. */
int tk_series_find(struct tk_store *s, const char *text, const char *problem, json_t **out,
        enum tk_likeness *likeness, struct tk_error *err);

struct tk_series_ref {
	int64_t series_id;
	char slug[160];
	char good[128], bad[128]; /* the range of its newest alert or verdict; "": unknown */
};

/* `text` is a series (its name, the start of it, a pattern, or a part that only one series has) or
 * the first 4 or more digits of the id of an alert or group, which stands for its series with the
 * largest change. TK_EUSAGE: none, or several (the message names some). */
int tk_series_ref_resolve(
        struct tk_store *s, const char *text, struct tk_series_ref *out, struct tk_error *err);

#endif
