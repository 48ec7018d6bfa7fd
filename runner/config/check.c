/* Checks that need the whole configuration. */
#include <stdlib.h>
#include <string.h>

#include "config/internal.h"
#include "config/suite.h"

struct check {
	const struct tk_config *c;
	const struct tk_yaml *y;
	struct tk_error *err;
};

/* The node that a message points at: the key, else its section. */
static int find_node(const struct check *k, const char *section, const char *key)
{
	int map = tk_yaml_find(k->y, tk_yaml_root(k->y), section),
	    node = key ? tk_yaml_find(k->y, map, key) : 0;

	return node ? node : map;
}

static int find_upstream_node(const struct check *k, size_t i, const char *key)
{
	int map = tk_yaml_item(k->y, find_node(k, "upstreams", NULL), i),
	    node = tk_yaml_find(k->y, map, key);

	return node ? node : map;
}

static int check_lists(const struct check *k)
{
	const char *empty = !k->c->devices[0]       ? "devices"
	                    : !k->c->suites[0]      ? "suites"
	                    : !k->c->upstream_count ? "upstreams"
	                                            : NULL;

	if (!empty)
		return TK_OK;
	return tk_yaml_fail(k->y, find_node(k, empty, NULL), k->err,
	        "%s is an empty list; expected at least one item", empty);
}

static int check_suites(const struct check *k)
{
	char *const *suites = k->c->suites;

	for (size_t i = 0; suites[i]; i++) {
		int node = tk_yaml_item(k->y, find_node(k, "suites", NULL), i);
		struct tk_error why = {0};
		char *path = NULL;
		enum tk_device_kind kind;
		int status = tk_suite_find_file(
		        k->c->root, tk_config_suite_name(suites[i], &kind), &path, &why);

		free(path);
		if (status)
			return tk_yaml_fail(k->y, node, k->err, "%s", why.message);
		for (size_t j = 0; j < i; j++)
			if (strcmp(suites[i], suites[j]) == 0)
				return tk_yaml_fail(
				        k->y, node, k->err, "duplicate suite \"%s\"", suites[i]);
	}
	return TK_OK;
}

/* The nights of "SUITE:NIGHTS", and where the name of the suite ends; 0: it is not valid. */
static uint32_t parse_rotation(const char *entry, const char **end)
{
	const char *colon = strrchr(entry, ':');
	char *last = NULL;
	unsigned long nights = colon ? strtoul(colon + 1, &last, 10) : 0;

	*end = colon;
	if (!colon || colon == entry || colon[1] < '0' || colon[1] > '9' || *last)
		return 0;
	return nights <= TK_ROTATION_NIGHTS_MAX ? (uint32_t)nights : 0;
}

static bool is_suite_of(const char *entry, const char *end, const char *suite)
{
	size_t len = (size_t)(end - entry);

	return strncmp(entry, suite, len) == 0 && !suite[len];
}

uint32_t tk_config_rotate_nights(const struct tk_config *c, const char *suite, uint32_t own)
{
	for (char *const *entry = c->rotate; entry && *entry; entry++) {
		const char *end;
		uint32_t nights = parse_rotation(*entry, &end);

		if (nights && is_suite_of(*entry, end, suite))
			return nights;
	}
	return own;
}

static bool is_configured(const struct tk_config *c, const char *entry, const char *end)
{
	enum tk_device_kind kind;

	for (char *const *suite = c->suites; *suite; suite++)
		if (is_suite_of(entry, end, tk_config_suite_name(*suite, &kind)))
			return true;
	return false;
}

