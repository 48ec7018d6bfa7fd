/* What is only wrong when the whole configuration is known, and the hash of what decides the
 * measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "config/config_keys.h"
#include "config/suite_find.h"
#include "config/yaml_tree.h"
#include "core/status.h"

struct check {
	struct tk_config *c;
	const struct tk_yaml *y;
	struct tk_error *err;
};

static int find(const struct check *k, const char *section, const char *key)
{
	int map = tk_yaml_find(k->y, tk_yaml_root(k->y), section),
	    node = key ? tk_yaml_find(k->y, map, key) : 0;

	return node ? node : map;
}

static int upstream_node(const struct check *k, size_t i, const char *key)
{
	int map = tk_yaml_item(k->y, tk_yaml_find(k->y, tk_yaml_root(k->y), "upstreams"), i),
	    node = tk_yaml_find(k->y, map, key);

	return node ? node : map;
}

static int check_lists(const struct check *k)
{
	if (!k->c->devices[0])
		return tk_yaml_fail(k->y, find(k, "devices", NULL), k->err,
		        "devices is an empty list, expected at least one, for instance [all]");
	if (!k->c->suites[0])
		return tk_yaml_fail(k->y, find(k, "suites", NULL), k->err,
		        "suites is an empty list, expected at least one, for instance [smoke]");
	if (!k->c->upstream_count)
		return tk_yaml_fail(k->y, find(k, "upstreams", NULL), k->err,
		        "upstreams is an empty list, expected at least one");
	return TK_OK;
}

static int check_suites(const struct check *k)
{
	int status = TK_OK;

	for (size_t i = 0; !status && k->c->suites[i]; i++) {
		struct tk_error why = {0};
		char *path = NULL;

		if (tk_suite_find_file(k->c->root, k->c->suites[i], &path, &why))
			status = tk_yaml_fail(k->y, tk_yaml_item(k->y, find(k, "suites", NULL), i),
			        k->err, "%s", why.message);
		free(path);
		for (size_t j = 0; !status && j < i; j++)
			if (strcmp(k->c->suites[i], k->c->suites[j]) == 0)
				status = tk_yaml_fail(k->y,
				        tk_yaml_item(k->y, find(k, "suites", NULL), i), k->err,
				        "suite `%s` is there twice, expected once",
				        k->c->suites[i]);
	}
	return status;
}

static int check_git_keys(const struct check *k, size_t i)
{
	const struct tk_upstream_config *u = &k->c->upstreams[i];
	const struct {
		const char *key, *value;
	} only_git[] = {{"url", u->url}, {"branch", u->branch}, {"path", u->path}};

	if (u->kind == TK_UPSTREAM_GIT && !u->url)
		return tk_yaml_fail(k->y, upstream_node(k, i, "kind"), k->err,
		        "upstream `%s` is of kind git and has no url, expected `url: https://...` "
		        "or a path",
		        u->name);
	if (u->kind == TK_UPSTREAM_GIT && !u->adapter)
		return tk_yaml_fail(k->y, upstream_node(k, i, "kind"), k->err,
		        "upstream `%s` is of kind git and has no adapter, expected the adapter "
		        "that builds it",
		        u->name);
	if (u->branch && (u->branch[0] == '-' || strpbrk(u->branch, " ~^:?*[\\")))
		return tk_yaml_fail(k->y, upstream_node(k, i, "branch"), k->err,
		        "branch of upstream `%s` is not a name that git allows, expected one like "
		        "main",
		        u->name);
	if (u->path && (u->path[0] == '-' || u->path[0] == '/' || u->path[0] == ':'))
		return tk_yaml_fail(k->y, upstream_node(k, i, "path"), k->err,
		        "path of upstream `%s` is not inside the repository, expected one like "
		        "src/gemm",
		        u->name);
	for (size_t g = 0; g < 3; g++)
		if (u->kind != TK_UPSTREAM_GIT && u->kind != TK_UPSTREAM_SELF && only_git[g].value)
			return tk_yaml_fail(k->y, upstream_node(k, i, only_git[g].key), k->err,
			        "%s of upstream `%s` has no meaning, expected it with kind git "
			        "only",
			        only_git[g].key, u->name);
	return TK_OK;
}

static int check_upstreams(const struct check *k)
{
	const struct tk_upstream_config *u = k->c->upstreams;
	int status = TK_OK;

	for (size_t i = 0; !status && i < k->c->upstream_count; i++) {
		for (size_t j = 0; j < i; j++)
			if (strcmp(u[i].name, u[j].name) == 0)
				return tk_yaml_fail(k->y, upstream_node(k, i, "name"), k->err,
				        "upstream `%s` is there twice (first in line %zu), "
				        "expected every name once",
				        u[i].name, tk_yaml_line(k->y, upstream_node(k, j, "name")));
		status = check_git_keys(k, i);
	}
	return status;
}

/* `builtin` is there without being listed: the control and the ceilings are made with the tracker.
 */
