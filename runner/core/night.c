#include "core/night.h"
#include <jansson.h>
#include <stdlib.h>

static uint32_t parse_part(const char *text)
{
	unsigned long part = text ? strtoul(text, NULL, 10) : 0;

	return part <= TK_NIGHT_PARTS_MAX ? (uint32_t)part : 0;
}

struct tk_night_coverage tk_night_read_coverage(const char *summary)
{
	json_t *o = json_loads(summary, 0, NULL), *request = json_object_get(o, "request");
	struct tk_night_coverage coverage = {
	        .has_all_upstreams = json_object_get(request, "upstream") == NULL,
	        .part = parse_part(json_string_value(json_object_get(request, "part")))};

	json_decref(o);
	return coverage;
}

void tk_night_tally_add(struct tk_night_tally *c, struct tk_night_coverage night)
{
	if (!night.has_all_upstreams)
		return;
	if (!night.part) {
		c->whole++;
		return;
	}
	if (++c->of_part[night.part] > c->of_part[c->most_frequent_part])
		c->most_frequent_part = night.part;
}

uint32_t tk_night_tally_total(const struct tk_night_tally *c)
{
	return c->whole + c->of_part[c->most_frequent_part];
}
