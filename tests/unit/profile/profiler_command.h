/* What tests of the profilers share. */
#ifndef TEST_PROFILER_COMMAND_H
#define TEST_PROFILER_COMMAND_H
#include "profile/profiler.h"
#include <string.h>

static bool has_pair(const struct tk_profiler_command *c, const char *option, const char *value)
{
	for (size_t i = 0; c->words[i]; i++)
		if (strcmp(c->words[i], option) == 0)
			return strcmp(c->words[i + 1], value) == 0;
	return false;
}

#endif
