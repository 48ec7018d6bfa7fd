/* What formats have in common: foreign units (the tracker's equivalents, and which direction is
 * better), times, and values in messages. */
#include "base/clock.h"
#include "base/text.h"
#include "store/import/import.h"
#include <string.h>
#include <strings.h>

#define TIME "time", "ns", false
#define MEMORY "memory", "bytes", false
#define BYTES "bandwidth", "gb_per_s", true
#define FLOPS "flops", "gflop_per_s", true

static const struct {
	const char *word; /* with case only where another unit differs by it alone */
	double factor;
	const char *metric, *unit;
	bool higher;
} units[] = {
        {"ns", 1, TIME},
        {"nsec", 1, TIME},
        {"nanosecond", 1, TIME},
        {"nanoseconds", 1, TIME},
        {"us", 1e3, TIME},
        {"usec", 1e3, TIME},
        {"\xc2\xb5s", 1e3, TIME},
        {"\xce\xbcs", 1e3, TIME},
        {"microseconds", 1e3, TIME},
        {"ms", 1e6, TIME},
        {"msec", 1e6, TIME},
        {"milliseconds", 1e6, TIME},
        {"s", 1e9, TIME},
        {"sec", 1e9, TIME},
        {"second", 1e9, TIME},
        {"seconds", 1e9, TIME},
        {"min", 60e9, TIME},
        {"minutes", 60e9, TIME},
        {"byte", 1, MEMORY},
        {"bytes", 1, MEMORY},
        {"B", 1, MEMORY},
        {"kB", 1e3, MEMORY},
        {"MB", 1e6, MEMORY},
        {"GB", 1e9, MEMORY},
        {"KiB", 1024, MEMORY},
        {"MiB", 1048576, MEMORY},
        {"GiB", 1073741824, MEMORY},
        {"B/s", 1e-9, BYTES},
        {"bytes/s", 1e-9, BYTES},
        {"bytes_per_second", 1e-9, BYTES},
        {"kB/s", 1e-6, BYTES},
        {"MB/s", 1e-3, BYTES},
        {"GB/s", 1, BYTES},
        {"GB/sec", 1, BYTES},
        {"gb_per_s", 1, BYTES},
        {"TB/s", 1e3, BYTES},
        {"KiB/s", 1.024e-6, BYTES},
        {"MiB/s", 1.048576e-3, BYTES},
        {"GiB/s", 1.073741824, BYTES},
        {"FLOP/s", 1e-9, FLOPS},
        {"FLOPS", 1e-9, FLOPS},
        {"MFLOP/s", 1e-3, FLOPS},
        {"MFLOPS", 1e-3, FLOPS},
        {"GFLOP/s", 1, FLOPS},
        {"GFLOPS", 1, FLOPS},
        {"gflop_per_s", 1, FLOPS},
        {"TFLOP/s", 1e3, FLOPS},
        {"TFLOPS", 1e3, FLOPS},
        {"PFLOPS", 1e6, FLOPS},
};

/* "ns/iter", "s/op": a time still. */
static size_t without_per_iteration(const char *unit)
{
	static const char *const ends[] = {"/iter", "/op", "/iteration", "/call"};
	size_t len = strlen(unit);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !strcasecmp(unit + len - n, ends[i]))
			return len - n;
	}
	return len;
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcasecmp(text + a - b, end);
}

/* A rate of something: more of it is better. */
static bool is_rate(const char *unit)
{
	static const char *const ends[] = {
	        "/s", "/sec", "/second", "/min", "_per_second", "_per_s", "per second"};
	static const char *const words[] = {
	        "ops", "fps", "qps", "tps", "rps", "iops", "speedup", "elem/s"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(unit, ends[i]))
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(unit, words[i]))
			return true;
	return false;
}

struct tk_import_unit tk_import_unit(const char *unit)
{
	size_t len;
	bool higher;

	while (*unit == ' ')
		unit++;
	len = without_per_iteration(unit);
	for (int exact = 1; exact >= 0; exact--)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (strlen(units[i].word) == len &&
			        !(exact ? strncmp : strncasecmp)(units[i].word, unit, len))
				return (struct tk_import_unit){units[i].metric, units[i].unit,
				        units[i].higher ? "higher" : "lower", units[i].factor};
	higher = is_rate(unit);
	return (struct tk_import_unit){
	        higher ? "throughput" : "value", unit, higher ? "higher" : "lower", 1};
}

/* ---- JSON and times -------------------------------------------------------------------------- */

const char *tk_import_describe_value(const json_t *value, char *out)
{
	static const char *const words[] = {[JSON_OBJECT] = "an object",
	        [JSON_ARRAY] = "a list",
	        [JSON_TRUE] = "true",
	        [JSON_FALSE] = "false",
	        [JSON_NULL] = "null"};
	char text[TK_IMPORT_DESCRIPTION_SIZE - 2];

	if (json_is_string(value)) {
		tk_text_copy_line(text, sizeof(text), json_string_value(value));
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "\"%s\"", text);
	} else if (json_is_integer(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%lld",
		        (long long)json_integer_value(value));
	} else if (json_is_real(value)) {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%.12g", json_real_value(value));
	} else {
		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%s",
		        !value                                            ? "nothing"
		        : json_is_array(value) && !json_array_size(value) ? "an empty list"
		        : json_is_object(value) && !json_object_size(value)
		                ? "an empty object"
		                : words[json_typeof(value)]);
	}
	return out;
}

void tk_import_set_attribute(json_t *attributes, const char *list, const char *name, json_t *value)
{
	json_t *object = json_object_get(attributes, list);

	if (!value)
		return;
	if (!object) {
		object = json_object();
		json_object_set_new(attributes, list, object);
	}
	json_object_set_new(object, name, value);
}

/* "2022-06-18 10:52:55.123456+0200" -> what tk_time_parse() reads. */
bool tk_import_parse_time(const char *text, int64_t *t_s)
{
	char plain[64];
	size_t n = 0;

	for (; *text && n < sizeof(plain) - 2; text++) {
		if (*text == '.' || *text == ',') {
			while (text[1] >= '0' && text[1] <= '9')
				text++;
			continue;
		}
		plain[n++] = *text == ' ' ? 'T' : *text;
		/* +hhmm */
		if (n > 19 && (plain[n - 3] == '+' || plain[n - 3] == '-') && text[1] >= '0' &&
		        text[1] <= '9')
			plain[n++] = ':';
	}
	plain[n] = '\0';
	return tk_time_parse(plain, t_s, NULL) == 0;
}