static int check_rotate(const struct check *k)
{
	char *const *entries = k->c->rotate;

	for (size_t i = 0; entries && entries[i]; i++) {
		int node = tk_yaml_item(k->y, find_node(k, "rotate", NULL), i);
		const char *end;

		if (!parse_rotation(entries[i], &end))
			return tk_yaml_fail(k->y, node, k->err,
			        "\"%s\" is not a rotation; expected SUITE:NIGHTS with 1 to %d "
			        "nights",
			        entries[i], TK_ROTATION_NIGHTS_MAX);
		if (!is_configured(k->c, entries[i], end))
			return tk_yaml_fail(k->y, node, k->err,
			        "\"%.*s\" is not in `suites`; expected one of them",
			        (int)(end - entries[i]), entries[i]);
		for (size_t j = 0; j < i; j++)
			if (strncmp(entries[i], entries[j], (size_t)(end - entries[i]) + 1) == 0)
				return tk_yaml_fail(k->y, node, k->err,
				        "duplicate rotation of \"%.*s\"", (int)(end - entries[i]),
				        entries[i]);
	}
	return TK_OK;
}

/* Keys that only make sense for packages of an index. */
static int check_package_keys(const struct check *k, size_t i)
{
	const struct tk_upstream_config *u = &k->c->upstreams[i];
	const struct {
		const char *key, *value;
	} keys[] = {{"package", u->package}, {"index", u->index}, {"extra_index", u->extra_index},
	        {"python", u->python}};

	for (size_t g = 0; u->kind != TK_UPSTREAM_PACKAGE && g < sizeof keys / sizeof *keys; g++)
		if (keys[g].value)
			return tk_yaml_fail(k->y, find_upstream_node(k, i, keys[g].key), k->err,
			        "upstream \"%s\" is of kind %s, which has no %s; expected kind "
			        "package",
			        u->name, tk_upstream_kind_name(u->kind), keys[g].key);
	if (u->python && u->python[0] == '-')
		return tk_yaml_fail(k->y, find_upstream_node(k, i, "python"), k->err,
		        "upstream \"%s\": not a program or version of Python; expected one like "
		        "python3.12",
		        u->name);
	return TK_OK;
}

/* Keys that only make sense for repositories. */
static int check_repository_keys(const struct check *k, size_t i)
{
	const struct tk_upstream_config *u = &k->c->upstreams[i];
	const struct {
		const char *key, *value;
	} keys[] = {{"url", u->url}, {"branch", u->branch}, {"path", u->path}};

	if (tk_upstream_kind_has_commits(u->kind))
		return check_package_keys(k, i);
	for (size_t g = 0; g < sizeof keys / sizeof *keys; g++)
		if (keys[g].value)
			return tk_yaml_fail(k->y, find_upstream_node(k, i, keys[g].key), k->err,
			        "upstream \"%s\" is of kind %s, which has no %s; expected kind git",
			        u->name, tk_upstream_kind_name(u->kind), keys[g].key);
	return check_package_keys(k, i);
}

/* Of a path relative to the repository: does it stay inside? */
static bool is_inside(const char *path, size_t len)
{
	if (!len || path[0] == '-' || path[0] == '/')
		return false;
	for (size_t at = 0; at < len; at += strcspn(path + at, "/:") + 1)
		if (strncmp(path + at, "..", 2) == 0 && strcspn(path + at, "/:") == 2)
			return false;
	return true;
}

/* Several paths have colons between them. */
static bool are_inside(const char *paths)
{
	size_t len = strcspn(paths, ":");

	return is_inside(paths, len) && (!paths[len] || are_inside(paths + len + 1));
}

static int check_git_keys(const struct check *k, size_t i)
{
	const struct tk_upstream_config *u = &k->c->upstreams[i];

	if (u->kind == TK_UPSTREAM_GIT && !u->url)
		return tk_yaml_fail(k->y, find_upstream_node(k, i, "kind"), k->err,
		        "git upstream \"%s\" has no url; expected a URL or a path", u->name);
	if (u->kind == TK_UPSTREAM_GIT && !u->adapter)
		return tk_yaml_fail(k->y, find_upstream_node(k, i, "kind"), k->err,
		        "git upstream \"%s\" has no adapter; expected the adapter that builds it",
		        u->name);
	if (u->branch && (u->branch[0] == '-' || strpbrk(u->branch, " ~^:?*[\\")))
		return tk_yaml_fail(k->y, find_upstream_node(k, i, "branch"), k->err,
		        "upstream \"%s\": not a branch name that git allows; expected one like "
		        "main",
		        u->name);
	if (u->path && !are_inside(u->path))
		return tk_yaml_fail(k->y, find_upstream_node(k, i, "path"), k->err,
		        "upstream \"%s\": not a path inside the repository; expected one like "
		        "src/gemm",
		        u->name);
	return check_repository_keys(k, i);
}

