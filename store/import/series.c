/* The series of foreign results: found or made, with the direction that the user, the file or the
 * unit gives; a stored one keeps its unit and its direction. And failures: a series that has been
 * measured gets a run of its own that says why it is not now. */
#include "core/vocabulary.h"
#include "store/import/sink.h"
#include <fnmatch.h>
#include <search.h>

static void free_entry(void *entry)
{
	struct series_entry *e = entry;

	free(e->key);
	free(e->unit);
	free(e->written);
	free(e->column);
	free(e);
}

void tk_import_series_free(struct tk_import_state *st)
{
	tdestroy(st->series, free_entry);
	for (size_t i = 0; i < st->unknown_count; i++) {
		free(st->unknown[i].unit);
		free(st->unknown[i].file);
		free(st->unknown[i].series);
	}
	free(st->unknown);
	for (size_t i = 0; i < st->failure_count; i++)
		free(st->failures[i].texts);
	free(st->failures);
}

/* ---- which direction is better --------------------------------------------------------------- */

static enum tk_better parse_better(const char *word)
{
	enum tk_better better = TK_BETTER_UNKNOWN;

	tk_better_parse(word, &better);
	return better;
}

int tk_import_check_better(const struct tk_import_request *request, struct tk_error *err)
{
	for (size_t i = 0; i < request->better_count; i++) {
		static const char *const words[] = {"lower", "higher", NULL};
		const char *text = request->better[i], *equals = strrchr(text, '=');
		char hint[TK_SUGGEST_HINT_SIZE];
		if (parse_better(equals ? equals + 1 : text) == TK_BETTER_UNKNOWN || equals == text)
			return tk_fail(err, TK_EUSAGE,
			        "--better: \"%s\" is not a direction%s (expected lower, higher, "
			        "or NAME=higher for a unit, a metric or the series of a pattern)",
			        text, tk_suggest_hint(equals ? equals + 1 : text, words, "", hint));
	}
	return 0;
}

/* The last option that matches. */
static enum tk_better find_option(
        const struct tk_import_request *request, const struct tk_import_row *p, const char *metric)
{
	enum tk_better better = TK_BETTER_UNKNOWN;

	for (size_t i = 0; i < request->better_count; i++) {
		const char *text = request->better[i], *equals = strrchr(text, '=');
		AUTO_TEXT name = tk_strndup(text, equals ? (size_t)(equals - text) : 0);

		if (!equals || !strcmp(name, tk_text_or(p->unit, "")) ||
		        !fnmatch(name, p->series, 0) || !fnmatch(name, metric, 0))
			better = parse_better(equals ? equals + 1 : text);
	}
	return better;
}

/* A format may say that nobody can know. */
static bool may_be_unknown(const struct tk_import_sink *s, const struct tk_import_row *p)
{
	return s->request->allow_unknown_units || p->better;
}

static void add_unknown(struct tk_import_sink *s, const struct tk_import_row *p)
{
	struct tk_import_state *st = s->state;
	const char *unit = tk_text_or(p->unit, "");

	for (size_t i = 0; i < st->unknown_count; i++)
		if (!strcmp(st->unknown[i].unit, unit)) {
			st->unknown[i].count++;
			return;
		}
	st->unknown = tk_reallocarray(st->unknown, st->unknown_count + 1, sizeof(*st->unknown));
	st->unknown[st->unknown_count++] = (struct unknown_unit){.unit = tk_strdup(unit),
	        .file = tk_strdup(s->file->path),
	        .series = tk_strdup(p->series),
	        .count = 1};
}

void tk_import_report_unknown(struct tk_import_sink *s)
{
	for (size_t i = 0; i < s->state->unknown_count; i++) {
		const struct unknown_unit *u = &s->state->unknown[i];
		AUTO(tk_buf) text = {0};

		tk_buf_add_printf(&text, "%s: ", u->file);
		if (*u->unit)
			tk_buf_add_printf(&text, "the unit \"%s\" of ", u->unit);
		tk_buf_add_printf(&text, "\"%.200s\"", u->series);
		if (u->count > 1)
			tk_buf_add_printf(&text, " and %zu more", u->count - 1);
		tk_buf_add_printf(&text,
		        " %s: which direction is better? Add --better='%.200s=higher' or =lower%s, "
		        "or --allow-unknown-units",
		        *u->unit       ? "is not known"
		        : u->count > 1 ? "have no unit"
		                       : "has no unit",
		        *u->unit ? u->unit : u->series,
		        !*u->unit && u->count > 1 ? " (a pattern is for several)" : "");
		tk_import_add_error(s, tk_buf_cstr(&text));
	}
}

/* ---- series ---------------------------------------------------------------------------------- */

static void note(int64_t *count, char first[256], const char *text)
{
	if (!(*count)++)
		snprintf(first, 256, "%s", text);
}

