/* `tracker series`: names of the series of other tools. */
#include "cli/commands.h"
#include "cli/table.h"
#include "store/renaming.h"
#include <inttypes.h>

#define FILE_MAX_BYTES (1 << 20)
#define ARROW " -> "

static struct {
	const char *action, *old_name, *new_name, *file;
	bool json;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("file", 0, "FILE", &opt.file,
                "rename: Take the names from FILE, a line `OLD -> NEW` each")},
        {TK_OPT_JSON(&opt.json, "list: print text (default) or JSON")},
        {TK_OPT_ARGUMENT(&opt.action, NULL)},
        {TK_OPT_ARGUMENT(&opt.old_name, NULL)},
        {TK_OPT_ARGUMENT(&opt.new_name, NULL)},
        {0},
};

static const char list_sql[] = "SELECT old_name AS old, new_name AS new, at_s AS \"renamed:time\""
                               " FROM renaming ORDER BY at_s, uid";

static const struct tk_column columns[] = {
        {"OLD", TK_COLUMN_CUT, "old"},
        {"NEW", TK_COLUMN_CUT, "new"},
        {"RENAMED", TK_COLUMN_LEFT, "renamed", TK_SHOW_DAY},
        {0},
};

static int list_renamings(struct tk_globals *g, struct tk_error *err)
{
	json_auto_t *rows = NULL;

	if (opt.old_name || opt.file)
		return tk_fail(err, TK_EUSAGE, "list: expected no names and no --file");
	TRY(tk_command_open(g, TK_OPENS_READ, err));
	TRY(tk_records_select(g->store, list_sql, TK_NO_ARGS, &rows, err));
	return tk_records_print(g, columns, json_incref(rows), opt.json, err);
}

/* Of a series, whose name on pages may be given, too. Free it. */
static int find_name(struct tk_store *s, const char *given, char **name, struct tk_error *err)
{
	json_auto_t *rows = NULL;
	TRY(tk_records_select(s, "SELECT title FROM series_v WHERE mode='imported' AND slug=?1",
	        TK_ARGS(given), &rows, err));
	const json_t *title = json_object_get(json_array_get(rows, 0), "title");

	*name = tk_strdup(json_is_string(title) ? json_string_value(title) : given);
	return TK_OK;
}

static int check_known(struct tk_store *s, const char *name, struct tk_error *err)
{
	json_auto_t *rows = NULL;
	int64_t known;

	TRY(tk_store_select_int(s,
	        "SELECT count(*) FROM problem WHERE op='foreign' AND title GLOB replace(?1, '[', "
	        "'[[]')",
	        TK_ARGS(name), 0, &known, err));
	if (known)
		return TK_OK;
	TRY(tk_records_select(s, "SELECT title FROM problem WHERE op='foreign' ORDER BY title",
	        TK_NO_ARGS, &rows, err));
	return tk_records_fail_unknown(rows, "title", name, "no imported series is called",
	        json_array_size(rows) ? NULL : "; the history has none", err);
}

/* ---- the file of names ----------------------------------------------------------------------- */

static void add_row(struct tk_rows *rows, char *old_name, char *new_name)
{
	struct tk_renaming_row *at;

	rows->rows = tk_reallocarray(rows->rows, rows->count + 1, sizeof *at);
	at = (struct tk_renaming_row *)rows->rows + rows->count++;
	*at = (struct tk_renaming_row){.old_name = old_name, .new_name = new_name};
}

/* Cuts the text into lines in place: names point into it. Empty lines and those that begin with
 * "#" are left out. */
static int read_lines(char *text, struct tk_rows *rows, struct tk_error *err)
{
	size_t number = 1;

	for (char *line = text, *end; *line; line = end, number++) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		line += strspn(line, " \t");
		char *arrow = strstr(line, ARROW);

		if (!*line || *line == '#')
			continue;
		if (!arrow)
			return tk_fail(
			        err, TK_EUSAGE, "%s:%zu: expected `OLD -> NEW`", opt.file, number);
		*arrow = '\0';
		add_row(rows, line, arrow + strlen(ARROW));
	}
	return TK_OK;
}

static int rename_by_file(struct tk_globals *g, int64_t *count, struct tk_error *err)
{
	AUTO(tk_buf) text = {0};
	struct tk_rows rows = {0};

	TRY(tk_file_read(opt.file, FILE_MAX_BYTES, &text, err));
	tk_buf_cstr(&text);
	int status = text.data ? read_lines(text.data, &rows, err) : TK_OK;

	if (!status)
		status = tk_store_rename_series(g->store, &rows, count, err);
	free(rows.rows);
	return status;
}

static int rename_one(struct tk_globals *g, int64_t *count, struct tk_error *err)
{
	AUTO_TEXT old_name = NULL;
	AUTO_TEXT new_name = NULL;

	TRY(find_name(g->store, opt.old_name, &old_name, err));
	TRY(find_name(g->store, opt.new_name, &new_name, err));
	TRY(check_known(g->store, old_name, err));
	struct tk_renaming_row row = {.old_name = old_name, .new_name = new_name};
	const struct tk_rows rows = {.rows = &row, .count = 1};

	return tk_store_rename_series(g->store, &rows, count, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int rename_series(struct tk_globals *g, struct tk_error *err)
{
	AUTO_PTR(tk_lock) lock = NULL;
	int64_t count;

	if (opt.file ? opt.old_name != NULL : !opt.new_name)
		return tk_fail(
		        err, TK_EUSAGE, "rename: expected the old and the new name, or --file");
	if (opt.json)
		return tk_fail(err, TK_EUSAGE, "rename: --format belongs to list");
	TRY(tk_command_open(g, TK_OPENS_WRITE, err));
	TRY(tk_store_lock(tk_store_path(g->store), &lock, err));
	TRY(opt.file ? rename_by_file(g, &count, err) : rename_one(g, &count, err));
	printf("%" PRId64 " series renamed; run `tracker detect --all` to analyse them\n", count);
	return TK_OK;
}

static int run_series(struct tk_globals *g, struct tk_error *err)
{
	static const struct {
		const char *name;
		int (*run)(struct tk_globals *g, struct tk_error *err);
	} actions[] = {{"list", list_renamings}, {"rename", rename_series}};
	const int a = TK_FIND_ACTION(actions, opt.action ? opt.action : "list", err);
	return a < 0 ? a : actions[a].run(g, err);
}

const struct tk_command tk_command_series = {.name = "series",
        .summary = "rename imported series, list what was renamed",
        .usage = {.options = options,
                .arguments = "[list]\nrename OLD NEW\nrename --file=FILE",
                .help = "Rename series of other tools, or list what was renamed.\v"
                        "OLD and NEW are names as the tool writes them, or the names of series "
                        "on pages. A series NEW that exists goes on with the points of OLD, so "
                        "that a benchmark which was renamed is compared across its new name. A "
                        "`*` stands for any text, the same in both. Names stay renamed in later "
                        "imports and merges; to rename back takes it back. Verdicts and alerts "
                        "of these series are deleted: `tracker detect --all` makes them "
                        "again.\n\n"
                        "Examples:\n"
                        "  tracker series\n"
                        "  tracker series rename iree-dylib/matmul iree-llvm-cpu/matmul\n"
                        "  tracker series rename 'bench/*' 'benchmarks/*'\n"
                        "  tracker series rename --file=renames.txt"},
        .run = run_series};
