/* Runs a fuzz target once for every file of a folder, so that the corpus is a test with any
 * compiler: fuzz_replay TARGET FOLDER. An empty folder fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"
#include "targets.h"

#define INPUT_MAX ((size_t)16 << 20)

static int replay_file(int (*run)(const uint8_t *, size_t), const char *folder, const char *name,
        struct tk_error *err)
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
			run(exact, b.len);
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

	size_t at = 0, target_count = sizeof(targets) / sizeof(*targets);
	while (argc == 3 && at < target_count && strcmp(targets[at].name, argv[1]))
		at++;
	if (argc != 3 || at == target_count) {
		fprintf(stderr, "usage: %s TARGET FOLDER\n", argv[0]);
		return 2;
	}
	status = tk_dir_list(argv[2], &names, &count, &err);
	if (!status && !count)
		status = tk_fail(&err, TK_ENOTFOUND, "%s: no inputs", argv[2]);
	for (size_t i = 0; !status && i < count; i++) {
		fprintf(stderr, "%s\n", names[i]);
		status = replay_file(targets[at].run, argv[2], names[i], &err);
	}
	tk_names_free(names, count);
	if (status)
		fprintf(stderr, "%s\n", err.message);
	return status ? 1 : 0;
}
