/* `tracker suite`: lists, checks and shows suites. */
#include "config/suite.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/problem.h"

static struct {
	const char *action;
	struct tk_option_list names;
	bool json;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_JSON(&opt.json, "list, show: print a table (default) or JSON")},
        {TK_OPT_ARGUMENT(&opt.action, "missing action; expected list, check or show")},
        {TK_OPT_ARGUMENTS(&opt.names, NULL)},
        {0},
};

/* Names are searched beside the configuration; paths start from the current folder. */
static char *root_for(const struct tk_globals *g, const char *name)
{
	const char *slash = g->config_path ? strrchr(g->config_path, '/') : NULL;

	if (!slash || (name && tk_suite_name_is_path(name)))
		return tk_strdup(".");
	return tk_strndup(
	        g->config_path, slash == g->config_path ? 1 : (size_t)(slash - g->config_path));
}

static int load(
        const struct tk_globals *g, const char *name, struct tk_suite **out, struct tk_error *err)
{
	AUTO_TEXT root = root_for(g, name);
	int status = tk_suite_load(root, name, out, err);

	return status == TK_ENOTFOUND ? (err->status = TK_EUSAGE) : status;
}

static int find_names(
        const struct tk_globals *g, char ***names, size_t *count, struct tk_error *err)
{
	AUTO_TEXT root = root_for(g, NULL);

	return tk_suite_list_names(root, names, count, err);
}

static const struct tk_column list_columns[] = {
        {"SUITE", TK_COLUMN_LEFT, "name"},
        {"PROBLEMS", TK_COLUMN_RIGHT, "{problems|-}"},
        {"TITLE", TK_COLUMN_WRAP, "{title|cannot be read}"},
        {"SEQUENCE", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "[{?sequence}yes]"},
        {"FILE", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1), "path"},
        {0},
};

/* A broken suite has its row, and its message after the table. */
static int list(const struct tk_globals *g, struct tk_error *err)
{
	struct tk_error broken = {0};
	json_t *rows;
	char **names;
	size_t count;

	if (opt.names.count)
		return tk_fail(
		        err, TK_EUSAGE, "list: unexpected argument \"%s\"", opt.names.items[0]);
	TRY(find_names(g, &names, &count, err));
	rows = json_array();
	for (size_t i = 0; i < count; i++) {
		AUTO_PTR(tk_suite) s = NULL;
		bool is_broken = load(g, names[i], &s, &broken);

		json_array_append_new(
		        rows, is_broken ? json_pack("{s:s, s:b}", "name", names[i], "broken", 1)
		                        : json_pack("{s:s, s:s, s:s, s:s, s:I, s:b}", "name",
		                                  s->name, "title", s->title, "path", s->path,
		                                  "hash", s->hash, "problems", (json_int_t)s->count,
		                                  "sequence", s->is_sequence));
	}
	tk_names_free(names, count);
	TRY(tk_records_print(g, list_columns, rows, opt.json, err));
	if (broken.status)
		*err = broken;
	return broken.status;
}

static int check(const struct tk_globals *g, struct tk_error *err)
{
	char **found = NULL, **names = opt.names.items;
	size_t found_count = 0, count = opt.names.count;
	int code = TK_EXIT_OK;

	if (!count) {
		TRY(find_names(g, &found, &found_count, err));
		names = found;
		count = found_count;
	}
	for (size_t i = 0; i < count; i++) {
		AUTO_PTR(tk_suite) s = NULL;

		if (load(g, names[i], &s, err)) {
			int this_code = tk_command_fail("suite check", err);

			code = this_code > code ? this_code : code;
		} else if (!g->quiet)
			printf("%s: %zu problem%s\n", s->path, s->count, s->count == 1 ? "" : "s");
	}
	tk_names_free(found, found_count);
	return code;
}