/* wanted: what the file and the unit say; said: what an option says. */
static int settle_direction(struct tk_import_sink *s, const struct tk_import_row *p,
        const struct tk_series_row *stored, enum tk_better wanted, enum tk_better said,
        struct tk_error *err)
{
	if (said != TK_BETTER_UNKNOWN)
		wanted = said;
	if (stored->better == TK_BETTER_UNKNOWN && wanted != TK_BETTER_UNKNOWN)
		return tk_store_run(s->store, "UPDATE series SET better=?2 WHERE id=?1",
		        TK_ARGS(stored->id, tk_better_name(wanted)), err);
	if (wanted == TK_BETTER_UNKNOWN || wanted == stored->better)
		return 0;
	if (said != TK_BETTER_UNKNOWN)
		return tk_fail(err, TK_EUSAGE,
		        "%s: --better says %s of \"%s\", but %s is stored; a stored series keeps "
		        "its "
		        "direction",
		        s->file->path, tk_better_name(said), p->series,
		        tk_better_name(stored->better));
	note(&s->counts.turned, s->counts.first_turned, p->series);
	return 0;
}

static int settle_series(struct tk_import_sink *s, const struct tk_import_row *p,
        const char *metric, const struct tk_import_unit *u, const struct tk_series_row *stored,
        bool is_new, struct tk_error *err)
{
	const enum tk_better by_file = parse_better(p->better),
	                     said = find_option(s->request, p, metric),
	                     wanted = by_file != TK_BETTER_UNKNOWN ? by_file : u->better;

	if (is_new && said == TK_BETTER_UNKNOWN && wanted == TK_BETTER_UNKNOWN) {
		if (may_be_unknown(s, p))
			note(&s->counts.undirected, s->counts.first_undirected, p->series);
		else
			add_unknown(s, p);
	}
	s->counts.series += is_new;
	return settle_direction(s, p, stored, wanted, said, err);
}

static int put_series(struct tk_import_sink *s, const struct tk_import_row *p, const char *metric,
        const struct tk_import_unit *u, struct series_entry *entry, struct tk_error *err)
{
	AUTO_TEXT text = tk_sprintf("foreign:name=%s", p->series);
	AUTO(tk_rows) rows = {0};
	const struct tk_problem_row problem = {.text = text,
	        .op = "foreign",
	        .dtype = tk_text_or(p->dtype, ""),
	        .title = p->series,
	        .source = s->format->name,
	        .family = tk_text_or(p->family, "")};
	/* Neither a unit nor a direction replaces a stored one. */
	struct tk_series_row row = {.device_id = s->state->place.device_id,
	        .upstream_id = s->state->place.upstream_id,
	        .backend = tk_text_or(p->backend, s->format->name),
	        .config = tk_text_or(p->config, ""),
	        .mode = "imported",
	        .metric = metric,
	        .unit = "",
	        .better = TK_BETTER_UNKNOWN,
	        .role = TK_ROLE_SUITE};
	int64_t before;

	TRY(tk_store_put(s->store, TK_TABLE_problem, &problem, &row.problem_id, err));
	TRY(tk_store_select_int(
	        s->store, "SELECT max(id) FROM series", TK_NO_ARGS, 0, &before, err));
	TRY(tk_store_put(s->store, TK_TABLE_series, &row, &entry->id, err));
	TRY(tk_store_run(s->store, "UPDATE series SET unit=?2 WHERE id=?1 AND unit=''",
	        TK_ARGS(entry->id, u->unit), err));
	TRY(tk_store_list(s->store, TK_TABLE_series, "id=?1", TK_ARGS(entry->id), &rows, err));
	const struct tk_series_row *stored = rows.rows;

	entry->unit = tk_strdup(stored->unit);
	return settle_series(s, p, metric, u, stored, entry->id > before, err);
}

static int entry_order(const void *a, const void *b)
{
	return strcmp(((const struct series_entry *)a)->key, ((const struct series_entry *)b)->key);
}

static int add_entry(struct tk_import_sink *s, const struct tk_import_row *p, const char *metric,
        const struct tk_import_unit *u, struct series_entry **out, struct tk_error *err)
{
	struct series_entry *entry = tk_calloc(1, sizeof(*entry));
	const int status = put_series(s, p, metric, u, entry, err);

	if (status) {
		free_entry(entry);
		return status;
	}
	entry->key = tk_strdup(s->state->key.data);
	tk_check_memory(tsearch(entry, &s->state->series, entry_order));
	*out = entry;
	return 0;
}

/* The values of a series are in its unit, whichever the file has. */
static double convert(struct series_entry *entry, const struct tk_import_unit *u)
{
	if (!strcmp(entry->unit, u->unit))
		return u->factor;
	if (!entry->written || strcmp(entry->written, u->unit)) {
		free(entry->written);
		entry->written = tk_strdup(u->unit);
		if (!tk_import_unit_ratio(u->unit, entry->unit, &entry->ratio))
			entry->ratio = 1;
	}
	return u->factor * entry->ratio;
}