static int check_control(const struct check *k)
{
	const struct tk_control_config *control = &k->c->control;
	const char **names = calloc(k->c->upstream_count + 2, sizeof *names);
	int status = TK_OK, found = 0;
	const char *near;

	if (!names)
		return tk_fail(k->err, TK_ENOMEM, "out of memory");
	names[0] = "builtin";
	for (size_t i = 0; i < k->c->upstream_count; i++)
		names[i + 1] = k->c->upstreams[i].name;
	for (size_t i = 0; names[i]; i++)
		found |= strcmp(names[i], control->upstream) == 0;
	near = tk_suggest_name(control->upstream, names);
	if (!found && control->every)
		status = tk_yaml_fail(k->y, find(k, "control", "upstream"), k->err,
		        "control.upstream is `%s`, which is no upstream, expected %s%s%s",
		        control->upstream, near ? "`" : "builtin or one of upstreams",
		        near ? near : "", near ? "`" : "");
	free(names);
	return status;
}

/* "cuda:paced": splits a word of measure.modes; false where it is none. */
static bool read_mode(const char *word, size_t *kind_len, enum tk_mode *mode)
{
	const char *colon = strchr(word, ':');

	*kind_len = colon ? (size_t)(colon - word) : 0;
	return *kind_len > 0 && tk_mode_parse(colon + 1, mode) == TK_OK;
}

