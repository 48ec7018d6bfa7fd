/* `tracker inputs`: texts that problems take their inputs from. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/process.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/records.h"
#include "config/config.h"
#include "suite/text_inputs.h"

#define FILE_MAX ((size_t)64 << 20)
#define PARQUET_S 120.0

static struct inputs_options {
	const char *action;
	struct tk_option_list names;
	bool json;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_ARGUMENT(&opt.action, "missing action; expected import or list")},
        {TK_OPT_ARGUMENTS(&opt.names, NULL)},
        {0},
};

/* ---- import ---- */

static int import_text(const char *path, struct tk_text *t, struct tk_error *err)
{
	AUTO(tk_buf) file = TK_BUF_INIT;
	TRY(tk_file_read(path, FILE_MAX, &file, err));
	return tk_text_add_document(t, file.data, file.len, err);
}

/* Rows end with a NUL. More than the tokens that are kept need is not read. */
static const char parquet_script[] =
        "import sys\n"
        "try:\n"
        "    import pyarrow.parquet as parquet\n"
        "except ImportError:\n"
        "    sys.exit('python3 has no module pyarrow; `pip install pyarrow` installs it')\n"
        "file = parquet.ParquetFile(sys.argv[1])\n"
        "if 'text' not in file.schema_arrow.names:\n"
        "    sys.exit('no column \"text\"; found ' + ', '.join(file.schema_arrow.names))\n"
        "left = 4 << 20\n"
        "for batch in file.iter_batches(columns=['text'], batch_size=1024):\n"
        "    for row in batch.column(0).to_pylist():\n"
        "        data = (row or '').replace('\\0', ' ').encode()\n"
        "        sys.stdout.buffer.write(data + b'\\0')\n"
        "        left -= len(data)\n"
        "    if left < 0:\n"
        "        break\n";

static int add_rows(const struct tk_buf *rows, struct tk_text *t, struct tk_error *err)
{
	for (size_t at = 0; at < rows->len;) {
		const char *end = memchr(rows->data + at, '\0', rows->len - at);
		size_t len = end ? (size_t)(end - rows->data) - at : rows->len - at;

		TRY(tk_text_add_document(t, rows->data + at, len, err));
		at += len + 1;
	}
	return TK_OK;
}

static int import_parquet(const char *path, struct tk_text *t, struct tk_error *err)
{
	const char *argv[] = {"python3", "-c", parquet_script, path, NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = PARQUET_S};
	AUTO(tk_process_result) result = {0};
	TRY(tk_process_run(&spec, &result, err));
	TRY(tk_process_check(&spec, &result, err));
	return add_rows(&result.out, t, err);
}

static bool is_parquet(const char *path)
{
	size_t len = strlen(path);

	return len > 8 && strcmp(path + len - 8, ".parquet") == 0;
}

static json_t *describe(const struct tk_text *t)
{
	return json_pack("{s:s, s:s+, s:I, s:I, s:I}", "name", t->name, "dist", "text:", t->name,
	        "tokens", (json_int_t)t->count, "distinct", (json_int_t)tk_text_count_distinct(t),
	        "documents", (json_int_t)tk_text_count_documents(t));
}

static int import(const struct inputs_options *o, const char *root, struct tk_error *err)
{
	AUTO(tk_text) t = {.count = 0};
	int status = TK_OK;

	if (o->names.count < 2)
		return tk_fail(err, TK_EUSAGE, "expected a NAME and at least one FILE");
	for (size_t i = 1; !status && i < o->names.count; i++) {
		status = is_parquet(o->names.items[i]) ? import_parquet(o->names.items[i], &t, err)
		                                       : import_text(o->names.items[i], &t, err);
		if (status)
			tk_error_add_context(err, "%s", o->names.items[i]);
	}
	if (!status)
		status = tk_text_save(&t, root, o->names.items[0], err);
	if (!status && o->json)
		status = tk_command_print_json(describe(&t), err);
	else if (!status)
		printf("text:%s: %zu tokens, %zu distinct, of %zu document%s%s\n", t.name, t.count,
		        tk_text_count_distinct(&t), tk_text_count_documents(&t),
		        tk_text_count_documents(&t) == 1 ? "" : "s",
		        t.count == TK_TEXT_TOKENS_MAX ? "; the rest was left out" : "");
	return status;
}

/* ---- list ---- */

static const struct tk_column columns[] = {
        {"DIST", TK_COLUMN_LEFT, "dist", 0, NULL},
        {"TOKENS", TK_COLUMN_RIGHT, "tokens", 0, NULL},
        {"DISTINCT", TK_COLUMN_RIGHT, "distinct", 0, NULL},
        {"DOCUMENTS", TK_COLUMN_RIGHT, "documents", 0, NULL},
        {0},
};

static int list(const struct tk_globals *g, const struct inputs_options *o, const char *root,
        struct tk_error *err)
{
	json_auto_t *json = json_array();
	char **names = NULL;
	size_t count = 0;
	int status = o->names.count ? tk_fail(err, TK_EUSAGE, "list: unexpected argument \"%s\"",
	                                      o->names.items[0])
	                            : tk_text_list_names(root, &names, &count, err);

	for (size_t i = 0; !status && i < count; i++) {
		struct tk_text t;

		status = tk_text_load(root, names[i], &t, err);
		if (status)
			break;
		json_array_append_new(json, describe(&t));
		tk_text_free(&t);
	}
	tk_names_free(names, count);
	if (!status)
		status = tk_records_print(g, columns, json_incref(json), o->json, NULL, err);
	return status;
}

static int run_inputs(struct tk_globals *g, struct tk_error *err)
{
	static const char *const actions[] = {"import", "list", NULL};

	if (strcmp(opt.action, "import") == 0)
		return import(&opt, g->config->root, err);
	if (strcmp(opt.action, "list") == 0)
		return list(g, &opt, g->config->root, err);
	return tk_options_fail_action(opt.action, actions, err);
}

const struct tk_command tk_command_inputs = {.name = "inputs",
        .summary = "import and list texts that inputs are made of",
        .usage = {.options = options,
                .arguments = "import NAME FILE...\nlist",
                .help = "Import and list the texts that problems with dist=text:NAME take their "
                        "inputs from.\v"
                        "  import   store the tokens of plain text or of the column \"text\" of "
                        "Parquet files\n"
                        "           (*.parquet; needs python3 with pyarrow) in inputs/ beside "
                        "tracker.yml, and\n"
                        "           print the name with the hash of the tokens. A file is a "
                        "document, in Parquet\n"
                        "           a row is; the first 65,536 tokens are kept\n"
                        "  list     list the texts in inputs/ here and in the tracker\n\n"
                        "Examples:\n"
                        "  tracker inputs import book chapter-1.txt chapter-2.txt\n"
                        "  tracker inputs import wikitext "
                        "wikitext-103-v1/test-00000-of-00001.parquet\n"
                        "  tracker inputs list --format=json"},
        .opens = TK_OPENS_CONFIG,
        .run = run_inputs};
