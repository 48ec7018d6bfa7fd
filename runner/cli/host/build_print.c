/* The results of `tracker build`. */
#include "cli/host/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

static const struct tk_column columns[] = {
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(5)},
        {"STATUS", TK_COLUMN_LEFT},
        {"CACHED", TK_COLUMN_DROP(3)},
        {"SECONDS", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"KIB", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"BACKENDS", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {NULL, 0},
};

/* "cpu,nsa" and the beginnings of their code hashes. */
static void set_backends(struct tk_table *t, const struct tk_artifact *a)
{
	char names[512] = "", codes[512] = "";
	size_t n = 0, c = 0;

	for (size_t i = 0; i < a->backend_count && n < sizeof(names) - 80 && c < sizeof(codes) - 20;
	        i++) {
		n += (size_t)snprintf(
		        names + n, sizeof(names) - n, "%s%s", i ? "," : "", a->backends[i].name);
		c += (size_t)snprintf(codes + c, sizeof(codes) - c, "%s%.*s", i ? "," : "",
		        TK_BUILD_HASH_DIGITS, a->backends[i].code_hash);
	}
	tk_table_set_cell(t, "BACKENDS", "%s", names);
	tk_table_set_cell(t, "CODE", "%s", codes);
}

void tk_build_set_artifact(struct tk_table *t, const struct tk_artifact *a)
{
	tk_table_set_cell(t, "STATUS", "%s", tk_build_status_name(a->status));
	tk_table_set_color(t, "STATUS", a->status == TK_BUILD_OK ? "green" : "red");
	tk_table_set_cell(t, "SECONDS", "%.1f", a->wall_s);
	tk_table_set_cell(t, "KIB", "%lld", (long long)(a->size_bytes + 1023) / 1024);
	set_backends(t, a);
}

json_t *tk_build_artifact_json(const struct tk_artifact *a)
{
	json_t *backends = json_array();
	char built[TK_TIME_ISO_SIZE];

	for (size_t i = 0; i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		json_array_append_new(backends,
		        json_pack("{s:s,s:s,s:s,s:I}", "name", b->name, "path", b->path,
		                "code_hash", b->code_hash, "kernels", (json_int_t)b->kernel_count));
	}
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:I,s:s,s:o}", "key",
	        a->key, "upstream", a->upstream, "revision", a->revision, "status",
	        tk_build_status_name(a->status), "cached", a->cached, "message", a->message,
	        "adapter", a->adapter, "arch", a->arch, "flags", a->flags, "toolchain",
	        a->toolchain, "log", a->log_path, "wall_s", a->wall_s, "size_bytes",
	        (json_int_t)a->size_bytes, "built", tk_time_format_iso(a->built_s, built),
	        "backends", backends);
}

static json_t *result_json(const struct tk_build_result *r)
{
	json_t *o = r->artifact ? tk_build_artifact_json(r->artifact)
	                        : json_pack("{s:s,s:s,s:s}", "upstream", r->upstream->name,
	                                  "status", "error", "message", r->err.message);
	if (o && r->revision.id[0]) {
		json_object_set_new(o, "revision", json_string(r->revision.id));
		json_object_set_new(o, "subject", json_string(r->revision.subject));
		json_object_set_new(o, "position", json_integer(r->revision.position));
		json_object_set_new(o, "dirty", json_boolean(r->revision.dirty));
	}
	return o;
}

static void add_row(struct tk_table *t, const struct tk_build_result *r)
{
	tk_table_add_row(t);
	tk_table_set_cell(t, "UPSTREAM", "%s", r->upstream->name);
	tk_table_set_cell(t, "REVISION", "%.*s%s", TK_BUILD_HASH_DIGITS,
	        r->revision.id[0] ? r->revision.id : "-", r->revision.dirty ? " (dirty)" : "");
	tk_table_set_cell(t, "SUBJECT", "%s", r->revision.subject);
	if (r->artifact) {
		tk_build_set_artifact(t, r->artifact);
		tk_table_set_cell(t, "CACHED", "%s", r->artifact->cached ? "yes" : "no");
	} else {
		tk_table_set_cell(t, "STATUS", "error");
		tk_table_set_color(t, "STATUS", "red");
	}
}

int tk_build_print_results(const struct tk_globals *g, const struct tk_build_options *o,
        const struct tk_build_result *results, size_t count, struct tk_error *err)
{
	if (o->json) {
		json_t *list = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, result_json(&results[i]));
		if (json_array_size(list) == count)
			return tk_command_print_json(list, err);
		json_decref(list);
		return tk_fail(err, TK_EDATA, "a path or flag is not valid UTF-8");
	}
	struct tk_table *t = tk_table_new(g, columns);
	for (size_t i = 0; i < count; i++)
		add_row(t, &results[i]);
	const int status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

size_t tk_build_print_failures(const struct tk_build_result *results, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tk_build_result *r = &results[i];
		struct tk_error err = r->err;
		if (r->artifact && r->artifact->status == TK_BUILD_OK)
			continue;
		if (r->artifact)
			tk_fail(&err, TK_ECRASH, "%s at %.12s: %s (log: %s)", r->upstream->name,
			        r->revision.id, r->artifact->message, r->artifact->log_path);
		tk_command_fail("build", &err);
		failed++;
	}
	return failed;
}