int tk_import_find_series(struct tk_import_sink *s, const struct tk_import_row *p,
        const char *metric, const struct tk_import_unit *u, struct series_entry **out,
        double *factor, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	const char *const parts[] = {
	        p->series, tk_text_or(p->backend, ""), tk_text_or(p->config, ""), metric};

	tk_buf_clear(&st->key);
	tk_buf_add_printf(&st->key, "%lld %lld", (long long)st->place.device_id,
	        (long long)st->place.upstream_id);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		tk_buf_add_char(&st->key, '\x1f');
		tk_buf_add_str(&st->key, parts[i]);
	}
	const struct series_entry wanted = {.key = st->key.data};
	struct series_entry **found, *entry = st->last ? st->last->next : NULL;

	/* Files list their series in the same order mostly. */
	if (!entry || strcmp(entry->key, st->key.data)) {
		found = tfind(&wanted, &st->series, entry_order);
		entry = found ? *found : NULL;
	}
	if (!entry)
		TRY(add_entry(s, p, metric, u, &entry, err));
	if (st->last)
		st->last->next = entry;
	st->last = entry;
	*out = entry;
	*factor = convert(entry, u);
	return 0;
}

/* ---- failures -------------------------------------------------------------------------------- */

void tk_import_add_failure(
        struct tk_import_sink *s, const struct tk_import_row *p, enum tk_outcome outcome)
{
	struct tk_import_state *st = s->state;
	const char *const parts[] = {p->series, tk_text_or(p->backend, s->format->name),
	        tk_text_or(p->config, ""), tk_text_or(p->metric, ""), tk_text_or(p->message, "")};
	const char *copies[sizeof(parts) / sizeof(parts[0])];
	size_t size = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		size += strlen(parts[i]) + 1;
	char *texts = tk_malloc(size), *at = texts;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		copies[i] = at;
		at = stpcpy(at, parts[i]) + 1;
	}
	if (st->failure_count == st->failure_cap) {
		st->failure_cap = st->failure_cap ? st->failure_cap * 2 : 64;
		st->failures =
		        tk_reallocarray(st->failures, st->failure_cap, sizeof(*st->failures));
	}
	st->failures[st->failure_count++] = (struct import_failure){st->place, st->last_run->number,
	        outcome, copies[0], copies[1], copies[2], copies[3], copies[4], texts};
}

/* A run of a series, unless the same run of the tool has a value of it. */
static int write_failure(struct tk_import_sink *s, const struct import_failure *f,
        int64_t series_id, struct tk_error *err)
{
	const struct import_run *run = s->state->runs[f->run - 1];
	const struct tk_run_row row = {.night_id = run->night_id,
	        .series_id = series_id,
	        .build_id = run->build_id,
	        .environment_id = run->place.environment_id,
	        .as_of_s = run->as_of_s,
	        .started_s = run->as_of_s,
	        .outcome = f->outcome,
	        .message = f->message,
	        .attributes = "{}"};
	int64_t has_value;

	TRY(tk_store_select_int(s->store,
	        "SELECT EXISTS(SELECT 1 FROM measurement WHERE series_id=?1 AND as_of_s=?2"
	        " AND run_id=?3)",
	        TK_ARGS(series_id, run->as_of_s, run->run_id), 0, &has_value, err));
	return has_value ? 0 : tk_row_put(s->store, TK_TABLE_run, &row, NULL, NULL, err);
}

static int failure_order(const void *a, const void *b)
{
	const struct import_failure *x = a, *y = b;
	int order = memcmp(&x->place, &y->place, sizeof(x->place));

	order = order ? order : strcmp(x->series, y->series);
	order = order ? order : strcmp(x->backend, y->backend);
	order = order ? order : strcmp(x->config, y->config);
	return order ? order : strcmp(x->metric, y->metric);
}

/* A series that never had a value cannot fail newly: of most tools that is a benchmark which the
 * machine does not support. */
int tk_import_write_failures(struct tk_import_sink *s, struct tk_error *err)
{
	struct tk_import_state *st = s->state;

	tk_sort(st->failures, st->failure_count, sizeof(*st->failures), failure_order);
	for (size_t i = 0, next; i < st->failure_count; i = next) {
		const struct import_failure *f = &st->failures[i];
		AUTO_TEXT problem = tk_sprintf("foreign:name=%s", f->series);
		AUTO(tk_rows) series = {0};

		TRY(tk_store_list(s->store, TK_TABLE_series,
		        "problem_id=(SELECT id FROM problem WHERE text=?1) AND device_id=?2 AND"
		        " upstream_id=?3 AND backend=?4 AND config=?5 AND ?6 IN ('', metric) AND"
		        " EXISTS(SELECT 1 FROM measurement WHERE series_id=series.id)",
		        TK_ARGS(problem, f->place.device_id, f->place.upstream_id, f->backend,
		                f->config, f->metric),
		        &series, err));
		for (next = i; next < st->failure_count && !failure_order(f, &st->failures[next]);
		        next++)
			for (size_t k = 0; k < series.count; k++)
				TRY(write_failure(s, &st->failures[next],
				        TK_ROWS_AT(&series, struct tk_series_row, k)->id, err));
	}
	return 0;
}
