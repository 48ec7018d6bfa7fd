/* The small tables of the history, and what is known of machine code in it. */
#include <inttypes.h>

#include "core/measurement_fields.h"
#include "core/vocabulary.h"
#include "decide/internal.h"

/* The hash of all machine code of a backend in a build. */
struct backend_code {
	int64_t build_id;
	const char *backend, *code_hash;
};
static const struct tk_db_column code_columns[] = {TK_MEMBER(struct backend_code, build_id),
        TK_MEMBER(struct backend_code, backend), TK_MEMBER(struct backend_code, code_hash)};
static const struct tk_row_type code_type = TK_ROW_TYPE(struct backend_code, code_columns);

/* clang-format off */
#define TABLES(X) \
	X(machine, machines) X(device, devices) X(environment, environments) \
	X(upstream, upstreams) X(revision, revisions) X(build, builds) X(problem, problems) \
	X(series, series) X(night, nights)
/* clang-format on */

static int load(struct tk_catalog *c, struct tk_error *err)
{
#define LOAD(name, member) TRY(tk_id_table_load(&c->member, c->store, TK_TABLE_##name, err));
	TABLES(LOAD)
#undef LOAD
	TRY(tk_store_select(c->store,
	        "SELECT k.build_id, k.backend, k.code_hash FROM build b"
	        " CROSS JOIN kernel k ON k.build_id = b.id AND k.name = '' AND k.code_hash <> ''"
	        " ORDER BY k.build_id, k.backend",
	        TK_NO_ARGS, &code_type, &c->code, err));
	return tk_catalog_reload_alerts(c, err);
}

int tk_catalog_load(struct tk_store *s, struct tk_catalog *c, struct tk_error *err)
{
	*c = (struct tk_catalog){.store = s};
	int status = load(c, err);

	if (status)
		tk_catalog_free(c);
	return status;
}

int tk_catalog_reload_alerts(struct tk_catalog *c, struct tk_error *err)
{
	tk_rows_free(&c->alerts);
	tk_rows_free(&c->triage);
	TRY(tk_store_list_alerts(c->store, &c->alerts, err));
	return tk_store_list(c->store, TK_TABLE_triage, NULL, TK_NO_ARGS, &c->triage, err);
}

void tk_catalog_free(struct tk_catalog *c)
{
#define FREE(name, member) tk_id_table_free(&c->member);
	TABLES(FREE)
#undef FREE
	tk_rows_free(&c->code);
	tk_rows_free(&c->timings);
	free(c->pairs);
	tk_rows_free(&c->alerts);
	tk_rows_free(&c->triage);
	*c = (struct tk_catalog){0};
}

const struct tk_revision_row *tk_catalog_find_revision(const struct tk_catalog *c, int64_t build_id)
{
	const struct tk_build_row *b = tk_id_table_find(&c->builds, build_id);

	return b ? tk_id_table_find(&c->revisions, b->revision_id) : NULL;
}

