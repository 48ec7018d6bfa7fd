/* Rows of queries as cells, sentences and tables; rates. */
#include <math.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "core/limits.h"
#include "core/problem.h"
#include "core/vocabulary.h"

/* ---- members as texts ------------------------------------------------------------------------ */

/* NULL: nothing to show. */
static const char *show_number(double x, enum tk_show show, char out[TK_FORMAT_SIZE])
{
	static const char *const units[] = {
	        [TK_SHOW_NS] = "ns", [TK_SHOW_BYTES] = "bytes", [TK_SHOW_RATE] = "gflop_per_s"};

	char number[TK_FORMAT_SIZE];

	switch (show) {
	case TK_SHOW_COUNT:
	case TK_SHOW_WHOLE:
		snprintf(out, TK_FORMAT_SIZE, "%.0f", x);
		return x > 0 || show == TK_SHOW_WHOLE ? out : NULL;
	case TK_SHOW_PLURAL:
		return x == 1 ? "" : "s";
	case TK_SHOW_DURATION:
		return x < 1 ? "< 1 s" : tk_duration_format(x, out, TK_FORMAT_SIZE);
	case TK_SHOW_DELTA_NS:
		snprintf(out, TK_FORMAT_SIZE, "%s%s", x < 0 ? "" : "+",
		        tk_format_value(x, "ns", number));
		return out;
	case TK_SHOW_NS:
	case TK_SHOW_BYTES:
	case TK_SHOW_RATE:
		return tk_format_value(x, units[show], out);
	case TK_SHOW_PERCENT:
		return tk_format_percent(x, out);
	case TK_SHOW_TENTHS:
	case TK_SHOW_SIGNED:
		snprintf(out, TK_FORMAT_SIZE, show == TK_SHOW_SIGNED ? "%+.1f %%" : "%.1f %%",
		        tk_percent_tenths(x));
		return out;
	case TK_SHOW_CHANGE:
		return tk_format_change(x, out);
	default:
		snprintf(out, TK_FORMAT_SIZE, "%.10g", x);
		return out;
	}
}

/* The member of a row as a cell or a sentence shows it; NULL: it has none. Free it. */
static char *show_value(const json_t *value, enum tk_show show)
{
	const char *text = json_string_value(value);
	char out[TK_FORMAT_ESTIMATE_SIZE];
	const double x = tk_record_number(
	                     value, json_object_get(value, "median") ? "median" : "value"),
	             lo = tk_record_number(value, "lo"), hi = tk_record_number(value, "hi"),
	             n = tk_record_number(value, "n");

	if (show == TK_SHOW_ESTIMATE)
		text = *tk_format_estimate(x, lo, hi, out) ? out : NULL;
	else if (show == TK_SHOW_HALF_WIDTH)
		text = isfinite(hi - lo) && (n > 1 || hi > lo)
		               ? tk_format_half_width(x, lo, hi, out)
		               : NULL;
	else if (json_is_number(value))
		text = show_number(json_number_value(value), show, out);
	else if (json_is_boolean(value) && show == TK_SHOW_ON_OFF)
		text = json_is_true(value) ? "on" : "off";
	else if (json_is_true(value))
		text = "";
	else if (!text || !*text)
		text = NULL;
	else if (show == TK_SHOW_MINUTE && strlen(text) > 11)
		return tk_sprintf("%.10s %.5s", text, text + 11);
	else if (show == TK_SHOW_DAY || show == TK_SHOW_SHORT || show == TK_SHOW_UID)
		return tk_sprintf("%.*s",
		        show == TK_SHOW_DAY     ? 10
		        : show == TK_SHOW_SHORT ? 12
		                                : 8,
		        text);
	return text ? tk_strdup(text) : NULL;
}

#define TK_SHOW_NAME(word, name) #name,
/* "{member:show|otherwise}" at *at, which is moved behind it. Returns whether there is a text. */
static bool put_member(struct tk_buf *b, const char **at, const json_t *row)
{
	static const char *const shows[] = {TK_SHOWS(TK_SHOW_NAME)};
	AUTO_TEXT text = NULL;
	char path[96], word[16], unit[TK_FORMAT_SIZE];
	const char *p = *at + 1, *condition = strchr("?!", *p) ? p++ : "", *end = strchr(p, '}'),
	           *otherwise = memchr(p, '|', (size_t)(end - p));
	size_t n = strcspn(p, ":@|}"), show = 0;
	const json_t *value;

	*at = end + 1;
	snprintf(path, sizeof path, "%.*s", (int)n, p);
	value = tk_record_get(row, path);
	snprintf(word, sizeof word, "%.*s", (int)strcspn(p + n, "|}"), p + n);
	while (*word == ':' && strcmp(shows[show], word + 1) != 0)
		show++;
	if (*word != '@')
		text = show_value(value, (enum tk_show)show);
	else if (json_is_number(value))
		text = tk_strdup(tk_format_value(
		        json_number_value(value), tk_record_text(row, word + 1), unit));
	if (*condition)
		return (*condition == '?') == (text != NULL);
	if (!text && otherwise)
		text = tk_strndup(otherwise + 1, (size_t)(end - otherwise - 1));
	if (text)
		tk_text_sanitize(text, "", '?');
	tk_buf_add_str(b, text ? text : "");
	return text != NULL;
}

/* Up to the end of the template, or of its part. Returns whether no member of the part was
 * missing. */
