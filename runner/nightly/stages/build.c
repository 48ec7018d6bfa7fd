/* Stage "build": turns revisions into backends. A build that fails is a row with its log, and
 * its jobs get the outcome `build_failed`. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "nightly/stages/upstream_build.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>

#define LOG_TAIL_BYTES ((size_t)64 << 10)

/* Modules that measure the machine, not a kernel: the control and the ceilings. Optional ones
 * depend on how the tracker was built. */
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

_Static_assert(sizeof builtin_modules / sizeof *builtin_modules <= TK_NIGHT_ARTIFACTS_MAX,
        "an upstream has room for all builtin modules");

static int use_module(
        struct tk_night *n, struct tk_night_upstream *u, const char *name, struct tk_error *err)
{
	const struct tk_module *m = tk_modules_find_backend(n->modules, name);
	if (!m)
		return tk_fail(err, TK_ENOTFOUND, "no backend \"%s\" in %s", name, n->modules->dir);
	TRY(tk_artifact_load_installed(m->path, m->name, &u->artifacts[u->artifact_count], err));
	u->artifact_count++;
	return TK_OK;
}

static int build_source(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	if (n->options->import_file)
		return TK_OK; /* the bundle has the artifact */
	TRY(tk_upstream_build(n->config, u->config, u->rev, NULL, &u->artifacts[0], err));
	u->artifact_count = 1;
	return TK_OK;
}

static int make_artifacts(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	if (u->config->kind == TK_UPSTREAM_SYSTEM)
		return use_module(
		        n, u, u->config->adapter ? u->config->adapter : u->config->name, err);
	if (u->config->kind != TK_UPSTREAM_BUILTIN)
		return build_source(n, u, err);
	for (size_t i = 0; i < sizeof builtin_modules / sizeof *builtin_modules; i++)
		if (!builtin_modules[i].optional ||
		        tk_modules_find_backend(n->modules, builtin_modules[i].name))
			TRY(use_module(n, u, builtin_modules[i].name, err));
	return TK_OK;
}

/* The code of a system library is not in our module, so its version is part of the hash. */
static void hash_code(
        const struct tk_night_upstream *u, const char *code_hash, char out[TK_HASH_HEX_SIZE])
{
	snprintf(out, TK_HASH_HEX_SIZE, "%s", code_hash);
	if (u->config->kind != TK_UPSTREAM_SYSTEM)
		return;
	struct tk_hash *h = tk_hash_new();
	tk_hash_add_str(h, code_hash);
	tk_hash_add_str(h, u->rev);
	tk_hash_finish(h, out);
}

static int put_kernels(struct tk_night *n, const struct tk_night_upstream *u,
        const struct tk_artifact_backend *b, struct tk_error *err)
{
	char hash[TK_HASH_HEX_SIZE];
	int64_t id;
	hash_code(u, b->code_hash, hash);
	struct tk_kernel_row whole = {.build_id = u->build_id,
	        .backend = b->name,
	        .name = "",
	        .code_hash = hash,
	        .registers = -1,
	        .spill_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1};
	TRY(tk_store_put(n->store, TK_TABLE_kernel, &whole, &id, err));
	for (size_t i = 0; i < b->kernel_count; i++) {
		const struct tk_kernel_symbol *k = &b->kernels[i];
		struct tk_kernel_row row = {.build_id = u->build_id,
		        .backend = b->name,
		        .name = k->name,
		        .code_hash = k->code_hash,
		        .size_bytes = k->size_bytes,
		        .registers = k->registers,
		        .spill_bytes = k->spill_bytes,
		        .shared_bytes = k->shared_bytes,
		        .threads = k->threads,
		        .occupancy_percent = k->occupancy_percent,
		        .instructions = k->instructions};
		TRY(tk_store_put(n->store, TK_TABLE_kernel, &row, &id, err));
	}
	return TK_OK;
}

