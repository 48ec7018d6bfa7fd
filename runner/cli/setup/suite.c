/* `tracker suite`: lists, checks and shows suites. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/problem.h"
#include "suite/find.h"
#include "suite/suite.h"

static struct suite_options {
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
	return slash == g->config_path
	               ? tk_strdup("/")
	               : tk_strndup(g->config_path, (size_t)(slash - g->config_path));
}

static int load(
        const struct tk_globals *g, const char *name, struct tk_suite **out, struct tk_error *err)
{
	char *root = root_for(g, name);
	int status = tk_suite_load(root, name, out, err);

	free(root);
	return status == TK_ENOTFOUND ? (err->status = TK_EUSAGE) : status;
}

static int find_names(
        const struct tk_globals *g, char ***names, size_t *count, struct tk_error *err)
{
	AUTO_TEXT root = root_for(g, NULL);
	return tk_suite_list_names(root, names, count, err);
}

static const struct tk_column list_columns[] = {
        {"SUITE", TK_COLUMN_LEFT, "name", 0, NULL},
        {"PROBLEMS", TK_COLUMN_RIGHT, "problems", 0, NULL},
        {"TITLE", TK_COLUMN_WRAP, "title", 0, NULL},
        {"SEQUENCE", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), NULL, 0, NULL},
        {"FILE", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1), "path", 0, NULL},
        {0},
};

static void list_row(struct tk_table *t, json_t *json, const char *name, const struct tk_suite *s)
{
	json_t *row = s ? json_pack("{s:s, s:s, s:s, s:s, s:I, s:b}", "name", s->name, "title",
	                          s->title, "path", s->path, "hash", s->hash, "problems",
	                          (json_int_t)s->count, "sequence", s->is_sequence)
	                : json_pack("{s:s, s:b}", "name", name, "broken", 1);

	tk_table_add_record(t, row);
	json_array_append_new(json, row);
	if (!s) {
		tk_table_set_cell(t, "PROBLEMS", "-");
		tk_table_set_cell(t, "TITLE", "cannot be read");
	} else if (s->is_sequence) {
		tk_table_set_cell(t, "SEQUENCE", "yes");
	}
}

/* A broken suite has its row, and its message after the table. */
static int list(const struct tk_globals *g, const struct suite_options *o, struct tk_error *err)
{
	struct tk_error broken = {0};
	struct tk_table *t = tk_table_new(g, list_columns);
	json_t *json = json_array();
	char **names = NULL;
	size_t count = 0;
	int status = o->names.count ? tk_fail(err, TK_EUSAGE, "list: unexpected argument \"%s\"",
	                                      o->names.items[0])
	                            : find_names(g, &names, &count, err);

	for (size_t i = 0; !status && i < count; i++) {
		struct tk_suite *s = NULL;
		struct tk_error why = {0};

		if (load(g, names[i], &s, &why))
			broken = why;
		list_row(t, json, names[i], s);
		tk_suite_free(s);
	}
	tk_names_free(names, count);
	if (!status)
		status = o->json ? tk_command_print_json(json_incref(json), err)
		                 : tk_table_print(t, stdout, err);
	tk_table_free(t);
	json_decref(json);
	if (status || !broken.status)
		return status;
	*err = broken;
	return err->status;
}

static int check(const struct tk_globals *g, const struct suite_options *o, struct tk_error *err)
{
	char **found = NULL, **names = o->names.items;
	size_t found_count = 0, count = o->names.count;
	int code = TK_EXIT_OK;

	if (!count) {
		TRY(find_names(g, &found, &found_count, err));
		names = found;
		count = found_count;
	}
	for (size_t i = 0; i < count; i++) {
		struct tk_suite *s = NULL;

		if (load(g, names[i], &s, err)) {
			int this_code = tk_command_fail("suite check", err);

			code = this_code > code ? this_code : code;
		} else if (!g->quiet)
			printf("%s: %zu problem%s\n", s->path, s->count, s->count == 1 ? "" : "s");
		tk_suite_free(s);
	}
	tk_names_free(found, found_count);
	return code;
}

static const struct tk_column show_columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"GFLOP", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"MB", TK_COLUMN_RIGHT, NULL, 0, NULL},
        {"FLOP/B", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3), NULL, 0, NULL},
        {"GROUP", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "group", 0, NULL},
        {"SOURCE", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1), "source", 0, NULL},
        {0},
};

static void show_row(struct tk_table *t, json_t *json, const struct tk_suite_problem *row,
        const struct tk_problem_spec *p)
{
	double flops = tk_problem_flops(p), bytes = tk_problem_bytes(p);
	char title[160];
	json_t *o;

	tk_problem_format_title(p, title, sizeof title);
	o = json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:s, s:s}", "problem", p->text, "title",
	        title, "op", tk_problem_op_name(p), "dtype", tk_problem_dtype_name(p), "flops",
	        flops, "bytes", bytes, "group", row->group, "source", row->source);
	tk_table_add_record(t, o);
	json_array_append_new(json, o);
	tk_table_set_cell(t, "GFLOP", "%.4g", flops / 1e9);
	tk_table_set_cell(t, "MB", "%.4g", bytes / 1e6);
	tk_table_set_cell(t, "FLOP/B", "%.3g", bytes > 0 ? flops / bytes : 0);
}

static int show_suite(const struct tk_globals *g, const struct suite_options *o,
        const struct tk_suite *s, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, show_columns);
	json_auto_t *problems = json_array();
	int status = TK_OK;

	for (size_t i = 0; !status && i < s->count; i++) {
		struct tk_problem_spec p;

		status = tk_problem_parse(&p, s->problems[i].text, err);
		if (!status)
			show_row(t, problems, &s->problems[i], &p);
	}
	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:s, s:s, s:s, s:s, s:O}", "name", s->name, "title", s->title,
		                "path", s->path, "hash", s->hash, "problems", problems),
		        err);
	else if (!status)
		status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int show(const struct tk_globals *g, const struct suite_options *o, struct tk_error *err)
{
	struct tk_suite *s = NULL;
	int status;

	if (o->names.count != 1)
		status = tk_fail(err, TK_EUSAGE,
		        "expected one NAME or FILE; `tracker suite list` lists the suites");
	else
		status = load(g, o->names.items[0], &s, err);
	if (!status)
		status = show_suite(g, o, s, err);
	tk_suite_free(s);
	return status;
}

static int run_suite(struct tk_globals *g, struct tk_error *err)
{
	static const char *const actions[] = {"list", "check", "show", NULL};
	static int (*const run[])(const struct tk_globals *g, const struct suite_options *o,
	        struct tk_error *err) = {list, check, show};

	for (size_t i = 0; actions[i]; i++)
		if (strcmp(actions[i], opt.action) == 0)
			return run[i](g, &opt, err);
	return tk_options_fail_action(opt.action, actions, err);
}

const struct tk_command tk_command_suite = {.name = "suite",
        .summary = "list, check and show the suites",
        .usage = {.options = options,
                .arguments = "list\ncheck [NAME|FILE...]\nshow NAME|FILE",
                .help = "List, check and show the suites: the problems that are measured.\v"
                        "  list     list the suites in suites/ here and in the tracker\n"
                        "  check    read suites (default: all) and report mistakes by line and "
                        "column\n"
                        "  show     show every problem of a suite as every command reads it, "
                        "with its FLOPs\n"
                        "           and compulsory bytes\n\n"
                        "Examples:\n"
                        "  tracker suite list\n"
                        "  tracker suite check suites/mine.yml\n"
                        "  tracker suite show smoke --format=json"},
        .run = run_suite};
