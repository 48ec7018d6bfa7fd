/* Reads histories from CSV: one header, then a row for each point; the rows of a series need not be
 * neighbours. */
#include "cli/history/history_csv.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/history/csv_table.h"

#define EXACT_DIGITS \
	15 /* a number of so many digits and a power of ten up to the 22nd are exact, so is what \
	      they make */
#define EXACT_POWER 22

/* Each text once, numbered from 0 in the order of appearance. */
struct names {
	char **at;
	size_t count, cap;
	uint32_t *slots; /* number + 1; a power of two, at most half full */
	size_t slot_count;
	size_t last; /* that was asked for: the next one is often the same or the next one */
};

struct points {
	double *value;
	int64_t *day;
	uint32_t *commit;
	size_t count, cap;
};

struct setting {
	const char *machine, *driver;
	int64_t day;
};

struct tk_history_csv {
	struct tk_csv_table data, env, meta;
	struct names series_names, commit_names, words; /* words: machines and drivers */
	struct points *points;
	size_t points_cap, count; /* count: of series */
	bool has_commit;
	struct tk_series_history *series;
	struct setting *settings;
	size_t setting_count;
	const char **environments;
};

static uint64_t hash_of(const char *s, size_t len)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h ^ h >> 32;
}

static bool is_name(const struct names *n, size_t number, const char *s)
{
	return number < n->count && strcmp(n->at[number], s) == 0;
}

static bool more_slots(struct names *n)
{
	size_t count = n->slot_count ? 2 * n->slot_count : 256;
	uint32_t *slots = calloc(count, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < n->count; i++) {
		size_t slot = hash_of(n->at[i], strlen(n->at[i])) & (count - 1);

		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	free(n->slots);
	n->slots = slots;
	n->slot_count = count;
	return true;
}

static bool add_name(struct names *n, size_t slot, const char *s, size_t len)
{
	char *copy;

	if (n->count == n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 64;
		char **at = realloc(n->at, cap * sizeof *at);

		if (!at)
			return false;
		n->at = at;
		n->cap = cap;
	}
	copy = malloc(len + 1);
	if (!copy || n->count >= UINT32_MAX - 1) {
		free(copy);
		return false;
	}
	memcpy(copy, s, len + 1);
	n->at[n->count++] = copy;
	n->slots[slot] = (uint32_t)n->count;
	return true;
}

/* The number of s[0 .. len], which ends with a NUL; false: out of memory. */
static bool number_of(struct names *n, const char *s, size_t len, size_t *number)
{
	size_t slot;

	for (size_t near = 0; near < 2; near++)
		if (is_name(n, n->last + near, s)) {
			*number = n->last += near;
			return true;
		}
	if (2 * n->count >= n->slot_count && !more_slots(n))
		return false;
	for (slot = hash_of(s, len) & (n->slot_count - 1); n->slots[slot];
	        slot = (slot + 1) & (n->slot_count - 1))
		if (is_name(n, n->slots[slot] - 1, s))
			break;
	if (!n->slots[slot] && !add_name(n, slot, s, len))
		return false;
	*number = n->last = n->slots[slot] - 1;
	return true;
}

static void names_free(struct names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->at[i]);
	free(n->at);
	free(n->slots);
}

static int read_day(
        const struct tk_csv_table *t, const char *text, int64_t *day, struct tk_error *err)
{
	const char *digit = text;
	char *end;

	for (*day = 0; *digit >= '0' && *digit <= '9' && digit - text < EXACT_DIGITS; digit++)
		*day = 10 * *day + (*digit - '0');
	if (digit != text && !*digit)
		return TK_OK;
	errno = 0;
	*day = strtoll(text, &end, 10);
	return *text && !*end && !errno
	               ? TK_OK
	               : tk_fail(err, TK_EDATA, "%s:%zu: day: `%.40s` is not a whole number",
	                         t->path, t->line, text);
}

/* strtod of the plain numbers that files are full of, ten times as fast; *end: as strtod's, text
 * where it is not one.
 */
static double plain_number(const char *text, const char **end)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	        1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const char *s = text;
	int64_t digits = 0;
	int count = 0, power = 0, sign = 1;
	bool dot = false;

	*end = text;
	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !dot); s++) {
		if (*s == '.') {
			dot = true;
			continue;
		}
		digits = 10 * digits + (*s - '0');
		power -= dot;
		if (++count > EXACT_DIGITS)
			return 0;
	}
	if (count && (*s == 'e' || *s == 'E')) {
		int exponent = 0;

		s++;
		sign = *s == '-' ? -1 : 1;
		s += *s == '-' || *s == '+';
		if (*s < '0' || *s > '9')
			return 0;
		for (; *s >= '0' && *s <= '9' && exponent < 1000; s++)
			exponent = 10 * exponent + (*s - '0');
		power += sign * exponent;
	}
	if (!count || *s || abs(power) > EXACT_POWER)
		return 0;
	*end = s;
	return power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power];
}

