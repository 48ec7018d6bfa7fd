/* The schema of tracker.yml for libcyaml, made from the lists of config_keys.h; the only file that
 * includes cyaml.h.
 *
 * The document is compared with the schema before libcyaml sees it, because only that knows where a
 * key stands, which keys are near, and keys that are there twice. Whatever libcyaml should refuse
 * beyond that is reported with its own words. */
#include <cyaml/cyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config_keys.h"
#include "config/yaml_tree.h"

#define KEYS_MAX 24

/* ---- the schema ---- */

#define SCALAR CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL
#define FIELD(key, kind, field, min, max) \
	CYAML_FIELD_STRING_PTR(#key, SCALAR, RAW, key, 0, CYAML_UNLIMITED),
#define LIST(key, entry) CYAML_FIELD_SEQUENCE(#key, SCALAR, RAW, key, &entry, 0, CYAML_UNLIMITED),

static const cyaml_schema_value_t word = {
        CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

#define RAW struct tk_raw_upstream
static const cyaml_schema_field_t upstream_fields[] = {
        TK_UPSTREAM_KEYS(FIELD) LIST(backends, word) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_budgets
static const cyaml_schema_field_t budgets_fields[] = {TK_BUDGET_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_measure
static const cyaml_schema_field_t measure_fields[] = {
        TK_MEASURE_KEYS(FIELD) LIST(modes, word) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_thresholds
static const cyaml_schema_field_t thresholds_fields[] = {TK_THRESHOLD_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_control
static const cyaml_schema_field_t control_fields[] = {TK_CONTROL_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_site
static const cyaml_schema_field_t site_fields[] = {TK_SITE_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_paths
static const cyaml_schema_field_t paths_fields[] = {TK_PATH_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_retention
static const cyaml_schema_field_t retention_fields[] = {TK_RETENTION_KEYS(FIELD) CYAML_FIELD_END};
#undef RAW
#define RAW struct tk_raw_notify
static const cyaml_schema_field_t notify_fields[] = {
        TK_NOTIFY_KEYS(FIELD) LIST(fail_on, word) CYAML_FIELD_END};
#undef RAW

static const cyaml_schema_value_t upstream = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tk_raw_upstream, upstream_fields)};

#define RAW struct tk_raw
#define SECTION(section, keys) \
	CYAML_FIELD_MAPPING_PTR(#section, CYAML_FLAG_POINTER_NULL_STR | CYAML_FLAG_OPTIONAL, RAW, \
	        section, section##_fields),
/* clang-format off */
static const cyaml_schema_field_t top_fields[] = {
	TK_TOP_KEYS(FIELD) LIST(devices, word) LIST(upstreams, upstream) LIST(suites, word) TK_SECTIONS(SECTION) CYAML_FIELD_END
};
/* clang-format on */
#undef RAW

static const cyaml_schema_value_t top = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tk_raw, top_fields)};

/* ---- the same lists as data ---- */

/* clang-format off */
#define ROW(key, kind, field, min, max) { #key, TK_VALUE_##kind, offsetof(OF, field), min, max },
#define OF struct tk_config
/* clang-format on */
const struct tk_config_key tk_config_top_keys[] = {TK_TOP_KEYS(ROW){NULL}};
/* clang-format off */
#define ROWS(section, keys) static const struct tk_config_key section##_rows[] = { keys(ROW) { NULL } };
/* clang-format on */
TK_SECTIONS(ROWS)
#undef OF
#define OF struct tk_upstream_config
const struct tk_config_key tk_config_upstream_keys[] = {TK_UPSTREAM_KEYS(ROW){NULL}};
#undef OF

/* clang-format off */
const struct tk_config_section tk_config_sections[] = {
#define SECTION_ROW(section, keys) { #section, section##_rows, offsetof(struct tk_raw, section) },
	TK_SECTIONS(SECTION_ROW)
	{ NULL },
};
/* clang-format on */

/* ---- the document against the schema ---- */

static int check_value(const struct tk_yaml *y, int node, const char *what,
        const cyaml_schema_value_t *schema, struct tk_error *err);

static int check_mapping(const struct tk_yaml *y, int node, const char *what,
        const cyaml_schema_field_t *fields, struct tk_error *err)
{
	const char *known[KEYS_MAX + 1];
	size_t n = 0;
	int status;

	for (const cyaml_schema_field_t *f = fields; f->key && n < KEYS_MAX; f++)
		known[n++] = f->key;
	known[n] = NULL;
	status = tk_yaml_check_keys(y, node, what, known, err);
	for (const cyaml_schema_field_t *f = fields; !status && f->key; f++) {
		int value = tk_yaml_find(y, node, f->key);

		if (value)
			status = check_value(y, value, f->key, &f->value, err);
	}
	return status;
}

static int check_list(const struct tk_yaml *y, int node, const char *what,
        const cyaml_schema_value_t *entry, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; !status && i < tk_yaml_count(y, node); i++) {
		int item = tk_yaml_item(y, node, i);

		if (tk_yaml_is_empty(y, item))
			return tk_yaml_fail(
			        y, item, err, "an item of %s is empty, expected a value", what);
		status = check_value(y, item, what, entry, err);
	}
	return status;
}

static int check_value(const struct tk_yaml *y, int node, const char *what,
        const cyaml_schema_value_t *schema, struct tk_error *err)
{
	bool map = schema->type == CYAML_MAPPING, list = schema->type == CYAML_SEQUENCE;
	enum tk_yaml_kind expected = map ? TK_YAML_MAP : TK_YAML_SCALAR;

	if (list)
		expected = TK_YAML_LIST;
	if (tk_yaml_is_empty(y, node) && !list)
		return TK_OK;
	if (tk_yaml_kind(y, node) != expected || tk_yaml_is_empty(y, node))
		return tk_yaml_fail(y, node, err, "%s is %s, expected %s", what,
		        tk_yaml_kind_name(y, node),
		        map    ? "a mapping (key: value lines)"
		        : list ? "a list, for instance [a, b]"
		               : "a single value");
	if (map)
		return check_mapping(y, node, what, schema->mapping.fields, err);
	return list ? check_list(y, node, what, schema->sequence.entry, err) : TK_OK;
}

/* ---- loading ---- */

static void capture_log(cyaml_log_t level, void *ctx, const char *fmt, va_list args)
{
	(void)level;
	tk_buf_add_vprintf(ctx, fmt, args);
}

static cyaml_config_t reader(struct tk_buf *log)
{
	return (cyaml_config_t){
	        .log_fn = log ? capture_log : NULL,
	        .log_ctx = log,
	        .mem_fn = cyaml_mem,
	        .log_level = CYAML_LOG_ERROR,
	        .flags = CYAML_CFG_NO_ALIAS,
	};
}

/* "... (line: 3, column: 5)" of libcyaml's backtrace, the innermost one. */
static void position_in_log(const char *log, unsigned *line, unsigned *column)
{
	const char *at = strstr(log, "line: ");

	if (!at || sscanf(at, "line: %u, column: %u", line, column) != 2)
		*line = *column = 1;
}

static int cyaml_failed(
        const struct tk_yaml *y, cyaml_err_t status, const struct tk_buf *log, struct tk_error *err)
{
	unsigned line, column;

	position_in_log(tk_buf_cstr(log), &line, &column);
	if (status == CYAML_ERR_OOM)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	return tk_yaml_fail_at(y, line, column, err, "cannot be read: %s", cyaml_strerror(status));
}

int tk_raw_load(const struct tk_yaml *y, const char *text, size_t len, struct tk_raw **out,
        struct tk_error *err)
{
	struct tk_buf log = TK_BUF_INIT;
	cyaml_config_t config = reader(&log);
	cyaml_data_t *data = NULL;
	cyaml_err_t loaded;
	int status = TK_OK;

	if (tk_yaml_kind(y, tk_yaml_root(y)) != TK_YAML_MAP &&
	        !tk_yaml_is_empty(y, tk_yaml_root(y)))
		return tk_yaml_fail(y, tk_yaml_root(y), err,
		        "the file is %s, expected key: value lines",
		        tk_yaml_kind_name(y, tk_yaml_root(y)));
	status = tk_yaml_reject_aliases(y, text, len, err);
	if (!status)
		status = check_mapping(y, tk_yaml_root(y), "", top_fields, err);
	if (status)
		return status;
	if (tk_yaml_count(y, tk_yaml_root(y)) > 0) {
		loaded = cyaml_load_data((const uint8_t *)text, len, &config, &top, &data, NULL);
		if (loaded != CYAML_OK)
			status = cyaml_failed(y, loaded, &log, err);
	}
	if (!status && !data)
		data = calloc(1, sizeof(struct tk_raw));
	if (!status && !data)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		*out = data;
	tk_buf_free(&log);
	return status;
}

void tk_raw_free(struct tk_raw *raw)
{
	cyaml_config_t config = reader(NULL);

	if (raw)
		cyaml_free(&config, &top, raw, 0);
}

static void each_field(const char *prefix, const cyaml_schema_field_t *fields,
        void (*fn)(const char *path, void *arg), void *arg)
{
	for (const cyaml_schema_field_t *f = fields; f->key; f++) {
		const cyaml_schema_value_t *v =
		        f->value.type == CYAML_SEQUENCE ? f->value.sequence.entry : &f->value;
		char path[128];

		if (snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", f->key) >=
		        (int)sizeof path)
			continue; /* no path of the schema is that long */
		fn(path, arg);
		if (v->type == CYAML_MAPPING)
			each_field(path, v->mapping.fields, fn, arg);
	}
}

void tk_raw_each_key(void (*fn)(const char *path, void *arg), void *arg)
{
	each_field("", top_fields, fn, arg);
}
