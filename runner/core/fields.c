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
	case TK_STORED_CHARS:
	case TK_STORED_POINTER:
	case TK_STORED_DOUBLE:
	case TK_STORED_INT:
		break;
	}
	return *(const int *)at;
}

static json_t *read_stored(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	return o ? o : json_null();
}

static bool is_null_object(const struct tk_field *f, const json_t *o)
{
	return json_is_null(json_object_get(o, f->members[0].name));
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
		return read_stored(read_text(f, at));
	case TK_FIELD_OBJECT:
		o = tk_fields_to_json(f->members, at, context);
		if (!is_null_object(f, o))
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

static void put_heads(const struct tk_field *fields, const char *prefix, bool *first, FILE *out)
{
	for (const struct tk_field *f = fields; f->name; f++) {
		char name[128];

		snprintf(name, sizeof name, "%s%s%s", prefix,
		        *prefix && strcmp(f->name, "value") != 0 ? "_" : "",
		        *prefix && strcmp(f->name, "value") == 0 ? "" : f->name);
		if (f->kind == TK_FIELD_OBJECT) {
			put_heads(f->members, name, first, out);
		} else if (f->kind != TK_FIELD_LIST) {
			fprintf(out, "%s%s", *first ? "" : ",", name);
			*first = false;
		}
	}
}

static void put_values(const struct tk_field *fields, const json_t *row, bool *first, FILE *out)
{
	for (const struct tk_field *f = fields; f->name; f++) {
		const json_t *value = json_object_get(row, f->name);

		if (f->kind == TK_FIELD_OBJECT) {
			put_values(f->members, value, first, out);
		} else if (f->kind != TK_FIELD_LIST) {
			fputs(*first ? "" : ",", out);
			put_csv_value(f, value, out);
			*first = false;
		}
	}
}

void tk_fields_write_csv_head(const struct tk_field *fields, FILE *out)
{
	bool first = true;

	put_heads(fields, "", &first, out);
	fputs("\r\n", out);
}

void tk_fields_write_csv_row(const struct tk_field *fields, const json_t *row, FILE *out)
{
	bool first = true;

	put_values(fields, row, &first, out);
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
	return json_string(((const struct tk_ab_result *)row)->fastest ? "min" : "median");
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
