/* Any bytes as a file of the format TK_FUZZ_FORMAT: taken as a whole, or refused with the file's
 * name and nothing of it left behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "fuzz.h"
#include "sqlite_pool.h"
#include "store/db/internal.h"

static char dir[] = "/dev/shm/tracker-fuzz-XXXXXX", file[64];
static struct tk_store *store;

static void clean_up(void)
{
	tk_store_close(store);
	tk_dir_remove(dir, NULL);
}

static void set_up(void)
{
	struct tk_error err = {0};

	if (!mkdtemp(dir))
		abort();
	snprintf(file, sizeof file, "%s/f", dir);
	tk_fuzz_pool_sqlite();
	if (tk_db_open_temporary(&store, &err))
		abort();
	atexit(clean_up);
}

static size_t count_nights(void)
{
	struct tk_error err = {0};
	struct tk_rows nights;

	if (tk_store_list(store, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, &err))
		abort();
	size_t count = nights.count;

	tk_rows_free(&nights);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const paths[] = {file};
	/* The copy is taken back: the history is empty again for the next input. */
	struct tk_import_request request = {.format = TK_FUZZ_FORMAT,
	        .paths = paths,
	        .path_count = 1,
	        .at_s = 1,
	        .allow_unknown_units = true,
	        .dry_run = true};
	struct tk_import_counts counts = {0};
	struct tk_error err = {0};

	if (!store)
		set_up();
	if (tk_file_write_nosync(file, data, size, &err))
		abort();
	if (tk_store_import(store, &request, &counts, &err) &&
	        (!*err.message || err.status == TK_EINTERNAL))
		abort();
	if (count_nights() != 0)
		abort();
	/* As a program would, without a word on what it is: the guess is little beside the import,
	 * some inputs do. */
	request.format = NULL;
	tk_import_counts_free(&counts);
	if (!size || data[size - 1] % 8 == 0)
		tk_store_import(store, &request, &counts, &err);
	tk_import_counts_free(&counts);
	return 0;
}
