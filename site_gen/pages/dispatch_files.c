/* dispatch/OP@DEVICE.json, .csv and .h. */
#include "site_gen/pages/dispatch_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

/* What a file says of a chosen backend. */
struct choice {
	const struct tk_site_series *s, *next;
	const struct tk_point *point;
	double rate, peak_share;
	const char *rate_unit;
};

static struct choice describe(const struct tk_dispatch_row *row, const struct tk_ceiling_set *set)
{
	struct choice c = {.s = row->chosen,
	        .next = tk_dispatch_next(row),
	        .point = tk_series_last_point(row->chosen),
	        .rate_unit = ""};
	c.rate = tk_series_rate(c.s, c.point->value, &c.rate_unit);
	c.peak_share =
	        tk_ceiling_set_efficiency_by_source(set, TK_CEILING_DATASHEET, c.s, c.point->value);
	return c;
}

static int64_t newest_time(const struct tk_dispatch *d)
{
	int64_t newest_s = 0;
	for (size_t i = 0; i < d->count; i++) {
		int64_t own_s = tk_series_last_point(d->at[i].chosen)->as_of_s;
		newest_s = own_s > newest_s ? own_s : newest_s;
	}
	return newest_s;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_json_row(struct tk_buf *out, const struct tk_dispatch_row *row,
        const struct tk_ceiling_set *ceilings)
{
	struct choice c = describe(row, ceilings);
	tk_buf_add_str(out, "{\"problem\":");
	tk_escape_json(out, c.s->problem->text, strlen(c.s->problem->text));
	tk_json_add_text(out, "title", c.s->problem->title);
	tk_json_add_text(out, "dtype", c.s->problem->dtype);
	tk_json_add_text(out, "label", c.s->variant);
	tk_json_add_text(out, "backend", c.s->row->backend);
	tk_json_add_text(out, "config", c.s->row->config);
	tk_json_add_text(out, "upstream", c.s->upstream->name);
	tk_json_add_text(out, "series", c.s->row->slug);
	tk_json_add_number(out, "time_ns", c.point->value);
	tk_json_add_number(out, "lo_ns", c.point->lo);
	tk_json_add_number(out, "hi_ns", c.point->hi);
	tk_json_add_number(out, "rate", c.rate);
	tk_json_add_text(out, "rate_unit", isfinite(c.rate) ? c.rate_unit : "");
	tk_json_add_number(out, "share_of_datasheet_peak", c.peak_share);
	tk_json_add_key(out, "tied");
	tk_buf_add_char(out, '[');
	for (size_t i = 0, count = 0; i < row->standing.first_count; i++) {
		const char *label = row->standing.at[i]->variant;
		if (row->standing.at[i] == row->chosen)
			continue;
		tk_buf_add_str(out, count++ ? "," : "");
		tk_escape_json(out, label, strlen(label));
	}
	tk_buf_add_char(out, ']');
	tk_json_add_text(out, "next", c.next ? c.next->variant : "");
	tk_json_add_number(out, "next_ratio", tk_dispatch_lead(row));
	tk_buf_add_char(out, '}');
}

static void write_json(struct tk_buf *out, const struct tk_dispatch *d,
        const struct tk_ceiling_set *ceilings, double tie)
{
	tk_buf_add_str(out, "{\"format\":1");
	tk_json_add_text(out, "op", d->at[0].chosen->problem->op);
	tk_json_add_text(out, "machine", d->device->machine->row->name);
	tk_json_add_text(out, "device", d->device->row->slug);
	tk_json_add_text(out, "device_model", d->device->row->name);
	tk_json_add_text(out, "mode", d->device->mode);
	tk_json_add_time(out, "newest", newest_time(d));
	tk_json_add_number(out, "tie", tie);
	tk_json_add_key(out, "problems");
	tk_buf_add_char(out, '[');
	for (size_t i = 0; i < d->count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_json_row(out, &d->at[i], ceilings);
	}
	tk_buf_add_str(out, "]}\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void add_csv_number(struct tk_buf *out, double v)
{
	tk_buf_add_printf(out, isfinite(v) ? ",%.10g" : ",", v);
}

static void add_csv_tied(struct tk_buf *out, const struct tk_dispatch_row *row)
{
	struct tk_buf tied = TK_BUF_INIT;
	for (size_t i = 0; i < row->standing.first_count; i++)
		if (row->standing.at[i] != row->chosen)
			tk_buf_add_printf(
			        &tied, "%s%s", tied.len ? "; " : "", row->standing.at[i]->variant);
	tk_buf_add_char(out, ',');
	tk_csv_add_text(out, tk_buf_cstr(&tied));
	tk_buf_free(&tied);
}

static void write_csv(
        struct tk_buf *out, const struct tk_dispatch *d, const struct tk_ceiling_set *ceilings)
{
	tk_buf_add_str(out, "problem,title,label,backend,config,upstream,time_ns,lo_ns,hi_ns,rate,"
	                    "rate_unit,share_of_datasheet_peak,tied,next,next_ratio\r\n");
	for (size_t i = 0; i < d->count; i++) {
		struct choice c = describe(&d->at[i], ceilings);
		const char *const texts[] = {c.s->problem->text, c.s->problem->title, c.s->variant,
		        c.s->row->backend, c.s->row->config, c.s->upstream->name};
		for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
			tk_buf_add_str(out, t ? "," : "");
			tk_csv_add_text(out, texts[t]);
		}
		add_csv_number(out, c.point->value);
		add_csv_number(out, c.point->lo);
		add_csv_number(out, c.point->hi);
		add_csv_number(out, c.rate);
		tk_buf_add_char(out, ',');
		tk_csv_add_text(out, isfinite(c.rate) ? c.rate_unit : "");
		add_csv_number(out, c.peak_share);
		add_csv_tied(out, &d->at[i]);
		tk_buf_add_char(out, ',');
		tk_csv_add_text(out, c.next ? c.next->variant : "");
		add_csv_number(out, tk_dispatch_lead(&d->at[i]));
		tk_buf_add_str(out, "\r\n");
	}
}

/* ---- C header -------------------------------------------------------------------------------- */

static int compare_by_text(const void *a, const void *b)
{
	const struct tk_dispatch_row *const *x = a, *const *y = b;
	return strcmp((*x)->chosen->problem->text, (*y)->chosen->problem->text);
}

/* What all headers share. */
static const char common[] =
        "#ifndef TRACKER_DISPATCH_ENTRY\n"
        "#define TRACKER_DISPATCH_ENTRY\n"
        "#include <stddef.h>\n"
        "#include <string.h>\n"
        "\n"
        "struct tracker_dispatch_entry {\n"
        "\tconst char *problem; /* canonical text; the table is sorted by it */\n"
        "\tconst char *backend, *config;\n"
        "\tdouble time_ns;\n"
        "\tunsigned tied; /* other backends that are as fast */\n"
        "};\n"
        "\n"
        "/* The entry of a problem; NULL: it was not measured. */\n"
        "static inline const struct tracker_dispatch_entry *tracker_dispatch_find(\n"
        "\tconst struct tracker_dispatch_entry *table, size_t count, const char *problem)\n"
        "{\n"
        "\tfor (size_t first = 0; first < count;) {\n"
        "\t\tsize_t middle = first + (count - first) / 2;\n"
        "\t\tint order = strcmp(table[middle].problem, problem);\n"
        "\t\tif (!order)\n"
        "\t\t\treturn &table[middle];\n"
        "\t\tif (order < 0)\n"
        "\t\t\tfirst = middle + 1;\n"
        "\t\telse\n"
        "\t\t\tcount = middle;\n"
        "\t}\n"
        "\treturn NULL;\n"
        "}\n"
        "#endif\n";

static void add_identifier(struct tk_buf *out, const char *prefix, const struct tk_dispatch *d)
{
	tk_buf_add_str(out, prefix);
	tk_c_add_name(out, d->at[0].chosen->problem->op);
	tk_buf_add_char(out, '_');
	tk_c_add_name(out, d->device->file);
}

static int write_header(
        struct tk_buf *out, const struct tk_dispatch *d, double tie, struct tk_error *err)
{
	char day[TK_TIME_ISO_SIZE], percent[TK_FORMAT_SIZE];
	const struct tk_dispatch_row **rows = tk_malloc(d->count * sizeof *rows);
	for (size_t i = 0; i < d->count; i++)
		rows[i] = &d->at[i];
	qsort(rows, d->count, sizeof *rows, compare_by_text);
	tk_buf_add_str(out, "/* The backend to use for each problem of ");
	tk_c_add_comment(out, d->at[0].chosen->problem->op);
	tk_buf_add_str(out, " on ");
	tk_c_add_comment(out, d->device->row->name);
	tk_buf_add_str(out, " (");
	tk_c_add_comment(out, d->device->name);
	tk_buf_add_printf(out,
	        "), by medians up to %s.\n * Backends tie within %s of the fastest, and where "
	        "intervals overlap. Written by tracker. */\n",
	        tk_time_format_day(newest_time(d), day), tk_format_percent(tie, percent));
	add_identifier(out, "#ifndef TRACKER_DISPATCH_", d);
	add_identifier(out, "\n#define TRACKER_DISPATCH_", d);
	tk_buf_add_str(out, "\n\n");
	tk_buf_add_str(out, common);
	add_identifier(out, "\nstatic const struct tracker_dispatch_entry tracker_dispatch_", d);
	tk_buf_add_str(out, "[] = {\n");
	for (size_t i = 0; i < d->count; i++) {
		const struct tk_site_series *s = rows[i]->chosen;
		tk_buf_add_str(out, "\t{");
		tk_c_add_string(out, s->problem->text);
		tk_buf_add_str(out, ", ");
		tk_c_add_string(out, s->row->backend);
		tk_buf_add_str(out, ", ");
		tk_c_add_string(out, s->row->config);
		tk_buf_add_printf(out, ", %.10g, %zu},\n", tk_series_last_point(s)->value,
		        rows[i]->standing.first_count - 1);
	}
	tk_buf_add_str(out, "};\n\n#endif\n");
	free(rows);
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

void tk_dispatch_path(
        const struct tk_dispatch *d, const char *op_file, char path[TK_DISPATCH_PATH_SIZE])
{
	snprintf(path, TK_DISPATCH_PATH_SIZE, "dispatch/%s@%s", op_file, d->device->file);
}

int tk_dispatch_write_files(struct tk_site *site, const struct tk_dispatch *d, const char *op_file,
        struct tk_error *err)
{
	static const char *const suffixes[] = {".json", ".csv", ".h"};
	struct tk_ceiling_set ceilings;
	struct tk_buf *out = &site->page;
	tk_ceiling_set_load(&site->model, d->device, &ceilings);
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		char path[TK_DISPATCH_PATH_SIZE];
		tk_dispatch_path(d, op_file, path);
		strncat(path, suffixes[i], sizeof path - strlen(path) - 1);
		tk_buf_clear(out);
		if (i == 0)
			write_json(out, d, &ceilings, site->options->tie);
		else if (i == 1)
			write_csv(out, d, &ceilings);
		else
			TRY(write_header(out, d, site->options->tie, err));
		TRY(tk_output_put(site->out, path, out, err));
	}
	return 0;
}
