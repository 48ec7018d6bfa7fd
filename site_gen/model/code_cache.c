/* Machine code of builds: one list per build; builds that are needed together are needed again
 * soon. */
#include "site_gen/model/code_cache.h"

#include "base/base.h"

struct tk_code_list {
	int64_t build_id;
	struct tk_rows rows;
};

static int load(
        struct tk_code_cache *codes, struct tk_store *store, int64_t build_id, struct tk_error *err)
{
	if (codes->count == codes->cap) {
		size_t cap = codes->cap ? codes->cap * 2 : 64;
		codes->lists = tk_realloc(codes->lists, cap * sizeof *codes->lists);
		codes->cap = cap;
	}
	struct tk_code_list *list = &codes->lists[codes->count];
	*list = (struct tk_code_list){.build_id = build_id};
	int status = tk_store_list(
	        store, TK_TABLE_kernel, "build_id=?1", TK_ARGS(build_id), &list->rows, err);
	codes->count += !status;
	return status;
}

static int order(const void *key, const void *row)
{
	const struct tk_kernel_row *a = key, *b = row;
	int d = strcmp(a->backend, b->backend);
	return d ? d : strcmp(a->name, b->name);
}

int tk_code_cache_list(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err)
{
	size_t tried = 0, i = codes->last;
	for (; tried < codes->count; tried++, i++) {
		i = i < codes->count ? i : 0;
		if (codes->lists[i].build_id == build_id)
			break;
	}
	int status = 0;
	if (tried == codes->count) {
		i = codes->count;
		status = load(codes, store, build_id, err);
	}
	if (status)
		return status;
	codes->last = i;
	*out = &codes->lists[i].rows;
	return 0;
}

int tk_code_cache_find(struct tk_code_cache *codes, struct tk_store *store, int64_t build_id,
        const char *backend, const char *name, const struct tk_kernel_row **out,
        struct tk_error *err)
{
	const struct tk_rows *rows;
	TRY(tk_code_cache_list(codes, store, build_id, &rows, err));
	struct tk_kernel_row key = {.backend = backend, .name = name};
	*out = rows->count ? bsearch(&key, rows->rows, rows->count, sizeof key, order) : NULL;
	return 0;
}

void tk_code_cache_free(struct tk_code_cache *codes)
{
	for (size_t i = 0; i < codes->count; i++)
		tk_rows_free(&codes->lists[i].rows);
	free(codes->lists);
	*codes = (struct tk_code_cache){0};
}