static bool expand(struct tk_buf *b, const char **at, const json_t *row)
{
	bool complete = true;

	while (**at && **at != ']') {
		const size_t len = b->len;

		if (**at == '{') {
			complete &= put_member(b, at, row);
		} else if (**at == '[') {
			++*at;
			if (!expand(b, at, row) && b->len > len)
				b->data[b->len = len] = '\0';
			*at += **at == ']';
		} else {
			tk_buf_add_char(b, *(*at)++);
		}
	}
	return complete;
}

char *tk_record_format(const char *template, enum tk_show show, const json_t *row)
{
	AUTO(tk_buf) b = TK_BUF_INIT;

	if (!strpbrk(template, "{["))
		return show_value(tk_record_get(row, template), show);
	return expand(&b, &template, row) ? tk_strdup(tk_buf_cstr(&b)) : NULL;
}

void tk_record_write(FILE *out, const char *template, const json_t *row)
{
	AUTO(tk_buf) b = TK_BUF_INIT;

	expand(&b, &template, row);
	fputs(tk_buf_cstr(&b), out);
}

/* ---- lists of the history -------------------------------------------------------------------- */

int tk_records_print(const struct tk_globals *g, const struct tk_column *columns, json_t *rows,
        bool as_json, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		tk_table_add_record(t, row);
	return tk_records_finish(t, rows, as_json, err);
}

int tk_records_finish(struct tk_table *t, json_t *rows, bool as_json, struct tk_error *err)
{
	int status = as_json ? tk_command_print_json(json_incref(rows), err)
	                     : tk_table_print(t, stdout, err);

	tk_table_free(t);
	json_decref(rows);
	return status;
}

int tk_records_select_one(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t **out, struct tk_error *err)
{
	json_auto_t *rows = NULL;
	int status = tk_records_select(s, sql, args, &rows, err);

	*out = json_incref(json_array_get(rows, 0));
	return status;
}

int tk_records_select_member(struct tk_store *s, const char *sql, const struct tk_arg *args,
        json_t *object, const char *member, struct tk_error *err)
{
	json_t *rows;
	int status = tk_records_select(s, sql, args, &rows, err);

	json_object_set_new(object, member, rows);
	return status;
}

int tk_records_fail_unknown(const json_t *rows, const char *member, const char *name,
        const char *what, const char *otherwise, struct tk_error *err)
{
	const char **names = tk_calloc(json_array_size(rows) + 1, sizeof *names);
	char hint[TK_SUGGEST_HINT_SIZE];

	for (size_t i = 0; i < json_array_size(rows); i++)
		names[i] = tk_record_text(json_array_get(rows, i), member);
	tk_fail(err, TK_EUSAGE, "%s \"%.100s\"%s", what, name,
	        tk_suggest_hint(name, names, otherwise, hint));
	free(names);
	return TK_EUSAGE;
}

int tk_records_find_night(
        struct tk_store *s, const char *text, int64_t *night_id, struct tk_error *err)
{
	static const char sql[] = "SELECT id FROM night WHERE CASE"
	                          " WHEN ?1 = 'last' THEN id = (SELECT id FROM night"
	                          " ORDER BY as_of_s DESC, id DESC LIMIT 1)"
	                          " WHEN EXISTS (SELECT 1 FROM night WHERE CAST(id AS TEXT) = ?1)"
	                          " THEN CAST(id AS TEXT) = ?1"
	                          " ELSE ?1 <> '' AND substr(uid, 1, length(?1)) = ?1 END";
	json_t *found;
	int status = tk_records_select(s, sql, TK_ARGS(text), &found, err);
	size_t count = json_array_size(found);

	*night_id = json_integer_value(json_object_get(json_array_get(found, 0), "id"));
	json_decref(found);
	if (status || count == 1)
		return status;
	if (strcmp(text, "last") == 0)
		return tk_fail(
		        err, TK_EUSAGE, "no night \"%s\": the history has no nights yet", text);
	return tk_fail(err, TK_EUSAGE,
	        count ? "\"%s\" is ambiguous: %zu nights start with it"
	              : "no night \"%s\"; `tracker log` lists the nights",
	        text, count);
}

struct tk_rate tk_rate_compute(double flops, double peak_gflop_per_s, double median_ns)
{
	struct tk_rate r = {NAN, NAN};

	if (flops > 0 && median_ns > 0)
		r.gflop_per_s = flops / median_ns;
	if (peak_gflop_per_s > 0)
		r.peak_share = r.gflop_per_s / peak_gflop_per_s;
	return r;
}

/* 0: not known. An imported history may have problems of other languages. */
static double find_peak(const char *problem, const char *device_name)
{
	struct tk_problem_spec spec;

	return tk_problem_parse(&spec, problem, NULL) ? 0
	                                              : tk_datasheet_find_peak(device_name, &spec);
}

struct tk_rate tk_rate_from_problem(
        const char *problem, double flops, const char *device_name, double value, const char *unit)
{
	if (tk_unit_from_name(unit) != TK_UNIT_NS)
		return (struct tk_rate){NAN, NAN};
	return tk_rate_compute(flops, find_peak(problem, device_name), value);
}

static char *compute_peak(const struct tk_arg *args)
{
	double peak = find_peak(args[0].text, args[1].text);

	return peak > 0 ? tk_sprintf("%.17g", peak) : NULL;
}

int tk_rate_define_function(struct tk_store *s, struct tk_error *err)
{
	static const struct tk_sql_function f = {"peak_gflop_per_s", 2, compute_peak};

	return tk_store_add_function(s, &f, err);
}