static const struct tk_column show_columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title"},
        {"GFLOP", TK_COLUMN_RIGHT},
        {"MB", TK_COLUMN_RIGHT},
        {"FLOP/B", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3)},
        {"GROUP", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "group"},
        {"SOURCE", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1), "source"},
        {0},
};

static json_t *describe_problem(const struct tk_suite_problem *row, const struct tk_problem_spec *p)
{
	double flops = tk_problem_flops(p), bytes = tk_problem_bytes(p);
	char title[160];

	tk_problem_format_title(p, title, sizeof title);
	return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:s, s:s}", "problem", p->text, "title",
	        title, "op", tk_problem_op_name(p), "dtype", tk_problem_dtype_name(p), "flops",
	        flops, "bytes", bytes, "group", row->group, "source", row->source);
}

static int show(const struct tk_globals *g, struct tk_error *err)
{
	AUTO_PTR(tk_suite) s = NULL;
	json_auto_t *problems = json_array();
	struct tk_problem_spec p;
	const json_t *row;
	struct tk_table *t;
	size_t i;

	if (opt.names.count != 1)
		return tk_fail(err, TK_EUSAGE,
		        "expected one NAME or FILE; `tracker suite list` lists the suites");
	TRY(load(g, opt.names.items[0], &s, err));
	for (i = 0; i < s->count; i++) {
		TRY(tk_problem_parse(&p, s->problems[i].text, err));
		json_array_append_new(problems, describe_problem(&s->problems[i], &p));
	}
	if (opt.json)
		return tk_command_print_json(
		        json_pack("{s:s, s:s, s:s, s:s, s:O}", "name", s->name, "title", s->title,
		                "path", s->path, "hash", s->hash, "problems", problems),
		        err);
	t = tk_table_new(g, show_columns);
	json_array_foreach (problems, i, row) {
		double flops = tk_record_number(row, "flops"),
		       bytes = tk_record_number(row, "bytes");

		tk_table_add_record(t, row);
		tk_table_set_cell(t, "GFLOP", "%.4g", flops / 1e9);
		tk_table_set_cell(t, "MB", "%.4g", bytes / 1e6);
		tk_table_set_cell(t, "FLOP/B", "%.3g", bytes > 0 ? flops / bytes : 0);
	}
	return tk_table_finish(t, stdout, err);
}

static int run_suite(struct tk_globals *g, struct tk_error *err)
{
	static const struct {
		const char *name;
		int (*run)(const struct tk_globals *g, struct tk_error *err);
	} actions[] = {{"list", list}, {"check", check}, {"show", show}};
	const int a = TK_FIND_ACTION(actions, opt.action, err);

	return a < 0 ? a : actions[a].run(g, err);
}

const struct tk_command tk_command_suite = {.name = "suite",
        .summary = "list, check and show the suites",
        .usage = {.options = options,
                .arguments = "list\ncheck [NAME|FILE...]\nshow NAME|FILE",
                .help = "List, check and show the suites: the problems that are measured.\v"
                        "  list     list the suites in suites/ here and in the tracker\n"
                        "  check    report mistakes by line and column (default: in all)\n"
                        "  show     show every problem with its FLOPs and compulsory bytes\n\n"
                        "Examples:\n"
                        "  tracker suite list\n"
                        "  tracker suite check suites/mine.yml\n"
                        "  tracker suite show smoke --format=json"},
        .run = run_suite};

/* `tracker inputs`: texts that problems take their inputs from. */

#define FILE_MAX ((size_t)64 << 20)
#define PARQUET_S 120.0

static struct {
	const char *action;
	struct tk_option_list names;
	bool json;
} inputs_opt;

static const struct tk_option inputs_options[] = {
        {TK_OPT_JSON(&inputs_opt.json, "Print a table (default) or JSON")},
        {TK_OPT_ARGUMENT(&inputs_opt.action, "missing action; expected import or list")},
        {TK_OPT_ARGUMENTS(&inputs_opt.names, NULL)},
        {0},
};

