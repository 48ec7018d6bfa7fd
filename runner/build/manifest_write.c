/* Writing manifest.json. */
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/try.h"
#include "build/manifest.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *kernels_json(const struct tk_artifact_backend *b)
{
	json_t *list = json_array();
	for (size_t i = 0; i < b->kernel_count; i++) {
		const struct tk_kernel_symbol *k = &b->kernels[i];
		char name[sizeof(k->name)];
		tk_text_copy_line(name, sizeof(name), k->name);
		json_array_append_new(list,
		        json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:s}", "name", name,
		                "code_hash", k->code_hash, "size_bytes", (json_int_t)k->size_bytes,
		                "registers", (json_int_t)k->registers, "spill_bytes",
		                (json_int_t)k->spill_bytes, "shared_bytes",
		                (json_int_t)k->shared_bytes, "threads", (json_int_t)k->threads,
		                "occupancy_percent", (json_int_t)k->occupancy_percent,
		                "instructions", k->instructions));
	}
	return list;
}

static int backends_json(
        const struct tk_artifact *a, const char *dir, json_t **out, struct tk_error *err)
{
	json_t *list = json_array();
	int status = TK_OK;
	for (size_t i = 0; !status && i < a->backend_count; i++) {
		const struct tk_artifact_backend *b = &a->backends[i];
		char file_hash[TK_HASH_HEX_SIZE];
		char *path = tk_backend_path(dir, b->name);
		status = tk_backend_file_hash(path, file_hash, err);
		if (!status)
			json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:o}", "name", b->name,
			                                    "code_hash", b->code_hash, "file_hash",
			                                    file_hash, "kernels", kernels_json(b)));
		free(path);
	}
	if (status)
		json_decref(list);
	else
		*out = list;
	return status;
}

/* Omitted if the commit is unknown. */
static int put_commit(json_t *root, const struct tk_revision *r)
{
	if (!*r->id)
		return 0;
	return json_object_set_new(root, "commit",
	        json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:s}", "id", r->id, "parent", r->parent,
	                "author_time_s", (json_int_t)r->author_time_s, "commit_time_s",
	                (json_int_t)r->commit_time_s, "position", (json_int_t)r->position, "author",
	                r->author, "subject", r->subject));
}

int tk_manifest_write(const struct tk_artifact *a, const char *dir, struct tk_error *err)
{
	json_t *backends = NULL;
	int status = backends_json(a, dir, &backends, err);
	if (status)
		return status;
	json_auto_t *root = json_pack("{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:I,s:I,s:o}",
	        "format", TK_MANIFEST_FORMAT, "key", a->key, "upstream", a->upstream, "revision",
	        a->revision, "adapter", a->adapter, "arch", a->arch, "flags", a->flags, "toolchain",
	        a->toolchain, "status", tk_build_status_name(a->status), "message", a->message,
	        "wall_s", a->wall_s, "size_bytes", (json_int_t)a->size_bytes, "built_s",
	        (json_int_t)a->built_s, "backends", backends);
	char *text =
	        root && !put_commit(root, &a->commit) ? json_dumps(root, JSON_INDENT(1)) : NULL;
	AUTO_TEXT path = tk_path_join(dir, "manifest.json");
	if (!text || !path)
		status = tk_fail(err, root ? TK_ENOMEM : TK_EDATA,
		        "the manifest of %s cannot be written as JSON", a->key);
	else
		status = tk_file_write(path, text, strlen(text), err);
	free(text);
	return status;
}
