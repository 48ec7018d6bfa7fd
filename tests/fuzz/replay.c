/* Runs a fuzz target once for every file of a folder, so that the corpus is a test with any
 * compiler. An empty folder fails. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "fuzz.h"

#define INPUT_MAX ((size_t)16 << 20)

static int replay_file(const char *folder, const char *name, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	char *path = tk_path_join(folder, name);
	uint8_t *exact;
	int status = path ? tk_file_read(path, INPUT_MAX, &b, err)
	                  : tk_fail(err, TK_ENOMEM, "out of memory");

	if (!status) {
		exact = malloc(b.len ? b.len : 1); /* without the final NUL, so that a sanitizer
		                                      sees a read beyond the end */
		for (size_t i = 0; exact && i < b.len; i++)
			exact[i] = (uint8_t)b.data[i];
		if (exact)
			LLVMFuzzerTestOneInput(exact, b.len);
		free(exact);
	}
	tk_buf_free(&b);
	free(path);
	return status;
}

int main(int argc, char **argv)
{
	struct tk_error err = {0};
	char **names = NULL;
	size_t count = 0;
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	status = tk_dir_list(argv[1], &names, &count, &err);
	if (!status && !count)
		status = tk_fail(&err, TK_ENOTFOUND, "%s: no inputs", argv[1]);
	for (size_t i = 0; !status && i < count; i++) {
		fprintf(stderr, "%s\n", names[i]);
		status = replay_file(argv[1], names[i], &err);
	}
	tk_names_free(names, count);
	if (status)
		fprintf(stderr, "%s\n", err.message);
	return status ? 1 : 0;
}
