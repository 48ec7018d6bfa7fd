/* The file of the totals: a header, the number of nights of each total, then all nights, as they
 * are in memory. It belongs to the machine that wrote it; the series are those of the state file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "site_gen/data/totals.h"
#include "site_gen/render/output.h"

#define MAGIC "tktotal1"
#define FILE_BYTES_MAX ((size_t)256 << 20)

struct head {
	char magic[8];
	int64_t build;
	uint64_t totals, nights;
};

static uint64_t count_nights(const struct tk_totals *t)
{
	uint64_t count = 0;
	for (size_t i = 0; i < t->count; i++)
		count += t->at[i].count;
	return count;
}

int tk_totals_write(
        const struct tk_totals *t, struct tk_output *out, int64_t build, struct tk_error *err)
{
	struct head head = {.build = build, .totals = t->count, .nights = count_nights(t)};
	struct tk_buf file = TK_BUF_INIT;
	memcpy(head.magic, MAGIC, sizeof head.magic);
	tk_buf_add(&file, &head, sizeof head);
	for (size_t i = 0; i < t->count; i++) {
		uint64_t count = t->at[i].count;
		tk_buf_add(&file, &count, sizeof count);
	}
	for (size_t i = 0; i < t->count; i++)
		if (t->at[i].count)
			tk_buf_add(
			        &file, t->at[i].nights, t->at[i].count * sizeof *t->at[i].nights);
	int status = tk_output_put_new(out, TK_SITE_TOTALS, &file, err);
	tk_buf_free(&file);
	return status;
}

/* The sizes of the parts agree with that of the file. */
static bool is_whole(const struct tk_totals *t, const struct tk_buf *file, int64_t build)
{
	struct head head;
	uint64_t sum = 0;
	if (file->len < sizeof head + t->count * sizeof sum)
		return false;
	memcpy(&head, file->data, sizeof head);
	if (memcmp(head.magic, MAGIC, sizeof head.magic) || head.build != build ||
	        head.totals != t->count || head.nights > file->len)
		return false;
	for (size_t i = 0; i < t->count; i++) {
		uint64_t count;
		memcpy(&count, file->data + sizeof head + i * sizeof count, sizeof count);
		if (count > head.nights)
			return false;
		sum += count;
	}
	return sum == head.nights &&
	       file->len == sizeof head + t->count * sizeof sum +
	                            head.nights * sizeof(struct tk_total_night);
}

static bool fill(struct tk_totals *t, const struct tk_buf *file)
{
	const char *counts = file->data + sizeof(struct head),
	           *nights = counts + t->count * sizeof(uint64_t);
	for (size_t i = 0; i < t->count; i++) {
		struct tk_total *total = &t->at[i];
		uint64_t count;
		memcpy(&count, counts + i * sizeof count, sizeof count);
		size_t bytes = (size_t)count * sizeof *total->nights;
		free(total->nights);
		total->nights = tk_malloc(bytes + sizeof *total->nights);
		memcpy(total->nights, nights, bytes);
		nights += bytes;
		total->count = (size_t)count;
		total->room = (size_t)count + 1;
		total->last = count ? (size_t)count - 1 : 0;
	}
	return true;
}

bool tk_totals_read(struct tk_totals *t, const struct tk_output *out, int64_t build)
{
	struct tk_buf file = TK_BUF_INIT;
	bool done = !tk_output_read_old(out, TK_SITE_TOTALS, FILE_BYTES_MAX, &file, NULL) &&
	            is_whole(t, &file, build) && fill(t, &file);
	tk_buf_free(&file);
	if (!done)
		tk_totals_clear(t);
	return done;
}
