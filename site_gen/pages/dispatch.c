/* The dispatch table of a kernel on a device: on its page, and as dispatch/OP@DEVICE.json, .csv
 * and .h for other programs. */
#include "base/csv.h"
#include "site_gen/pages/kernels.h"
#include "site_gen/render/escape.h"
#include "store/query/record.h"

static void write_csv(struct tk_buf *out, const json_t *rows)
{
	static const char *const keys[] = {"problem", "title", "label", "backend", "config",
	        "upstream", "time_ns", "lo_ns", "hi_ns", "rate", "rate_unit",
	        "share_of_datasheet_peak", "tied", "next", "next_ratio"};
	const size_t count = sizeof keys / sizeof *keys;
	const json_t *row, *other;
	size_t i, k;
	for (k = 0; k < count; k++)
		tk_buf_add_printf(out, k ? ",%s" : "%s", keys[k]);
	json_array_foreach (rows, i, row) {
		tk_buf_add_str(out, "\r\n");
		for (k = 0; k < count; k++) {
			const json_t *cell = json_object_get(row, keys[k]);
			AUTO(tk_buf) text = TK_BUF_INIT;
			size_t n;
			json_array_foreach (cell, n, other)
				tk_buf_add_printf(
				        &text, n ? "; %s" : "%s", json_string_value(other));
			tk_buf_add_str(out, k ? "," : "");
			if (json_is_number(cell))
				tk_buf_add_printf(out, "%.10g", json_number_value(cell));
			else if (!json_is_null(cell))
				tk_csv_add_text(out, json_is_string(cell) ? json_string_value(cell)
				                                          : tk_buf_cstr(&text));
		}
	}
	tk_buf_add_str(out, "\r\n");
}

/* ---- C header ---- */

static int compare_by_problem(const void *a, const void *b)
{
	return strcmp(tk_record_text(*(json_t *const *)a, "problem"),
	        tk_record_text(*(json_t *const *)b, "problem"));
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

static void write_header(struct tk_buf *out, const json_t *head, const json_t *rows)
{
	const size_t count = json_array_size(rows);
	const json_t **sorted = tk_malloc((count + 1) * sizeof *sorted);
	AUTO(tk_buf) name = TK_BUF_INIT;
	char percent[TK_FORMAT_SIZE];
	for (size_t i = 0; i < count; i++)
		sorted[i] = json_array_get(rows, i);
	tk_sort(sorted, count, sizeof *sorted, compare_by_problem);
	tk_c_add_name(&name, tk_record_text(head, "op"));
	tk_buf_add_char(&name, '_');
	tk_c_add_name(&name, tk_record_text(head, "file"));
	tk_buf_add_str(out, "/* The backend to use for each problem of ");
	tk_c_add_comment(out, tk_record_text(head, "op"));
	tk_buf_add_str(out, " on ");
	tk_c_add_comment(out, tk_record_text(head, "device_model"));
	tk_buf_add_str(out, " (");
	tk_c_add_comment(out, tk_record_text(head, "name"));
	tk_buf_add_printf(out,
	        "), by medians up to %.10s.\n * Backends tie within %s of the fastest, and where "
	        "intervals overlap. Written by tracker. */\n"
	        "#ifndef TRACKER_DISPATCH_%s\n#define TRACKER_DISPATCH_%s\n\n%s"
	        "\nstatic const struct tracker_dispatch_entry tracker_dispatch_%s[] = {\n",
	        tk_record_text(head, "newest"),
	        tk_format_percent(tk_record_number(head, "tie"), percent), tk_buf_cstr(&name),
	        tk_buf_cstr(&name), common, tk_buf_cstr(&name));
	for (size_t i = 0; i < count; i++) {
		const char *const texts[] = {tk_record_text(sorted[i], "problem"),
		        tk_record_text(sorted[i], "backend"), tk_record_text(sorted[i], "config")};
		for (size_t k = 0; k < 3; k++) {
			tk_buf_add_str(out, k ? ", " : "\t{");
			tk_c_add_string(out, texts[k]);
		}
		tk_buf_add_printf(out, ", %.10g, %zu},\n", tk_record_number(sorted[i], "time_ns"),
		        json_array_size(json_object_get(sorted[i], "tied")));
	}
	tk_buf_add_str(out, "};\n\n#endif\n");
	free(sorted);
}

/* ---- all ---- */

static int put_files(
        struct tk_site *site, const char *path, json_t *head, json_t *rows, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	char file[TK_PAGE_PATH_SIZE + 8];
	tk_buf_clear(out);
	write_csv(out, rows);
	snprintf(file, sizeof file, "%s.csv", path);
	TRY(tk_output_put(site->out, file, out, err));
	tk_buf_clear(out);
	write_header(out, head, rows);
	snprintf(file, sizeof file, "%s.h", path);
	TRY(tk_output_put(site->out, file, out, err));
	json_object_del(head, "name");
	json_object_del(head, "file");
	AUTO_TEXT text = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9));
	text[strlen(text) - 1] = 0;
	AUTO_TEXT begin = tk_sprintf("{\"format\":1,%s,\"problems\":[", text + 1);
	snprintf(file, sizeof file, "%s.json", path);
	return tk_page_put_rows(site, file, begin, json_incref(rows), err);
}

int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_table *table, bool has_files, bool has_rows, struct tk_error *err)
{
	const struct tk_arg *args = TK_ARGS(table->device->row->id, table->op);
	json_t *rows, *heads;
	TRY(tk_page_add_sql(site, o, "dispatch", TK_ARGS(args[0].i, table->op, has_rows), err));
	const char *href = tk_value_find_text(o, "dispatch_href");
	if (!has_files || !*href)
		return 0;
	TRY(tk_records_select(
	        site->model.store, tk_page_find_sql(site, "api", "dispatch"), args, &rows, err));
	int status = tk_records_select(site->model.store,
	        tk_page_find_sql(site, "api", "dispatch_head"), args, &heads, err);
	if (!status)
		status = put_files(site, href + strlen("../"), json_array_get(heads, 0), rows, err);
	json_decref(rows);
	json_decref(heads);
	return status;
}