static int read_value(
        const struct tk_csv_table *t, const char *text, double *value, struct tk_error *err)
{
	const char *end;
	char *rest;

	*value = plain_number(text, &end);
	if (end != text)
		return TK_OK;
	*value = strtod(text, &rest);
	return *text && !*rest ? TK_OK
	                       : tk_fail(err, TK_EDATA, "%s:%zu: value: `%.40s` is not a number",
	                                 t->path, t->line, text);
}

/* Room for one more: by a quarter each time, as there may be thousands of them. */
static bool make_room(struct points *p, bool has_commit)
{
	size_t cap = p->cap + p->cap / 4 + 16;
	double *value;
	int64_t *day;
	uint32_t *commit;

	if (p->count < p->cap)
		return true;
	if ((value = realloc(p->value, cap * sizeof *value)))
		p->value = value;
	if ((day = realloc(p->day, cap * sizeof *day)))
		p->day = day;
	if (!value || !day)
		return false;
	if (has_commit) {
		commit = realloc(p->commit, cap * sizeof *commit);
		if (!commit)
			return false;
		p->commit = commit;
	}
	p->cap = cap;
	return true;
}

static struct points *points_of(struct tk_history_csv *h, size_t series)
{
	while (series >= h->points_cap) {
		size_t cap = h->points_cap ? 2 * h->points_cap : 64;
		struct points *points = realloc(h->points, cap * sizeof *points);

		if (!points)
			return NULL;
		memset(points + h->points_cap, 0, (cap - h->points_cap) * sizeof *points);
		h->points = points;
		h->points_cap = cap;
	}
	return &h->points[series];
}

/* column: of the series, the day, the value, the commit. */
static int add_point(struct tk_history_csv *h, const size_t *column, struct tk_error *err)
{
	const struct tk_csv_table *t = &h->data;
	size_t series, commit = 0;
	struct points *p = NULL;
	int64_t day;
	double value;
	int rc = read_day(t, t->fields[column[1]], &day, err);

	if (!rc)
		rc = read_value(t, t->fields[column[2]], &value, err);
	if (rc)
		return rc;
	if (number_of(&h->series_names, t->fields[column[0]], t->length[column[0]], &series))
		p = points_of(h, series);
	if (!p || !make_room(p, h->has_commit) ||
	        (h->has_commit && column[3] < t->columns &&
	                !number_of(&h->commit_names, t->fields[column[3]], t->length[column[3]],
	                        &commit)))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", t->path);
	if (p->count && day < p->day[p->count - 1])
		return tk_fail(err, TK_EDATA,
		        "%s:%zu: day: %lld is before the %lld of the row before it of series %.80s",
		        t->path, t->line, (long long)day, (long long)p->day[p->count - 1],
		        h->series_names.at[series]);
	if (h->has_commit)
		p->commit[p->count] = (uint32_t)commit;
	p->day[p->count] = day;
	p->value[p->count++] = value;
	return TK_OK;
}

static int read_points(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "day", "value", NULL};
	size_t column[4], last = 0;
	bool more;
	int rc = tk_csv_table_open(&h->data, path, names, column, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < 3; i++)
		last = column[i] > last ? column[i] : last;
	for (column[3] = 0;
	        column[3] < h->data.columns && strcmp(h->data.fields[column[3]], "commit") != 0;
	        column[3]++)
		;
	h->has_commit = column[3] < h->data.columns;
	if (h->has_commit && !number_of(&h->commit_names, "", 0, &(size_t){0}))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	while (!rc && !(rc = tk_csv_table_next_row(&h->data, last, &more, err)) && more)
		rc = add_point(h, column, err);
	h->count = h->series_names.count < h->points_cap ? h->series_names.count : h->points_cap;
	return rc;
}

static int make_series(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	h->series = calloc(h->series_names.count + 1, sizeof *h->series);
	if (!h->series)
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	for (size_t i = 0; i < h->series_names.count; i++)
		h->series[i] = (struct tk_series_history){.id = h->series_names.at[i],
		        .machine = "",
		        .n = h->points[i].count,
		        .value = h->points[i].value,
		        .day = h->points[i].day};
	return TK_OK;
}

static int keep_word(struct tk_history_csv *h, const struct tk_csv_table *t, size_t column,
        const char **word, struct tk_error *err)
{
	size_t number;

	if (!number_of(&h->words, t->fields[column], t->length[column], &number))
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", t->path);
	*word = h->words.at[number];
	return TK_OK;
}

