/* For backends with a struct tk_space: its parameters, and its configurations as text:
 * "NAME=VALUE,..." with every parameter once, in the order of the space. */
#ifndef TRACKER_SPACE_H
#define TRACKER_SPACE_H
#include "tracker_abi.h"
#include <stdlib.h>
#include <string.h>

/* A struct tk_parameter `name` that has the values of the array `name_values`. */
#define TK_PARAMETER(name) \
	{ \
#name, name##_values, sizeof name##_values / sizeof *name##_values \
	}

/* 1: the text is a point of the space, and *values has its values; what allows() says of them is
 * not asked. 0: it is not; *values is undefined. */
static inline int tk_space_parse(const struct tk_space *space, const char *config, int64_t *values)
{
	for (uint32_t i = 0; i < space->count; i++) {
		const struct tk_parameter *p = &space->parameters[i];
		size_t name = strlen(p->name);
		char *end;
		uint32_t k = 0;
		if (i && *config++ != ',')
			return 0;
		if (strncmp(config, p->name, name) != 0 || config[name] != '=')
			return 0;
		values[i] = strtoll(config + name + 1, &end, 10);
		if (end == config + name + 1)
			return 0;
		while (k < p->count && p->values[k] != values[i])
			k++;
		if (k == p->count)
			return 0;
		config = end;
	}
	return !*config;
}

#endif
