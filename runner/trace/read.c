/* The file of a worker: nothing in it is trusted. */
#include "trace/trace.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int check_kernel(const struct tk_trace_file_kernel *k, struct tk_error *err)
{
	bool is_power = k->slots && (k->slots & (k->slots - 1)) == 0;
	if (!k->groups || k->groups > TK_TRACE_GROUPS_MAX || k->regions > TK_TRACE_REGIONS_MAX ||
	        !k->blocks || k->blocks > TK_TRACE_BLOCKS_MAX || !is_power ||
	        k->slots > TK_TRACE_SLOTS_MAX)
		return tk_fail(err, TK_EDATA,
		        "trace: %u groups, %u regions, %u blocks or %u records are out of range",
		        k->groups, k->regions, k->blocks, k->slots);
	return TK_OK;
}

static void clean_text(char text[TK_TRACE_NAME_SIZE])
{
	char copy[TK_TRACE_NAME_SIZE];
	memcpy(copy, text, sizeof copy);
	copy[sizeof copy - 1] = 0;
	tk_text_copy_line(text, TK_TRACE_NAME_SIZE, copy);
}

/* They are printed, and written into JSON. */
static void clean_texts(struct tk_trace_file_kernel *k)
{
	clean_text(k->name);
	for (uint32_t i = 0; i < k->groups; i++)
		clean_text(k->group[i]);
	for (uint32_t i = 0; i < k->regions; i++)
		clean_text(k->region[i]);
}

static int copy_kernels(struct tk_trace *t, const struct tk_trace_file_head *head, const char *from,
        struct tk_error *err)
{
	size_t bytes = head->kernels * sizeof *t->kernels;
	if (head->kernels < 1 || head->kernels > TK_TRACE_KERNELS_MAX || head->launches < 1 ||
	        head->launches > TK_TRACE_LAUNCHES_MAX || sizeof *head + bytes > t->map_bytes)
		return tk_fail(err, TK_EDATA, "trace: %u kernels and %u launches in %zu bytes",
		        head->kernels, head->launches, t->map_bytes);
	t->kernels = tk_malloc(bytes);
	memcpy(t->kernels, from, bytes);
	t->rings = from + bytes;
	t->kernel_count = head->kernels;
	t->launch_count = head->launches;
	for (uint32_t i = 0; i < head->kernels; i++) {
		struct tk_trace_file_kernel *k = &t->kernels[i];
		TRY(check_kernel(k, err));
		clean_texts(k);
		t->launch_bytes += (size_t)k->blocks * k->groups * tk_trace_ring_bytes(k->slots);
	}
	return TK_OK;
}

static int parse(struct tk_trace *t, struct tk_error *err)
{
	struct tk_trace_file_head head;
	const char *from = t->map;
	if (t->map_bytes < sizeof head || memcmp(from, TK_TRACE_FILE_MAGIC, sizeof head.magic) != 0)
		return tk_fail(err, TK_EDATA, "trace: the worker has written none");
	memcpy(&head, from, sizeof head);
	TRY(copy_kernels(t, &head, from + sizeof head, err));
	size_t left = t->map_bytes - (size_t)(t->rings - from);
	if (t->launch_bytes > left / t->launch_count)
		return tk_fail(err, TK_EDATA,
		        "trace: %u launches of %zu bytes are more than the %zu bytes there",
		        t->launch_count, t->launch_bytes, left);
	return TK_OK;
}

int tk_trace_read(int fd, struct tk_trace *out, struct tk_error *err)
{
	struct stat st;
	*out = (struct tk_trace){0};
	if (fstat(fd, &st) != 0)
		return tk_fail_errno(err, "trace");
	if (st.st_size <= 0 || (uint64_t)st.st_size > TK_TRACE_FILE_MAX)
		return tk_fail(err, TK_EDATA, "trace: a file of %lld bytes", (long long)st.st_size);
	out->map_bytes = (size_t)st.st_size;
	out->map = mmap(NULL, out->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (out->map == MAP_FAILED) {
		out->map = NULL;
		return tk_fail_errno(err, "trace");
	}
	int status = parse(out, err);
	if (status)
		tk_trace_free(out);
	return status;
}

void tk_trace_free(struct tk_trace *t)
{
	if (t->map)
		munmap(t->map, t->map_bytes);
	free(t->kernels);
	*t = (struct tk_trace){0};
}
