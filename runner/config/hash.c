/* The hash of the keys that decide what is measured, and how. */
#include "base/error.h"
#include "config/internal.h"

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
	if (u->is_tuned) /* without it, the hash of before this key */
		tk_hash_add_str(h, "tuned");
	if (u->kind == TK_UPSTREAM_PACKAGE) {
		const char *more[] = {u->package, u->index, u->extra_index, u->python};
		for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
			tk_hash_add_str(h, more[i]);
		tk_hash_add_i64(h, u->pre);
	}
}

/* Not in it: names of files and pages, thresholds, retention, notification, and how long a night
 * may take. */
int tk_config_hash(struct tk_config *c, struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();

	hash_words(h, c->devices);
	hash_words(h, c->suites);
	if (c->rotate[0]) /* else as before there was such a key */
		hash_words(h, c->rotate);
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
	tk_hash_add_i64(h, c->measure.compile_time);
	hash_words(h, c->measure.modes);
	tk_hash_add_str(h, c->control.upstream);
	tk_hash_add_str(h, c->control.backend);
	tk_hash_add_str(h, c->control.problem);
	tk_hash_add_i64(h, c->control.every);
	tk_hash_finish(h, c->hash);
	return TK_OK;
}
