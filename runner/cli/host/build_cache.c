/* The cache of builds: list, clean, import. */
#include "cli/host/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/signature.h"

static const struct tk_column list_columns[] = {
        {"KEY", TK_COLUMN_LEFT},
        {"UPSTREAM", TK_COLUMN_LEFT},
        {"REVISION", TK_COLUMN_LEFT},
        {"STATUS", TK_COLUMN_LEFT},
        {"BUILT", TK_COLUMN_DROP(5)},
        {"SECONDS", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3)},
        {"KIB", TK_COLUMN_RIGHT | TK_COLUMN_DROP(4)},
        {"BACKENDS", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"CODE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"TOOLCHAIN", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(1)},
        {NULL, 0},
};

static void list_row(struct tk_table *t, const char *key, const struct tk_artifact *a)
{
	char day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "KEY", "%.*s", TK_BUILD_HASH_DIGITS, key);
	if (!a) {
		tk_table_set_cell(t, "STATUS", "damaged");
		return;
	}
	tk_table_set_cell(t, "UPSTREAM", "%s", a->upstream);
	tk_table_set_cell(t, "REVISION", "%.*s", TK_BUILD_HASH_DIGITS, a->revision);
	tk_table_set_cell(t, "BUILT", "%s", tk_time_format_day(a->built_s, day));
	tk_table_set_cell(t, "TOOLCHAIN", "%s", a->toolchain);
	tk_build_set_artifact(t, a);
}

int tk_build_list_cache(const struct tk_globals *g, const struct tk_config *config,
        const struct tk_build_options *o, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0;
	struct tk_table *t = tk_table_new(g, list_columns);
	json_t *json = json_array();
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, err);

	for (size_t i = 0; !status && i < count; i++) {
		struct tk_artifact *a = NULL;
		const bool damaged = tk_artifact_load(config->cache_dir, keys[i], &a, NULL);
		if (!o->upstream || (!damaged && !strcmp(a->upstream, o->upstream))) {
			list_row(t, keys[i], a);
			json_array_append_new(json, damaged ? json_pack("{s:s,s:s}", "key", keys[i],
			                                              "status", "damaged")
			                                    : tk_build_artifact_json(a));
		}
		tk_artifact_free(a);
	}
	if (!status && !o->json && !json_array_size(json))
		printf("The cache has no build%s%s.\n", o->upstream ? " of " : "",
		        o->upstream ? o->upstream : "");
	else if (!status)
		status = o->json ? tk_command_print_json(json_incref(json), err)
		                 : tk_table_print(t, stdout, err);
	tk_names_free(keys, count);
	tk_table_free(t);
	json_decref(json);
	return status;
}

int tk_build_clean_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err)
{
	char **keys = NULL, **left = NULL;
	size_t count = 0, kept = 0, after = 0;
	int status = tk_artifact_list_keys(config->cache_dir, &keys, &count, err);
	const char **keep = tk_calloc(count + 1, sizeof(*keep));

	if (!status && !keep)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; !status && o->upstream && i < count; i++) {
		struct tk_artifact *a = NULL;
		if (!tk_artifact_load(config->cache_dir, keys[i], &a, NULL) &&
		        strcmp(a->upstream, o->upstream) != 0)
			keep[kept++] = keys[i];
		tk_artifact_free(a);
	}
	if (!status)
		status = tk_artifact_evict(config->cache_dir, 0, keep, kept, err);
	if (!status)
		status = tk_artifact_list_keys(config->cache_dir, &left, &after, err);
	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "removed", (json_int_t)(count - after)), err);
	else if (!status)
		printf("removed %zu build%s\n", count - after, count - after == 1 ? "" : "s");
	tk_names_free(keys, count);
	tk_names_free(left, after);
	free(keep);
	return status;
}

int tk_build_import_cache(
        const struct tk_config *config, const struct tk_build_options *o, struct tk_error *err)
{
	size_t imported = 0;
	int status = tk_signature_verify(config->signing.allowed_signers, o->import_file, err);

	if (!status)
		status = tk_artifact_import(
		        config->cache_dir, o->import_file, &imported, NULL, NULL, err);

	if (!status && o->json)
		status = tk_command_print_json(
		        json_pack("{s:I}", "imported", (json_int_t)imported), err);
	else if (!status)
		printf("imported %zu build%s\n", imported, imported == 1 ? "" : "s");
	return status;
}