static int check_configs(const struct check *k, size_t upstream)
{
	const struct tk_upstream_config *u = &k->c->upstreams[upstream];
	const int node = find_upstream_node(k, upstream, "configs");
	if (u->is_tuned && u->configs[0] && (u->configs[1] || strcmp(u->configs[0], "default")))
		return tk_yaml_fail(k->y, node, k->err,
		        "`configs` has no meaning with `config: tuned`; expected one of them");
	for (char **c = u->configs; *c; c++)
		for (char **before = u->configs; before < c; before++)
			if (strcmp(*c, *before) == 0)
				return tk_yaml_fail(
				        k->y, node, k->err, "duplicate configuration \"%s\"", *c);
	return TK_OK;
}

static int check_upstreams(const struct check *k)
{
	const struct tk_upstream_config *u = k->c->upstreams;
	for (size_t i = 0; i < k->c->upstream_count; i++) {
		for (size_t j = 0; j < i; j++)
			if (strcmp(u[i].name, u[j].name) == 0)
				return tk_yaml_fail(k->y, find_upstream_node(k, i, "name"), k->err,
				        "duplicate upstream \"%s\" (first in line %zu)", u[i].name,
				        tk_yaml_line(k->y, find_upstream_node(k, j, "name")));
		TRY(check_git_keys(k, i));
		TRY(check_configs(k, i));
	}
	return TK_OK;
}

static bool has_upstream(const struct tk_config *c, const char *name)
{
	return strcmp(name, "builtin") == 0 || tk_config_find_upstream(c, name);
}

static int check_control(const struct check *k)
{
	const struct tk_control_config *control = &k->c->control;
	char hint[TK_SUGGEST_HINT_SIZE];
	int node = find_node(k, "control", "upstream");

	if (!control->every || has_upstream(k->c, control->upstream))
		return TK_OK;
	return tk_yaml_fail(k->y, node, k->err, "control.upstream: unknown upstream \"%s\"%s",
	        control->upstream,
	        tk_config_suggest_upstream(k->c, control->upstream, "builtin",
	                "; expected builtin or one of upstreams", hint));
}

/* "cuda:paced" */
static bool parse_kind_mode(const char *text, enum tk_mode *mode)
{
	const char *colon = strchr(text, ':');

	return colon && colon > text && !tk_mode_parse(colon + 1, mode);
}

/* "paced" for "loaded" and other former names; "sequence:NAME" as it is. */
static const char *mode_word(const char *text, enum tk_mode mode)
{
	return mode == TK_MODE_SEQUENCE ? strchr(text, ':') + 1 : tk_mode_name(mode);
}

static bool is_same_kind(const char *a, const char *b)
{
	size_t len = strcspn(a, ":");

	return strcspn(b, ":") == len && strncmp(a, b, len) == 0;
}

static bool is_same_mode(const char *a, const char *b)
{
	enum tk_mode mode_a, mode_b;

	return parse_kind_mode(a, &mode_a) && parse_kind_mode(b, &mode_b) && is_same_kind(a, b) &&
	       strcmp(mode_word(a, mode_a), mode_word(b, mode_b)) == 0;
}