const struct tk_alert_row *tk_catalog_find_alert(const struct tk_catalog *c, const char *uid)
{
	for (size_t i = 0; i < c->alerts.count; i++)
		if (strcmp(TK_ROWS_AT(&c->alerts, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(&c->alerts, struct tk_alert_row, i);
	return NULL;
}

/* ---- machine code of backends ---------------------------------------------------------------- */

static int by_build(const void *a, const void *b)
{
	const struct backend_code *x = a, *y = b;

	if (x->build_id != y->build_id)
		return x->build_id < y->build_id ? -1 : 1;
	return strcmp(x->backend, y->backend);
}

/* NULL: not known. */
static const char *find_code(const struct tk_catalog *c, int64_t build_id, const char *backend)
{
	const struct backend_code key = {build_id, backend, NULL},
	                          *found = c->code.count
	                                           ? bsearch(&key, c->code.rows, c->code.count,
	                                                     sizeof key, by_build)
	                                           : NULL;

	return found ? found->code_hash : NULL;
}

bool tk_catalog_is_same_code(const struct tk_catalog *c, int64_t a, int64_t b, const char *backend)
{
	const char *x = a == b ? "" : find_code(c, a, backend),
	           *y = x ? find_code(c, b, backend) : NULL;

	return a == b || (x && y && strcmp(x, y) == 0);
}

bool tk_catalog_is_new_code(const struct tk_catalog *c, int64_t a, int64_t b, const char *backend)
{
	const char *x = find_code(c, a, backend), *y = find_code(c, b, backend);

	return x && y && strcmp(x, y) != 0;
}

/* ---- environments ---------------------------------------------------------------------------- */

/* Attributes whose change makes two timings different things. */
static bool is_hard(const char *key)
{
	static const char *const hard[] = {
	        "driver", "card", "device", "uuid", "clock_policy", "governor", "method", "engine"};

	for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
		if (strcmp(key, hard[i]) == 0)
			return true;
	return false;
}

static void value_text(const json_t *v, char *out, size_t size)
{
	char *dump = v && !json_is_string(v) ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	snprintf(out, size, "%s",
	        !v                  ? "none"
	        : dump              ? dump
	        : json_is_string(v) ? json_string_value(v)
	                            : "?");
	free(dump);
}

static void add_change(
        const char *key, const json_t *from, const json_t *to, char *out, size_t size, bool *hard)
{
	char a[80], b[80];
	size_t len = strlen(out);

	value_text(from, a, sizeof a);
	value_text(to, b, sizeof b);
	*hard |= is_hard(key);
	if (len < size)
		snprintf(out + len, size - len, "%s%.40s %s -> %s", len ? ", " : "", key, a, b);
}

/* Devices nest what they have of their own one object deep. */
static void compare_objects(const json_t *a, const json_t *b, char *out, size_t size, bool *hard)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)a, key, v) {
		json_t *other = json_object_get(b, key);

		if (json_is_object(v) && json_is_object(other))
			compare_objects(v, other, out, size, hard);
		else if (!json_equal(v, other))
			add_change(key, v, other, out, size, hard);
	}
	json_object_foreach ((json_t *)b, key, v) {
		if (!json_object_get(a, key))
			add_change(key, NULL, v, out, size, hard);
	}
}

void tk_catalog_diff_environments(
        const struct tk_catalog *c, int64_t from, int64_t to, char *out, size_t size, bool *hard)
{
	const struct tk_environment_row *ea = tk_id_table_find(&c->environments, from),
	                                *eb = tk_id_table_find(&c->environments, to);
	json_t *a, *b;

	*out = '\0';
	*hard = false;
	if (from == to || !ea || !eb)
		return;
	a = json_loads(ea->attributes, 0, NULL);
	b = json_loads(eb->attributes, 0, NULL);
	compare_objects(a, b, out, size, hard);
	json_decref(a);
	json_decref(b);
}

/* ---- what changed in the kernel of a series -------------------------------------------------- */

/* The attributes of a run; NULL: there is no such run, or it has none. */
static int read_attributes(
        const struct tk_catalog *c, int64_t run_id, json_t **out, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};

	*out = NULL;
	TRY(tk_store_list(c->store, TK_TABLE_run, "id=?1", TK_ARGS(run_id), &runs, err));
	if (runs.count)
		*out = json_loads(TK_ROWS_AT(&runs, struct tk_run_row, 0)->attributes, 0, NULL);
	return TK_OK;
}

static const char *read_algorithm(const json_t *attributes)
{
	const json_t *plan = tk_measurement_get_field(attributes, TK_MEASUREMENT_PLAN);
	return json_string_value(tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_ALGORITHM));
}

/* The kernels of one side of the comparison. */
struct side {
	struct tk_rows rows;
	struct tk_kernel_use use;
	char config[200];
	size_t count;
	const struct tk_kernel_row *first;
};