static int read_machines(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"series_id", "machine", NULL};
	size_t column[2], series;
	bool more;
	int rc = tk_csv_table_open(&h->meta, path, names, column, err);

	while (!rc &&
	        !(rc = tk_csv_table_next_row(
	                  &h->meta, column[0] > column[1] ? column[0] : column[1], &more, err)) &&
	        more) {
		/* a series that has no points is added behind the others and does no harm */
		if (!number_of(&h->series_names, h->meta.fields[column[0]],
		            h->meta.length[column[0]], &series))
			rc = tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		else if (series < h->count)
			rc = keep_word(h, &h->meta, column[1], &h->series[series].machine, err);
	}
	return rc;
}

static int by_machine_and_day(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = strcmp(x->machine, y->machine);

	return order ? order : (x->day > y->day) - (x->day < y->day);
}

/* The driver of a machine on a day: of the newest row up to it. */
static const char *driver_of(const struct tk_history_csv *h, const char *machine, int64_t day)
{
	size_t lo = 0, hi = h->setting_count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int order = strcmp(h->settings[mid].machine, machine);

		if (order < 0 || (order == 0 && h->settings[mid].day <= day))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && strcmp(h->settings[lo - 1].machine, machine) == 0 ? h->settings[lo - 1].driver
	                                                               : "";
}

/* Room for one more in an array that doubles. */
static void *grow(void *array, size_t count, size_t size)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

static int read_settings(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	static const char *const names[] = {"machine", "day", "driver", NULL};
	size_t column[3], last = 0;
	bool more;
	int rc = tk_csv_table_open(&h->env, path, names, column, err);

	for (size_t i = 0; !rc && i < 3; i++)
		last = column[i] > last ? column[i] : last;
	while (!rc && !(rc = tk_csv_table_next_row(&h->env, last, &more, err)) && more) {
		struct setting *settings = grow(h->settings, h->setting_count, sizeof *settings),
		               *s;

		if (!settings)
			return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
		h->settings = settings;
		s = &settings[h->setting_count++];
		rc = keep_word(h, &h->env, column[0], &s->machine, err);
		if (!rc)
			rc = keep_word(h, &h->env, column[2], &s->driver, err);
		if (!rc)
			rc = read_day(&h->env, h->env.fields[column[1]], &s->day, err);
	}
	return rc;
}

static int read_environments(struct tk_history_csv *h, const char *path, struct tk_error *err)
{
	size_t points = 0, at = 0;
	int rc = read_settings(h, path, err);

	if (rc)
		return rc;
	if (h->setting_count)
		qsort(h->settings, h->setting_count, sizeof *h->settings, by_machine_and_day);
	for (size_t s = 0; s < h->count; s++)
		points += h->series[s].n;
	h->environments = malloc((points + 1) * sizeof *h->environments);
	if (!h->environments)
		return tk_fail(err, TK_ENOMEM, "%s: out of memory", path);
	for (size_t s = 0; s < h->count; s++) {
		struct tk_series_history *series = &h->series[s];

		series->environment = h->environments + at;
		for (size_t i = 0; i < series->n; i++)
			h->environments[at++] = driver_of(h, series->machine, series->day[i]);
	}
	return rc;
}

int tk_history_csv_read(const char *path, const char *env_path, const char *meta_path,
        struct tk_history_csv **out, struct tk_error *err)
{
	struct tk_history_csv *h = *out = calloc(1, sizeof *h);
	int rc = h ? read_points(h, path, err) : tk_fail(err, TK_ENOMEM, "%s: out of memory", path);

	if (!rc)
		rc = make_series(h, path, err);
	if (!rc && meta_path)
		rc = read_machines(h, meta_path, err);
	if (!rc && env_path)
		rc = read_environments(h, env_path, err);
	return rc;
}

const struct tk_series_history *tk_history_csv_series(const struct tk_history_csv *h, size_t *count)
{
	*count = h->count;
	return h->series;
}

const char *tk_history_csv_commit(const struct tk_history_csv *h, size_t series, size_t index)
{
	return h->has_commit ? h->commit_names.at[h->points[series].commit[index]] : "";
}

void tk_history_csv_free(struct tk_history_csv *h)
{
	if (!h)
		return;
	tk_csv_table_close(&h->data);
	tk_csv_table_close(&h->env);
	tk_csv_table_close(&h->meta);
	for (size_t i = 0; i < h->count; i++)
		free(h->points[i].value), free(h->points[i].day), free(h->points[i].commit);
	names_free(&h->series_names);
	names_free(&h->commit_names);
	names_free(&h->words);
	free(h->points);
	free(h->series);
	free(h->settings);
	free(h->environments);
	free(h);
}
