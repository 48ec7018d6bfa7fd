#include "cli/options.h"

#include <string.h>

#include "base/error.h"

bool tk_option_parse_json(const char *arg, struct argp_state *state)
{
	bool json = strcmp(arg, "json") == 0;

	if (!json && strcmp(arg, "text") != 0)
		argp_error(state, "--format=%s: expected text or json", arg);
	return json;
}

enum tk_mode tk_option_parse_mode(const char *arg, struct argp_state *state)
{
	enum tk_mode mode = TK_MODE_COUNT;

	if (tk_mode_parse(arg, &mode))
		argp_error(state, "--mode=%s: expected " TK_OPTION_MODES, arg);
	return mode;
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
