/* Stage "build": revisions become backends. A build that fails is a row with its log; its jobs will
 * be `build_failed`.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "nightly/night.h"
#include "nightly/stages/recipe.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_TAIL_BYTES ((size_t)64 << 10)

/* Modules that measure the machine, not a kernel: the control between the jobs, the roofs of the
 * roofline. */
static const struct builtin_module {
	const char *name;
	bool optional;
} builtin_modules[] = {
        {"control", false},
        {"ceiling", false},
        {"control_cuda", true},
        {"ceiling_cuda", true},
        {"cublaslt", true},
        {"control_hip", true},
        {"ceiling_hip", true},
        {"hipblaslt", true},
};

static int take_module(
        struct tk_night *n, struct tk_likelihood_product *p, const char *name, struct tk_error *err)
{
	const struct tk_module *m = tk_modules_find_backend(n->modules, name);
	if (!m)
		return tk_fail(
		        err, TK_ENOTFOUND, "there is no backend `%s` in %s", name, n->modules->dir);
	int status =
	        tk_artifact_load_installed(m->path, m->name, &p->artifacts[p->artifact_count], err);
	if (status == TK_OK)
		p->artifact_count++;
	return status;
}

static int build_source(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	if (n->options->import_file)
		return TK_OK; /* it came with its artifact */
	int status = tk_recipe_build(n->config, p->config, p->rev, NULL, &p->artifacts[0], err);
	if (status == TK_OK)
		p->artifact_count = 1;
	return status;
}

static int make_artifacts(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	if (p->config->kind == TK_UPSTREAM_SYSTEM)
		return take_module(
		        n, p, p->config->adapter ? p->config->adapter : p->config->name, err);
	if (p->config->kind != TK_UPSTREAM_BUILTIN)
		return build_source(n, p, err);
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < sizeof builtin_modules / sizeof *builtin_modules;
	        i++)
		if (!builtin_modules[i].optional ||
		        tk_modules_find_backend(n->modules, builtin_modules[i].name))
			status = take_module(n, p, builtin_modules[i].name, err);
	return status;
}

/* The machine code of a system library is not in our module: its version stands for it. */
static void code_hash_of(
        const struct tk_likelihood_product *p, const char *code_hash, char out[TK_HASH_HEX_SIZE])
{
	if (p->config->kind == TK_UPSTREAM_SYSTEM) {
		struct tk_hash *h = tk_hash_new();
		if (h) {
			tk_hash_add_str(h, code_hash);
			tk_hash_add_str(h, p->rev);
			tk_hash_finish(h, out);
			return;
		}
	}
	snprintf(out, TK_HASH_HEX_SIZE, "%s", code_hash);
}

static int put_kernels(struct tk_night *n, const struct tk_likelihood_product *p,
        const struct tk_artifact_backend *b, struct tk_error *err)
{
	char hash[TK_HASH_HEX_SIZE];
	int64_t id;
	code_hash_of(p, b->code_hash, hash);
	struct tk_kernel_row whole = {.build_id = p->build_id,
	        .backend = b->name,
	        .name = "",
	        .code_hash = hash,
	        .registers = -1,
	        .spill_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1};
	int status = tk_store_put_kernel(n->store, &whole, &id, err);
	for (size_t i = 0; status == TK_OK && i < b->kernel_count; i++) {
		const struct tk_kernel_symbol *k = &b->kernels[i];
		struct tk_kernel_row row = {.build_id = p->build_id,
		        .backend = b->name,
		        .name = k->name,
		        .code_hash = k->code_hash,
		        .size_bytes = k->size_bytes,
		        .registers = k->registers,
		        .spill_bytes = k->spill_bytes,
		        .shared_bytes = k->shared_bytes,
		        .threads = k->threads,
		        .occupancy_percent = k->occupancy_percent};
		status = tk_store_put_kernel(n->store, &row, &id, err);
	}
	return status;
}

/* The end of a failed build's log, so that the page of the night can show it when the cache is long
 * gone. */