/* The control and the ceilings are measured in the first mode. */
static int check_sequence(const struct check *k, size_t i, int node)
{
	char *const *modes = k->c->measure.modes;
	char name[TK_MODE_WORD_SIZE];
	size_t first = 0;

	if (!tk_mode_get_sequence(strchr(modes[i], ':') + 1, name) || strchr(modes[i], '@'))
		return tk_yaml_fail(k->y, node, k->err,
		        "measure.modes: \"%s\" names no sequence; expected a suite with "
		        "\"sequence: yes\", such as cuda:sequence:llama3-8b-prefill",
		        modes[i]);
	while (!is_same_kind(modes[first], modes[i]))
		first++;
	if (first == i)
		return tk_yaml_fail(k->y, node, k->err,
		        "measure.modes: a sequence is the first mode of its kind of devices; "
		        "expected "
		        "another mode before it");
	return TK_OK;
}

static int check_modes(const struct check *k)
{
	char *const *modes = k->c->measure.modes;

	for (size_t i = 0; modes[i]; i++) {
		int node = tk_yaml_item(k->y, find_node(k, "measure", "modes"), i);
		enum tk_mode mode;

		if (!parse_kind_mode(modes[i], &mode))
			return tk_yaml_fail(k->y, node, k->err,
			        "measure.modes: unknown mode \"%s\"; expected KIND:MODE, such as "
			        "cuda:paced",
			        modes[i]);
		if (i >= TK_CONFIG_MODES_MAX)
			return tk_yaml_fail(k->y, node, k->err, "measure.modes: more than %d modes",
			        TK_CONFIG_MODES_MAX);
		if (mode == TK_MODE_SEQUENCE && check_sequence(k, i, node))
			return TK_ECONFIG;
		for (size_t j = 0; j < i; j++)
			if (is_same_mode(modes[i], modes[j]))
				return tk_yaml_fail(k->y, node, k->err,
				        "measure.modes: duplicate mode \"%s\"", modes[i]);
	}
	return TK_OK;
}

size_t tk_config_list_modes(
        const struct tk_config *c, const char *device_kind, const char *out[TK_CONFIG_MODES_MAX])
{
	size_t n = 0;
	enum tk_mode mode;

	for (size_t i = 0; c->measure.modes && c->measure.modes[i] && n < TK_CONFIG_MODES_MAX; i++)
		if (parse_kind_mode(c->measure.modes[i], &mode) &&
		        is_same_kind(c->measure.modes[i], device_kind))
			out[n++] = mode_word(c->measure.modes[i], mode);
	if (n == 0)
		out[n++] = tk_mode_name(tk_mode_default(device_kind));
	return n;
}

static const char *suggest_status(const char *name, char hint[TK_SUGGEST_HINT_SIZE])
{
	const char *known[TK_VERDICT_STATUS_COUNT + 2] = {0};

	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		known[i] = tk_verdict_status_name((enum tk_verdict_status)i);
	known[TK_VERDICT_STATUS_COUNT] = "none";
	return tk_suggest_hint(name, known, "; expected a status of `tracker diff` or none", hint);
}

static int check_fail_on(const struct check *k)
{
	char *const *names = k->c->fail_on;

	for (size_t i = 0; names[i]; i++) {
		int node = tk_yaml_item(k->y, find_node(k, "notify", "fail_on"), i);
		enum tk_verdict_status status;
		char hint[TK_SUGGEST_HINT_SIZE];

		if (strcmp(names[i], "none") == 0 || !tk_verdict_status_parse(names[i], &status))
			continue;
		return tk_yaml_fail(k->y, node, k->err, "notify.fail_on: unknown status \"%s\"%s",
		        names[i], suggest_status(names[i], hint));
	}
	return TK_OK;
}

/* Pages also link to the repository: the part before /commit/ is its address. */
static int check_commit_url(const struct check *k)
{
	const char *url = k->c->commit_url;

	if (!url || strstr(url, "/commit/{rev}"))
		return TK_OK;
	return tk_yaml_fail(k->y, find_node(k, "site", "commit_url"), k->err,
	        "site.commit_url: \"%s\" has no place for the commit; expected a URL with "
	        "/commit/{rev} in it",
	        url);
}

const struct tk_upstream_config *tk_config_find_upstream(
        const struct tk_config *c, const char *name)
{
	for (size_t i = 0; i < c->upstream_count; i++)
		if (strcmp(c->upstreams[i].name, name) == 0)
			return &c->upstreams[i];
	return NULL;
}

