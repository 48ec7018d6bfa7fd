/* Kinds of options with the words of core, for TK_OPT_PARSED() and TK_OPT_WORD(). */
#ifndef TK_CLI_OPTIONS_H
#define TK_CLI_OPTIONS_H
#include "base/options.h"
#include "core/mode.h"
#include "core/verdict.h"

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

#endif
