/* What the JSON formats have in common: members with their types, unknown members, times,
 * repetitions. */
#include "base/clock.h"
#include "base/text.h"
#include "store/import/import.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		bool empty = json_is_array(value)
		                     ? !json_array_size(value)
		                     : json_is_object(value) && !json_object_size(value);

		snprintf(out, TK_IMPORT_DESCRIPTION_SIZE, "%s",
		        empty   ? json_is_array(value) ? "an empty list" : "an empty object"
		        : value ? words[json_typeof(value)]
		                : "nothing");
	}
	return out;
}

int tk_import_fail_expected(const struct tk_import_file *f, const struct tk_import_path *path,
        struct tk_error *err, const char *what, const json_t *value, const char *fmt, ...)
{
	char field[256], found[TK_IMPORT_DESCRIPTION_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(field, sizeof(field), fmt, ap);
	va_end(ap);
	return tk_import_fail(f, path, err, "%s: expected %s, found %s", field, what,
	        tk_import_describe_value(value, found));
}

int tk_import_get_number(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, double *out, struct tk_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_number(value))
		return tk_import_fail_expected(f, path, err, "a number", value, ".%s", key);
	*out = json_is_number(value) ? json_number_value(value) : NAN;
	return 0;
}

int tk_import_get_text(const struct tk_import_file *f, const struct tk_import_path *path,
        const json_t *object, const char *key, const char **out, struct tk_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_string(value))
		return tk_import_fail_expected(f, path, err, "a string", value, ".%s", key);
	*out = json_string_value(value);
	return 0;
}

void tk_import_copy_unknown(json_t **to, const json_t *from, const char *const *known)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)from, key, value) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], key))
			i++;
		if (known[i] || json_is_null(value))
			continue;
		if (!*to)
			*to = json_object();
		json_object_set(*to, key, value);
	}
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

static int number_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i])
	                 : sorted[n - 1];
}

void tk_import_summarize(struct tk_import_point *p, double *values, size_t count)
{
	if (!count)
		return;
	qsort(values, count, sizeof(*values), number_order);
	p->value = quantile(values, count, 0.5);
	p->n = (int64_t)count;
	if (count < 2)
		return;
	p->min = values[0];
	p->q25 = quantile(values, count, 0.25);
	p->q75 = quantile(values, count, 0.75);
	p->p95 = quantile(values, count, 0.95);
}