/* ---- import ---- */

static int import_text(const char *path, struct tk_text *t, struct tk_error *err)
{
	AUTO(tk_buf) file = TK_BUF_INIT;
	TRY(tk_file_read(path, FILE_MAX, &file, err));
	tk_text_add_document(t, file.data, file.len);
	return TK_OK;
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

		tk_text_add_document(t, rows->data + at, len);
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

static int import(const struct tk_globals *g, const char *root, struct tk_error *err)
{
	AUTO(tk_text) t = {.count = 0};
	int status = TK_OK;

	if (inputs_opt.names.count < 2)
		return tk_fail(err, TK_EUSAGE, "expected a NAME and at least one FILE");
	for (size_t i = 1; !status && i < inputs_opt.names.count; i++) {
		status = is_parquet(inputs_opt.names.items[i])
		                 ? import_parquet(inputs_opt.names.items[i], &t, err)
		                 : import_text(inputs_opt.names.items[i], &t, err);
		if (status)
			tk_error_add_context(err, "%s", inputs_opt.names.items[i]);
	}
	if (!status)
		status = tk_text_save(&t, root, inputs_opt.names.items[0], err);
	if (!status && inputs_opt.json)
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
        {"DIST", TK_COLUMN_LEFT, "dist"},
        {"TOKENS", TK_COLUMN_RIGHT, "tokens"},
        {"DISTINCT", TK_COLUMN_RIGHT, "distinct"},
        {"DOCUMENTS", TK_COLUMN_RIGHT, "documents"},
        {0},
};

static int inputs_list(const struct tk_globals *g, const char *root, struct tk_error *err)
{
	json_auto_t *rows = json_array();
	char **names;
	size_t count;
	int status = TK_OK;

	if (inputs_opt.names.count)
		return tk_fail(err, TK_EUSAGE, "list: unexpected argument \"%s\"",
		        inputs_opt.names.items[0]);
	TRY(tk_text_list_names(root, &names, &count, err));
	for (size_t i = 0; !status && i < count; i++) {
		struct tk_text t;

		if (!(status = tk_text_load(root, names[i], &t, err))) {
			json_array_append_new(rows, describe(&t));
			tk_text_free(&t);
		}
	}
	tk_names_free(names, count);
	return status ? status
	              : tk_records_print(g, columns, json_incref(rows), inputs_opt.json, err);
}

static int run_inputs(struct tk_globals *g, struct tk_error *err)
{
	static const struct {
		const char *name;
		int (*run)(const struct tk_globals *g, const char *root, struct tk_error *err);
	} actions[] = {{"import", import}, {"list", inputs_list}};
	const int a = TK_FIND_ACTION(actions, inputs_opt.action, err);

	return a < 0 ? a : actions[a].run(g, g->config->root, err);
}

const struct tk_command tk_command_inputs = {.name = "inputs",
        .summary = "import and list texts that inputs are made of",
        .usage = {.options = inputs_options,
                .arguments = "import NAME FILE...\nlist",
                .help = "Import and list the texts that problems with dist=text:NAME take their "
                        "inputs from.\v"
                        "  import   store the tokens of FILEs in inputs/ beside tracker.yml\n"
                        "  list     list the texts in inputs/ here and in the tracker\n\n"
                        "A FILE is plain text, or Parquet (*.parquet, with a column \"text\"; "
                        "needs python3 with pyarrow). A file is a document, in Parquet a row is; "
                        "the first 65,536 tokens are kept. `import` prints the name with the hash "
                        "of the tokens.\n\n"
                        "Examples:\n"
                        "  tracker inputs import book chapter-1.txt chapter-2.txt\n"
                        "  tracker inputs import wikitext "
                        "wikitext-103-v1/test-00000-of-00001.parquet\n"
                        "  tracker inputs list --format=json"},
        .opens = TK_OPENS_CONFIG,
        .run = run_inputs};