static int check_modes(const struct check *k)
{
	char *const *modes = k->c->measure.modes;

	for (size_t i = 0; modes && modes[i]; i++) {
		int node = tk_yaml_item(k->y, find(k, "measure", "modes"), i);
		enum tk_mode mode;
		size_t len;

		if (!read_mode(modes[i], &len, &mode))
			return tk_yaml_fail(k->y, node, k->err,
			        "measure.modes has `%s`, expected KIND:MODE with cold, hot, paced, "
			        "sustained or "
			        "loaded, "
			        "for instance cuda:paced",
			        modes[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(modes[i], modes[j]) == 0)
				return tk_yaml_fail(k->y, node, k->err,
				        "measure.modes has `%s` twice, expected once", modes[i]);
	}
	return TK_OK;
}

size_t tk_config_list_modes(const struct tk_config *c, const char *device_kind, enum tk_mode *out)
{
	size_t n = 0, len;

	for (size_t i = 0; c->measure.modes && c->measure.modes[i] && n < TK_MODE_COUNT; i++)
		if (read_mode(c->measure.modes[i], &len, &out[n]) && strlen(device_kind) == len &&
		        strncmp(c->measure.modes[i], device_kind, len) == 0)
			n++;
	if (n == 0)
		out[n++] = tk_mode_default(device_kind);
	return n;
}

#define STATUS_WORD(id, word, mark, meaning) word,

/* Here, and not where the first comparison asks: a word that is none would never be found. */
static int check_fail_on(const struct check *k)
{
	static const char *const known[] = {TK_VERDICT_STATUSES(STATUS_WORD) "none", NULL};
	char *const *words = k->c->fail_on;

	for (size_t i = 0; words && words[i]; i++) {
		size_t at = 0;

		while (known[at] && strcmp(known[at], words[i]) != 0)
			at++;
		if (known[at])
			continue;
		const char *near = tk_suggest_name(words[i], known);

		return tk_yaml_fail(k->y, tk_yaml_item(k->y, find(k, "notify", "fail_on"), i),
		        k->err, "notify.fail_on: unknown status `%s`%s%s%s", words[i],
		        near ? ", did you mean `"
		             : ", expected words of `tracker help diff` or none",
		        near ? near : "", near ? "`?" : "");
	}
	return TK_OK;
}

/* Pages link to a commit, and to the whole repository: what stands before /commit/ is its address.
 */
static int check_commit_url(const struct check *k)
{
	const char *url = k->c->commit_url;

	if (!url || strstr(url, "/commit/{rev}"))
		return TK_OK;
	return tk_yaml_fail(k->y, find(k, "site", "commit_url"), k->err,
	        "site.commit_url is `%s`, expected a URL with /commit/{rev} in it", url);
}

static int check_baseline(const struct check *k)
{
	const char *text = k->c->thresholds.baseline;
	char shown[80];

	if (tk_config_is_baseline(text))
		return TK_OK;
	return tk_yaml_fail(k->y, find(k, "thresholds", "baseline"), k->err,
	        "thresholds.baseline is `%s`, expected window, first, best, pinned:REV or tag:NAME",
	        tk_yaml_format_excerpt(text, shown));
}

bool tk_config_is_baseline(const char *text)
{
	static const char *const words[] = {"window", "first", "best"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return (strncmp(text, "pinned:", 7) == 0 && text[7]) ||
	       (strncmp(text, "tag:", 4) == 0 && text[4]);
}

static int check_numbers(const struct check *k)
{
	const struct tk_budgets *b = &k->c->budgets;
	const struct tk_measure_config *m = &k->c->measure;

	if (b->measure_s > b->job_s)
		return tk_yaml_fail(k->y, find(k, "budgets", "measure"), k->err,
		        "budgets.measure (%gs) is over budgets.job (%gs), expected less: a job "
		        "also loads and verifies",
		        b->measure_s, b->job_s);
	if (m->min_samples > m->max_samples)
		return tk_yaml_fail(k->y, find(k, "measure", "min_samples"), k->err,
		        "measure.min_samples (%u) is over measure.max_samples (%u), expected at "
		        "most that",
		        m->min_samples, m->max_samples);
	return TK_OK;
}

int tk_config_check(struct tk_config *c, const struct tk_yaml *y, struct tk_error *err)
{
	struct check k = {c, y, err};
	int status = check_lists(&k);

	if (!status)
		status = check_upstreams(&k);
	if (!status)
		status = check_suites(&k);
	if (!status)
		status = check_control(&k);
	if (!status)
		status = check_modes(&k);
	if (!status)
		status = check_fail_on(&k);
	if (!status)
		status = check_commit_url(&k);
	if (!status)
		status = check_baseline(&k);
	return status ? status : check_numbers(&k);
}

/* ---- the hash ---- */

static void hash_words(struct tk_hash *h, char *const *words)
{
	int64_t n = 0;

	while (words && words[n])
		n++;
	tk_hash_add_i64(h, n);
	for (int64_t i = 0; i < n; i++)
		tk_hash_add_str(h, words[i]);
}

static void hash_number(struct tk_hash *h, double v)
{
	tk_hash_add(h, &v, sizeof v);
}

static void hash_upstream(struct tk_hash *h, const struct tk_upstream_config *u)
{
	const char *texts[] = {
	        u->name, u->url, u->branch, u->path, u->adapter, u->options, u->cmake_args};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		tk_hash_add_str(h, texts[i]);
	tk_hash_add_i64(h, u->kind);
	tk_hash_add_i64(h, u->submodules);
	tk_hash_add_i64(h, u->enabled);
	hash_words(h, u->backends);
}

/* Not in it: names of files and pages, thresholds, retention, notification, and how long a night
 * may take. */
int tk_config_hash(struct tk_config *c, struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();

	if (!h)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	hash_words(h, c->devices);
	hash_words(h, c->suites);
	tk_hash_add_i64(h, (int64_t)c->upstream_count);
	for (size_t i = 0; i < c->upstream_count; i++)
		hash_upstream(h, &c->upstreams[i]);
	hash_number(h, c->budgets.job_s);
	hash_number(h, c->budgets.measure_s);
	tk_hash_add_i64(h, (int64_t)c->budgets.job_memory_bytes);
	hash_number(h, c->measure.relative_half_width);
	hash_number(h, c->measure.confidence);
	tk_hash_add_i64(h, c->measure.min_samples);
	tk_hash_add_i64(h, c->measure.max_samples);
	tk_hash_add_i64(h, c->measure.threads);
	tk_hash_add_i64(h, c->measure.pin);
	tk_hash_add_i64(h, c->measure.launch_cost);
	tk_hash_add_i64(h, c->measure.energy);
	tk_hash_add_i64(h, c->measure.memory);
	hash_words(h, c->measure.modes);
	tk_hash_add_str(h, c->control.upstream);
	tk_hash_add_str(h, c->control.backend);
	tk_hash_add_str(h, c->control.problem);
	tk_hash_add_i64(h, c->control.every);
	tk_hash_finish(h, c->hash);
	return TK_OK;
}
