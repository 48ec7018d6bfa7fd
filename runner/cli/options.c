#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

#define CHOICES_MAX 16

/* Cuts "a|b|c" into its words. */
static size_t split_choices(char *choices, const char *words[CHOICES_MAX + 1])
{
	size_t count = 0;

	for (char *word; count < CHOICES_MAX && (word = strsep(&choices, "|"));)
		words[count++] = word;
	words[count] = NULL;
	return count;
}

/* `words` ends with NULL. */
static void refuse_choice(
        const char *arg, const char *name, const char *const *words, struct argp_state *state)
{
	char list[TK_SUGGEST_HINT_SIZE], hint[TK_SUGGEST_HINT_SIZE];

	argp_error(state, "--%s=%s: expected %s%s", name, arg, tk_suggest_list(words, list),
	        tk_suggest_hint(arg, words, "", hint));
}

size_t tk_option_parse_choice(
        const char *arg, const char *name, const char *choices, struct argp_state *state)
{
	char text[256];
	const char *words[CHOICES_MAX + 1];

	snprintf(text, sizeof text, "%s", choices);
	size_t count = split_choices(text, words);
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], arg) == 0)
			return i;
	refuse_choice(arg, name, words, state);
	return 0;
}

int tk_option_fail_action(const char *action, const char *const *known, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];

	return tk_fail(err, TK_EUSAGE, "unknown action \"%.60s\"%s", action,
	        tk_suggest_hint(action, known, NULL, hint));
}

bool tk_option_parse_json(const char *arg, struct argp_state *state)
{
	return tk_option_parse_choice(arg, "format", "text|json", state) == 1;
}

enum tk_mode tk_option_parse_mode(const char *arg, struct argp_state *state)
{
	const char *words[TK_MODE_COUNT + 1] = {0};
	enum tk_mode mode = TK_MODE_COUNT;

	/* Former names of modes are understood too. */
	if (!tk_mode_parse(arg, &mode))
		return mode;
	for (int i = 0; i < TK_MODE_COUNT; i++)
		words[i] = tk_mode_name((enum tk_mode)i);
	refuse_choice(arg, "mode", words, state);
	return TK_MODE_COUNT;
}

double tk_option_parse_quantity(enum tk_quantity kind, const char *arg, const char *name,
        double min, double max, struct argp_state *state)
{
	struct tk_error why = {0};
	double value = min;

	if (tk_units_parse(kind, arg, min, max, &value, &why))
		argp_error(state, "--%s: %s", name, why.message);
	return value;
}

size_t tk_option_parse_count(const char *arg, const char *name, struct argp_state *state)
{
	return (size_t)tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, name, 0, 0x1p53, state);
}

void tk_option_parse_devices(char *list, struct tk_device_names *out, struct argp_state *state)
{
	for (char *word; (word = strsep(&list, ","));) {
		if (!*word)
			continue;
		if (out->count == TK_DEVICE_NAMES_MAX)
			argp_error(state, "--devices: more than %d devices", TK_DEVICE_NAMES_MAX);
		out->names[out->count++] = word;
	}
	if (!out->count)
		argp_error(state, "--devices: expected a list of devices");
}