/* The end of a failed build's log: its page must outlive the cache. "" of another one. */
static char *read_log_tail(const struct tk_artifact *a)
{
	AUTO(tk_buf) log = TK_BUF_INIT;
	if (a->status == TK_BUILD_OK || !a->log_path ||
	        tk_file_read(a->log_path, (size_t)64 << 20, &log, NULL))
		return tk_strdup("");
	size_t skip = log.len > LOG_TAIL_BYTES ? log.len - LOG_TAIL_BYTES : 0;
	return tk_strdup(tk_buf_cstr(&log) + skip);
}

static int put_build(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	const struct tk_artifact *a = u->artifacts[0];
	AUTO_TEXT tail = read_log_tail(a);
	struct tk_build_row row = {.revision_id = u->revision_id,
	        .artifact_key = a->key,
	        .adapter = u->config->adapter ? u->config->adapter : u->config->name,
	        .toolchain = a->toolchain ? a->toolchain : "",
	        .flags = u->config->cmake_args ? u->config->cmake_args : "",
	        .arch = "native",
	        .status = a->status,
	        .message = a->message ? a->message : "",
	        .log = tail,
	        .wall_s = a->wall_s,
	        .size_bytes = a->size_bytes,
	        .built_s = tk_clock_now_s()};
	TRY(tk_store_put(n->store, TK_TABLE_build, &row, &u->build_id, err));
	for (size_t i = 0; i < u->artifact_count; i++)
		for (size_t k = 0; k < u->artifacts[i]->backend_count; k++)
			TRY(put_kernels(n, u, &u->artifacts[i]->backends[k], err));
	return TK_OK;
}

int tk_night_build_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	TRY(make_artifacts(n, u, err));
	return put_build(n, u, err);
}

static void count_build(struct tk_night *n, struct tk_night_upstream *u)
{
	const struct tk_artifact *a = u->artifacts[0];
	if (u->config->kind == TK_UPSTREAM_BUILTIN || u->config->kind == TK_UPSTREAM_SYSTEM)
		return;
	n->report->builds++;
	n->report->builds_cached += a->cached && a->status == TK_BUILD_OK;
	u->failed = a->status != TK_BUILD_OK;
	if (u->failed) {
		n->report->builds_failed++;
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: build %s: %s (log: %s)",
		        u->config->name, u->rev, tk_build_status_name(a->status),
		        a->message ? a->message : "", a->log_path ? a->log_path : "-");
	}
}

/* A build that could not be started fails this upstream only. */
static int record_failure(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_error *reason, struct tk_error *err)
{
	if (tk_night_is_fatal(reason->status))
		return tk_fail(err, reason->status, "%s", reason->message);
	tk_log(TK_LOG_WARN, "build_failed", NULL, "%s: %s", u->config->name, reason->message);
	if (u->status != TK_RESOLUTION_UNREACHABLE)
		u->status = TK_RESOLUTION_FAILED;
	snprintf(
	        u->message, sizeof u->message, "%.*s", (int)sizeof u->message - 1, reason->message);
	n->report->builds++;
	n->report->builds_failed++;
	u->failed = true;
	return TK_OK;
}

static int build_and_record(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	struct tk_error reason = {0};
	if (!u->revision_id)
		return TK_OK; /* unreachable and never seen before */
	if (make_artifacts(n, u, &reason)) {
		TRY(record_failure(n, u, &reason, err));
	} else {
		TRY(put_build(n, u, err));
		count_build(n, u);
	}
	struct tk_resolution_row row = {.night_id = n->night_id,
	        .upstream_id = u->upstream_id,
	        .revision_id = u->revision_id,
	        .build_id = u->build_id,
	        .status = u->status,
	        .message = u->message};
	return tk_store_put(n->store, TK_TABLE_resolution, &row, NULL, err);
}

int tk_night_build(struct tk_night *n, struct tk_error *err)
{
	for (size_t i = 0; i < n->upstream_count; i++) {
		char what[200];
		snprintf(what, sizeof what, "%s %.12s", n->upstreams[i].config->name,
		        n->upstreams[i].rev);
		tk_night_announce_stage(n, "build", what);
		TRY(build_and_record(n, &n->upstreams[i], err));
	}
	return TK_OK;
}
