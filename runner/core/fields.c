/* See fields.h. */
#include "core/fields.h"

#include <inttypes.h>
#include <math.h>

#include "base/csv.h"
#include "core/verdict.h"
#include "core/vocabulary.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *tk_time_to_json(int64_t time_s)
{
	char iso[TK_TIME_ISO_SIZE];

	return time_s && time_s != INT64_MAX ? json_string(tk_time_format_iso(time_s, iso))
	                                     : json_null();
}

static const char *read_text(const struct tk_field *f, const char *at)
{
	const char *text = f->storage == TK_STORED_CHARS ? at : *(const char *const *)at;

	return text ? text : "";
}

static int64_t read_int(const struct tk_field *f, const char *at)
{
	switch (f->storage) {
	case TK_STORED_INT64:
		return *(const int64_t *)at;
	case TK_STORED_UINT32:
		return *(const uint32_t *)at;
	case TK_STORED_SIZE:
		return (int64_t) * (const size_t *)at;
	case TK_STORED_BOOL:
		return *(const bool *)at;
	default:
		return *(const int *)at;
	}
}

static json_t *to_json(const struct tk_field *f, const void *row, const void *context)
{
	const char *at = (const char *)row + f->offset;
	json_t *o;

	switch (f->kind) {
	case TK_FIELD_TEXT:
		return tk_json_text(read_text(f, at));
	case TK_FIELD_WORD:
		return json_string(tk_vocabulary_name(f->words, (int)read_int(f, at)));
	case TK_FIELD_BOOL:
		return json_boolean(read_int(f, at));
	case TK_FIELD_INT:
		return f->is_null_from && read_int(f, at) < f->least
		               ? json_null()
		               : json_integer((json_int_t)read_int(f, at));
	case TK_FIELD_REAL:
		return tk_json_number(*(const double *)at);
	case TK_FIELD_TIME:
		return tk_time_to_json(read_int(f, at));
	case TK_FIELD_STORED:
		o = json_loads(read_text(f, at), 0, NULL);
		return o ? o : json_null();
	case TK_FIELD_OBJECT:
		o = tk_fields_to_json(f->members, at, context);
		if (!json_is_null(json_object_get(o, f->members[0].name)))
			return o;
		json_decref(o);
		return json_null();
	case TK_FIELD_MADE:
	case TK_FIELD_LIST:
		break;
	}
	return f->make(row, context);
}

json_t *tk_fields_to_json(const struct tk_field *fields, const void *row, const void *context)
{
	json_t *o = json_object();

	for (const struct tk_field *f = fields; f->name; f++)
		json_object_set_new(o, f->name, to_json(f, row, context));
	return o;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_csv_text(FILE *out, const char *text)
{
	struct tk_buf b = TK_BUF_INIT;

	tk_csv_add_text(&b, text);
	fputs(tk_buf_cstr(&b), out);
	tk_buf_free(&b);
}

/* More digits than measurements have; `tracker export` has every bit. */
static void put_csv_value(const struct tk_field *f, const json_t *value, FILE *out)
{
	if (f->kind == TK_FIELD_WORD)
		fputs(json_string_value(value), out);
	else if (json_is_string(value))
		put_csv_text(out, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.10g", json_real_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", out);
}

/* The values of a row, or the names of its columns where `row` is NULL. */
static void put_columns(const struct tk_field *fields, const char *prefix, const json_t *row,
        const char **separator, FILE *out)
{
	for (const struct tk_field *f = fields; f->name; f++) {
		const json_t *value = json_object_get(row, f->name);
		bool is_value = *prefix && strcmp(f->name, "value") == 0;
		char name[128];

		if (f->kind == TK_FIELD_LIST)
			continue;
		snprintf(name, sizeof name, "%s%s%s", prefix, *prefix && !is_value ? "_" : "",
		        is_value ? "" : f->name);
		if (f->kind == TK_FIELD_OBJECT) {
			put_columns(f->members, name, row ? value : NULL, separator, out);
			continue;
		}
		fputs(*separator, out);
		*separator = ",";
		if (row)
			put_csv_value(f, value, out);
		else
			fputs(name, out);
	}
}

void tk_fields_write_csv_row(const struct tk_field *fields, const json_t *row, FILE *out)
{
	const char *separator = "";

	put_columns(fields, "", row, &separator, out);
	fputs("\r\n", out);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

const struct tk_field tk_estimate_fields[] = {
        {TK_FIELD(REAL, "value", struct tk_estimate, value)},
        {TK_FIELD(REAL, "lo", struct tk_estimate, lo)},
        {TK_FIELD(REAL, "hi", struct tk_estimate, hi)},
        {0},
};

static json_t *make_decision(const void *row, const void *context)
{
	const struct tk_ab_result *r = row;

	(void)context;
	return r->decision == TK_AB_NONE ? json_null()
	                                 : json_string(tk_ab_decision_name(r->decision));
}

static json_t *make_statistic(const void *row, const void *context)
{
	(void)context;
	return json_string(tk_ab_result_statistic_name(row));
}

static const struct tk_field ab_change_fields[] = {
        {TK_FIELD(REAL, "value", struct tk_ab_result, change)},
        {TK_FIELD(REAL, "lo", struct tk_ab_result, lo)},
        {TK_FIELD(REAL, "hi", struct tk_ab_result, hi)},
        {0},
};

const struct tk_field tk_ab_result_fields[] = {
        {TK_FIELD_MAKE(MADE, "decision", make_decision)},
        {TK_FIELD(INT, "count", struct tk_ab_result, count)},
        {TK_FIELD(INT, "failed", struct tk_ab_result, failed)},
        {TK_FIELD_MAKE(MADE, "statistic", make_statistic)},
        {TK_FIELD_GROUP("change", ab_change_fields)},
        {0},
};

const struct tk_field tk_first_bad_commit_fields[] = {
        {TK_FIELD(TEXT, "rev", struct tk_first_bad_commit, rev)},
        {TK_FIELD(TEXT, "subject", struct tk_first_bad_commit, subject)},
        {TK_FIELD(TEXT, "author", struct tk_first_bad_commit, author)},
        {TK_FIELD(TIME, "author_time", struct tk_first_bad_commit, author_time_s)},
        {TK_FIELD(REAL, "change", struct tk_first_bad_commit, change)},
        {TK_FIELD(REAL, "confidence", struct tk_first_bad_commit, confidence)},
        {0},
};
