#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tk_option_parse_json(const char *arg, struct argp_state *state)
{
	bool json = strcmp(arg, "json") == 0;

	if (!json && strcmp(arg, "text") != 0)
		argp_error(state, "--format=%s: expected text or json", arg);
	return json;
}

size_t tk_option_parse_count(const char *arg, const char *name, struct argp_state *state)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || errno)
		argp_error(state, "--%s=%s: expected a number", name, arg);
	return n;
}
