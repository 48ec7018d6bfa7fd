/* How many processes of a build run at once: as many as fit into the free memory. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/try.h"
#include "build/build_internal.h"
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX 4096

/* 0: unknown. */
static uint64_t read_free_mib(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib >> 10;
}

static int read_memory_per_job(const char *path, unsigned long *mib, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read(path, TEXT_MAX, &text, err));
	if ((sscanf(tk_buf_cstr(&text), "%9lu", mib) != 1 || !*mib))
		return tk_fail(err, TK_ECONFIG, "%s: expected a number of MiB above 0", path);
	return TK_OK;
}

int tk_build_jobs_limit(const struct tk_build_spec *spec, unsigned *out, struct tk_error *err)
{
	unsigned long mib = 0;
	AUTO_TEXT path = tk_path_join(spec->adapter_dir, "memory_per_job");
	*out = spec->jobs ? spec->jobs : 1;
	if (tk_file_exists(path))
		TRY(read_memory_per_job(path, &mib, err));
	if (mib) {
		const uint64_t free_mib = read_free_mib(), fit = free_mib / mib;
		if (free_mib && fit < *out)
			*out = fit ? (unsigned)fit : 1;
	}
	return TK_OK;
}