const char *tk_config_suggest_upstream(const struct tk_config *c, const char *name,
        const char *more, const char *otherwise, char out[TK_SUGGEST_HINT_SIZE])
{
	const char **names = tk_calloc(c->upstream_count + 2, sizeof *names);

	*out = '\0';
	if (!names)
		return out;
	for (size_t i = 0; i < c->upstream_count; i++)
		names[i] = c->upstreams[i].name;
	names[c->upstream_count] = more;
	if (!otherwise && !c->upstream_count)
		otherwise = "; none is configured";
	tk_suggest_hint(name, names, otherwise, out);
	free(names);
	return out;
}

bool tk_config_measures_backend(const struct tk_upstream_config *u, const char *backend)
{
	char *const *name = u->backends;

	if (!name || !*name)
		return true;
	for (; *name; name++)
		if (strcmp(*name, backend) == 0)
			return true;
	return false;
}

const char *tk_config_suite_name(const char *entry, enum tk_device_kind *kind)
{
	const char *colon = strchr(entry, ':');
	char name[16] = "";

	*kind = TK_DEVICE_OTHER;
	if (!colon || (size_t)(colon - entry) >= sizeof name)
		return entry;
	memcpy(name, entry, (size_t)(colon - entry));
	*kind = tk_device_kind_from_name(name);
	return *kind == TK_DEVICE_OTHER ? entry : colon + 1;
}

const char *const tk_config_baselines[] = {"window", "first", "best", NULL};

bool tk_config_is_baseline(const char *text)
{
	for (const char *const *word = tk_config_baselines; *word; word++)
		if (strcmp(*word, text) == 0)
			return true;
	return (strncmp(text, "pinned:", 7) == 0 && text[7]) ||
	       (strncmp(text, "tag:", 4) == 0 && text[4]);
}

static int check_baseline(const struct check *k)
{
	const char *text = k->c->thresholds.baseline;
	char shown[TK_TEXT_EXCERPT_SIZE], hint[TK_SUGGEST_HINT_SIZE];

	if (tk_config_is_baseline(text))
		return TK_OK;
	return tk_yaml_fail(k->y, find_node(k, "thresholds", "baseline"), k->err,
	        "thresholds.baseline: unknown baseline \"%s\"; expected window, first, best, "
	        "pinned:REV or tag:NAME%s",
	        tk_text_format_excerpt(text, shown),
	        tk_suggest_hint(text, tk_config_baselines, "", hint));
}

static int check_numbers(const struct check *k)
{
	const struct tk_budgets *b = &k->c->budgets;
	const struct tk_measure_config *m = &k->c->measure;
	char sampling[TK_UNITS_TEXT_SIZE], job[TK_UNITS_TEXT_SIZE];

	if (b->measure_s > b->job_s)
		return tk_yaml_fail(k->y, find_node(k, "budgets", "measure"), k->err,
		        "budgets.measure (%s) exceeds budgets.job (%s); expected less, because a "
		        "job "
		        "also loads and verifies",
		        tk_units_format(TK_QUANTITY_DURATION, b->measure_s, sampling),
		        tk_units_format(TK_QUANTITY_DURATION, b->job_s, job));
	if (m->min_samples > m->max_samples)
		return tk_yaml_fail(k->y, find_node(k, "measure", "min_samples"), k->err,
		        "measure.min_samples (%u) exceeds measure.max_samples (%u)", m->min_samples,
		        m->max_samples);
	return TK_OK;
}

int tk_config_check(const struct tk_config *c, const struct tk_yaml *y, struct tk_error *err)
{
	static int (*const checks[])(const struct check *) = {check_lists, check_upstreams,
	        check_suites, check_rotate, check_control, check_modes, check_fail_on,
	        check_commit_url, check_baseline, check_numbers};
	const struct check k = {c, y, err};
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
		TRY(checks[i](&k));
	return TK_OK;
}