static char *log_tail(const struct tk_artifact *a)
{
	struct tk_buf log = TK_BUF_INIT;
	if (a->status == TK_BUILD_OK || !a->log_path ||
	        tk_file_read(a->log_path, (size_t)64 << 20, &log, NULL) != TK_OK) {
		tk_buf_free(&log);
		return NULL;
	}
	size_t skip = log.len > LOG_TAIL_BYTES ? log.len - LOG_TAIL_BYTES : 0;
	char *tail = strdup(tk_buf_cstr(&log) + skip);
	tk_buf_free(&log);
	return tail;
}

static int put_build(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	const struct tk_artifact *a = p->artifacts[0];
	char *tail = log_tail(a);
	struct tk_build_row row = {.revision_id = p->revision_id,
	        .artifact_key = a->key,
	        .adapter = p->config->adapter ? p->config->adapter : p->config->name,
	        .toolchain = a->toolchain ? a->toolchain : "",
	        .flags = p->config->cmake_args ? p->config->cmake_args : "",
	        .arch = "native",
	        .status = a->status,
	        .message = a->message ? a->message : "",
	        .log = tail ? tail : "",
	        .wall_s = a->wall_s,
	        .size_bytes = a->size_bytes,
	        .built_s = tk_clock_now_s()};
	int status = tk_store_put_build(n->store, &row, &p->build_id, err);
	free(tail);
	for (size_t i = 0; status == TK_OK && i < p->artifact_count; i++)
		for (size_t k = 0; status == TK_OK && k < p->artifacts[i]->backend_count; k++)
			status = put_kernels(n, p, &p->artifacts[i]->backends[k], err);
	return status;
}

int tk_night_build_upstream(
        struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	int status = make_artifacts(n, p, err);
	return status == TK_OK ? put_build(n, p, err) : status;
}

static void count_build(struct tk_night *n, struct tk_likelihood_product *p)
{
	const struct tk_artifact *a = p->artifacts[0];
	if (p->config->kind == TK_UPSTREAM_BUILTIN || p->config->kind == TK_UPSTREAM_SYSTEM)
		return;
	n->report->builds++;
	n->report->builds_cached += a->cached && a->status == TK_BUILD_OK;
	p->failed = a->status != TK_BUILD_OK;
	if (p->failed) {
		n->report->builds_failed++;
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: build %s: %s (log: %s)",
		        p->config->name, p->rev, tk_build_status_name(a->status),
		        a->message ? a->message : "", a->log_path ? a->log_path : "-");
	}
}

/* An upstream that cannot even be tried costs its own row. */
static int cannot_try(struct tk_night *n, struct tk_likelihood_product *p,
        const struct tk_error *why, struct tk_error *err)
{
	if (why->status == TK_ECANCELED || why->status == TK_ENOMEM || why->status == TK_ENOSPC)
		return tk_fail(err, why->status, "%s", why->message);
	tk_log(TK_LOG_WARN, "build_failed", NULL, "%s: %s", p->config->name, why->message);
	if (p->status != TK_RESOLUTION_UNREACHABLE)
		p->status = TK_RESOLUTION_FAILED;
	snprintf(p->message, sizeof p->message, "%.*s", (int)sizeof p->message - 1, why->message);
	n->report->builds++;
	n->report->builds_failed++;
	p->failed = true;
	return TK_OK;
}

static int build_one(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	struct tk_error why = {0};
	if (!p->revision_id)
		return TK_OK; /* unreachable, and never seen before: the resolution says so */
	int status = make_artifacts(n, p, &why);
	if (status != TK_OK) {
		status = cannot_try(n, p, &why, err);
	} else if ((status = put_build(n, p, err)) == TK_OK) {
		count_build(n, p);
	}
	if (status != TK_OK)
		return status;
	struct tk_resolution_row row = {.night_id = n->night_id,
	        .upstream_id = p->upstream_id,
	        .revision_id = p->revision_id,
	        .build_id = p->build_id,
	        .status = p->status,
	        .message = p->message};
	return tk_store_put_resolution(n->store, &row, err);
}

int tk_night_build(struct tk_night *n, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < n->product_count; i++) {
		char what[200];
		snprintf(what, sizeof what, "%s %.12s", n->products[i].config->name,
		        n->products[i].rev);
		tk_night_announce_stage(n, "build", what);
		status = build_one(n, &n->products[i], err);
	}
	return status;
}
