/* Reference tables of the history: see catalog.h. */
#include "decide/history/catalog.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/try.h"

int tk_catalog_load(struct tk_store *s, struct tk_catalog *c, struct tk_error *err)
{
	const struct {
		enum tk_table_id id;
		struct tk_id_table *table;
	} tables[] = {
	        {TK_TABLE_machine, &c->machines},
	        {TK_TABLE_device, &c->devices},
	        {TK_TABLE_environment, &c->environments},
	        {TK_TABLE_upstream, &c->upstreams},
	        {TK_TABLE_revision, &c->revisions},
	        {TK_TABLE_build, &c->builds},
	        {TK_TABLE_problem, &c->problems},
	        {TK_TABLE_series, &c->series},
	        {TK_TABLE_night, &c->nights},
	};
	int status = TK_OK;

	*c = (struct tk_catalog){.store = s, .code = tk_build_code_new()};
	for (size_t i = 0; !status && i < sizeof tables / sizeof *tables; i++)
		status = tk_id_table_load(tables[i].table, s, tables[i].id, err);
	if (!status)
		status = tk_catalog_reload_alerts(c, err);
	if (status)
		tk_catalog_free(c);
	return status;
}

int tk_catalog_reload_alerts(struct tk_catalog *c, struct tk_error *err)
{
	int status;

	tk_build_code_clear(c->code);
	tk_rows_free(&c->alerts);
	tk_rows_free(&c->triage);
	status = tk_store_list_alerts(c->store, &c->alerts, err);
	return status ? status
	              : tk_store_list(c->store, TK_TABLE_triage, NULL, TK_NO_ARGS, &c->triage, err);
}

void tk_catalog_free(struct tk_catalog *c)
{
	struct tk_id_table *tables[] = {&c->machines, &c->devices, &c->environments, &c->upstreams,
	        &c->revisions, &c->builds, &c->problems, &c->series, &c->nights};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		tk_id_table_free(tables[i]);
	tk_build_code_free(c->code);
	tk_rows_free(&c->alerts);
	tk_rows_free(&c->triage);
	*c = (struct tk_catalog){0};
}

const struct tk_revision_row *tk_catalog_find_revision(const struct tk_catalog *c, int64_t build_id)
{
	const struct tk_build_row *b = tk_id_table_find(&c->builds, build_id);

	return b ? tk_id_table_find(&c->revisions, b->revision_id) : NULL;
}

int tk_catalog_find_kernels(
        struct tk_catalog *c, int64_t build_id, const struct tk_rows **out, struct tk_error *err)
{
	return tk_build_code_find(c->code, c->store, build_id, out, err);
}

static const char *code_hash(const struct tk_rows *kernels, const char *backend)
{
	for (size_t i = 0; i < kernels->count; i++) {
		const struct tk_kernel_row *k = TK_ROWS_AT(kernels, struct tk_kernel_row, i);

		if (!*k->name && strcmp(k->backend, backend) == 0)
			return k->code_hash;
	}
	return NULL;
}

enum code { UNKNOWN_CODE, SAME_CODE, NEW_CODE };

static int compare_code(struct tk_catalog *c, int64_t a, int64_t b, const char *backend,
        enum code *out, struct tk_error *err)
{
	const struct tk_rows *kernels;
	const char *hash_a, *hash_b;

	*out = SAME_CODE;
	if (a == b)
		return TK_OK;
	TRY(tk_catalog_find_kernels(c, a, &kernels, err));
	hash_a = code_hash(kernels, backend);
	TRY(tk_catalog_find_kernels(c, b, &kernels, err));
	hash_b = code_hash(kernels, backend);
	*out = !hash_a || !hash_b || !*hash_a || !*hash_b ? UNKNOWN_CODE
	       : strcmp(hash_a, hash_b) == 0              ? SAME_CODE
	                                                  : NEW_CODE;
	return TK_OK;
}

int tk_catalog_is_same_code(struct tk_catalog *c, int64_t a, int64_t b, const char *backend,
        bool *same, struct tk_error *err)
{
	enum code code;
	int status = compare_code(c, a, b, backend, &code, err);

	*same = !status && code == SAME_CODE;
	return status;
}

int tk_catalog_is_new_code(struct tk_catalog *c, int64_t a, int64_t b, const char *backend,
        bool *is_new, struct tk_error *err)
{
	enum code code;
	int status = compare_code(c, a, b, backend, &code, err);

	*is_new = !status && code == NEW_CODE;
	return status;
}

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

void tk_alert_uid_hash(const char *const *parts, size_t count, char uid[TK_ALERT_UID_SIZE])
{
	struct tk_hash *h = tk_hash_new();

	uid[0] = '\0';
	if (!h)
		return;
	for (size_t i = 0; i < count; i++)
		tk_hash_add_str(h, parts[i]);
	tk_hash_finish(h, uid);
}
