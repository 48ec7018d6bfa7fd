/* See options.h. */
#include "cli/options.h"

#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static int fail_status(const char *word, struct tk_error *err)
{
	const char *known[TK_VERDICT_STATUS_COUNT + 1] = {0};
	char hint[TK_SUGGEST_HINT_SIZE];

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		known[i] = tk_verdict_status_name((enum tk_verdict_status)i);
	return tk_fail(err, TK_EUSAGE, "unknown status \"%s\"%s", word,
	        tk_suggest_hint(word, known,
	                "; expected regressed, newly-failed, missing, improved, ... "
	                "(docs/reference/diff.md)",
	                hint));
}

int tk_option_parse_statuses(const char *text, void *to, struct tk_error *err)
{
	struct tk_status_set *set = to;
	enum tk_verdict_status s;
	char word[64];

	if (!*text) /* an unset variable of a script, which would never fail */
		return tk_fail(err, TK_EUSAGE, "expected a list of statuses, or none");
	*set = (struct tk_status_set){.is_given = true};
	if (strcmp(text, "none") == 0)
		return TK_OK;
	for (; *text; text += strcspn(text, ","), text += *text == ',') {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ","), text);
		if (tk_verdict_status_parse(word, &s))
			return fail_status(word, err);
		set->has[s] = true;
	}
	return TK_OK;
}

void tk_status_set_default(struct tk_status_set *set, char *const *words)
{
	enum tk_verdict_status s;

	for (; !set->is_given && words && *words; words++)
		if (!tk_verdict_status_parse(*words, &s)) /* "none" is not a status */
			set->has[s] = true;
}

int tk_option_parse_url(const char *text, void *to, struct tk_error *err)
{
	static const char *const starts[] = {"https://", "http://", "file://"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(text, starts[i], strlen(starts[i])) == 0) {
			*(const char **)to = text;
			return TK_OK;
		}
	return tk_fail(err, TK_EUSAGE,
	        "expected an address that begins with https://, http:// or file://");
}