static const struct tk_kernel_row *find_kernel(const struct side *s, const char *name)
{
	const struct tk_kernel_row *k;

	for (size_t i = 0; (k = tk_kernel_rows_next(&s->rows, &s->use, &i));)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

static void free_side(struct side *s)
{
	tk_rows_free(&s->rows);
}

/* Its configuration is the one that the run chose; without it, that of the series. */
static int load_side(struct tk_catalog *c, const struct tk_series_row *series, int64_t build_id,
        int64_t run_id, struct side *out, struct tk_error *err)
{
	const struct tk_problem_row *problem = tk_id_table_find(&c->problems, series->problem_id);
	json_auto_t *attributes = NULL;
	TRY(tk_store_list(
	        c->store, TK_TABLE_kernel, "build_id=?1", TK_ARGS(build_id), &out->rows, err));
	if (!out->rows.count) /* most histories have none, and runs are slow to read */
		return TK_OK;
	TRY(read_attributes(c, run_id, &attributes, err));

	const char *chosen = read_algorithm(attributes);
	const struct tk_kernel_row *k;

	snprintf(out->config, sizeof out->config, "%s", chosen ? chosen : series->config);
	out->use =
	        (struct tk_kernel_use){series->backend, problem ? problem->text : "", out->config};
	for (size_t i = 0; (k = tk_kernel_rows_next(&out->rows, &out->use, &i)); out->count++)
		out->first = out->count ? out->first : k;
	return TK_OK;
}

/* One kernel on each side may have another name. Of several, exactly one must have changed: which
 * of them ran is not known. */
static void compare_sides(
        const struct side *before, const struct side *after, char out[TK_CODE_CHANGE_SIZE])
{
	size_t changed = 0;

	out[0] = '\0';
	if (before->count == 1 && after->count == 1) {
		tk_kernel_row_format_change(before->first, after->first, out);
		return;
	}
	const struct tk_kernel_row *k;
	for (size_t i = 0; (k = tk_kernel_rows_next(&after->rows, &after->use, &i));) {
		const struct tk_kernel_row *was = find_kernel(before, k->name);

		if (was && strcmp(was->code_hash, k->code_hash) && !changed++)
			tk_kernel_row_format_change(was, k, out);
	}
	if (changed > 1)
		out[0] = '\0';
}

int tk_code_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CODE_CHANGE_SIZE], struct tk_error *err)
{
	__attribute__((cleanup(free_side))) struct side before = {0}, after = {0};

	out[0] = '\0';
	if (!v->good_build_id || !v->bad_build_id || v->good_build_id == v->bad_build_id)
		return TK_OK;
	TRY(load_side(c, series, v->good_build_id, v->last_good_run_id, &before, err));
	if (before.rows.count)
		TRY(load_side(c, series, v->bad_build_id, v->first_bad_run_id, &after, err));
	compare_sides(&before, &after, out);
	return TK_OK;
}

int tk_config_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CONFIG_CHANGE_SIZE], struct tk_error *err)
{
	json_auto_t *before = NULL, *after = NULL;

	out[0] = '\0';
	if (!v->last_good_run_id || !v->first_bad_run_id)
		return TK_OK;
	TRY(read_attributes(c, v->last_good_run_id, &before, err));
	TRY(read_attributes(c, v->first_bad_run_id, &after, err));

	/* that of the tuning, else what the library chose by itself: "haswell", an algorithm */
	const char *a, *b;
	if (strcmp(series->config, TK_TUNE_CONFIG) == 0) {
		a = json_string_value(json_object_get(before, TK_RUN_CONFIG));
		b = json_string_value(json_object_get(after, TK_RUN_CONFIG));
	} else {
		a = read_algorithm(before);
		b = read_algorithm(after);
	}
	a = tk_text_or(a, "default");
	b = tk_text_or(b, "default");
	if (before && after && strcmp(a, b))
		snprintf(out, TK_CONFIG_CHANGE_SIZE, "%.140s -> %.140s", a, b);
	return TK_OK;
}
