/* The file of a worker, and from the rings of one launch to spans on a common time axis. Nothing in
 * the file is trusted.
 *
 * Groups on one multiprocessor read the same clock, so their records are ordered to the cycle.
 * Multiprocessors are placed beside each other by the device's common clock, which is coarser. */
#include "profile/trace.h"

#include "base/base.h"
#include "stats/summary.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- the file ---- */

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

/* ---- a launch ---- */

#define ASYNC_MAX 8              /* of one region at a time */
#define CALIBRATION_GAPS 8       /* at most, of one ring */
#define CALIBRATION_GAP_MAX 4096 /* cycles: more is not the cost of a record */

struct ring_ref {
	const struct tk_trace_ring *ring;
	const struct tk_trace_record *records;
	uint32_t first, count; /* the oldest record; how many slots from there on are in use */
	bool has_lost;
	double offset_ns; /* of its begin on the common axis */
};

struct reader {
	const struct tk_trace_file_kernel *kernel;
	struct tk_trace_launch *out;
	struct ring_ref *refs;
	size_t cap, tile_cap;
	double *gaps; /* cycles between two records of the calibration, of each ring */
	size_t gap_count;
};

/* What one group does, and what goes on beside it. */
struct open_spans {
	bool is_open; /* the group is in a region */
	uint8_t does;
	double begin_ns;
	uint64_t record;
	struct {
		bool is_open;
		uint8_t token;
		double begin_ns;
	} async[TK_TRACE_REGIONS_MAX][ASYNC_MAX];
};

static int compare_rings(const void *a, const void *b)
{
	const struct tk_trace_ring *x = ((const struct ring_ref *)a)->ring,
	                           *y = ((const struct ring_ref *)b)->ring;
	if (x->multiprocessor != y->multiprocessor)
		return x->multiprocessor < y->multiprocessor ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

static bool is_made(const struct tk_trace_record *r)
{
	return r->clock || r->does || r->event;
}

/* A ring whose next slot is in use has come around. */
static struct ring_ref find_records(
        const struct tk_trace_ring *r, const struct tk_trace_record *records, uint32_t slots)
{
	uint32_t next = r->next & (slots - 1);
	bool stopped = r->next & TK_TRACE_IS_FULL,
	     has_wrapped = !stopped && is_made(&records[next]);
	return (struct ring_ref){.ring = r,
	        .records = records,
	        .first = has_wrapped ? next : 0,
	        .count = has_wrapped ? slots : next,
	        .has_lost = has_wrapped || stopped};
}

/* Those that ran and whose head can be true. */
static size_t find_rings(struct reader *rd, const char *from)
{
	const struct tk_trace_file_kernel *k = rd->kernel;
	size_t count = (size_t)k->blocks * k->groups, n = 0;
	const struct tk_trace_ring *rings = (const void *)from;
	const struct tk_trace_record *records = (const void *)(rings + count);
	for (size_t i = 0; i < count; i++) {
		const struct tk_trace_ring *r = &rings[i];
		if (r->begin_ns && r->end_ns >= r->begin_ns && r->group < k->groups)
			rd->refs[n++] = find_records(r, records + i * k->slots, k->slots);
	}
	tk_sort(rd->refs, n, sizeof *rd->refs, compare_rings);
	return n;
}

/* All rings together: one alone is too short for the ticks of the common clock. */
static double find_clock_mhz(const struct ring_ref *refs, size_t n)
{
	double cycles = 0, ns = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tk_trace_ring *r = refs[i].ring;
		cycles += (double)(uint32_t)(r->end_clock - r->begin_clock);
		ns += (double)(r->end_ns - r->begin_ns);
	}
	return ns > 0 ? cycles / ns * 1e3 : NAN;
}

/* The first ring of a multiprocessor stands where the common clock says; the others follow it by
 * the multiprocessor's clock. */
static void place_rings(struct ring_ref *refs, size_t n, double mhz)
{
	uint64_t first_ns = UINT64_MAX;
	size_t anchor = 0;
	for (size_t i = 0; i < n; i++)
		first_ns = refs[i].ring->begin_ns < first_ns ? refs[i].ring->begin_ns : first_ns;
	for (size_t i = 0; i < n; i++) {
		const struct tk_trace_ring *r = refs[i].ring;
		if (r->multiprocessor != refs[anchor].ring->multiprocessor)
			anchor = i;
		int32_t cycles = (int32_t)(r->begin_clock - refs[anchor].ring->begin_clock);
		refs[i].offset_ns =
		        (double)(refs[anchor].ring->begin_ns - first_ns) + cycles / mhz * 1e3;
	}
}

/* Records wait to be written together: the mean of a ring has the cost of both. */
static void add_gap(struct reader *rd, const struct ring_ref *ref)
{
	const struct tk_trace_record *r = ref->records;
	uint32_t last = 0;
	while (last < CALIBRATION_GAPS && last + 1 < ref->count &&
	        r[last + 1].does == TK_TRACE_CALIBRATION)
		last++;
	double cycles = (double)(uint32_t)(r[last].clock - r[0].clock);
	if (last && cycles < last * CALIBRATION_GAP_MAX)
		rd->gaps[rd->gap_count++] = cycles / last;
}

static void calibrate(struct reader *rd, size_t n)
{
	struct tk_summary s;
	rd->gaps = tk_calloc(n + 1, sizeof *rd->gaps);
	for (size_t i = 0; i < n; i++)
		add_gap(rd, &rd->refs[i]);
	if (rd->gap_count && !tk_summary_compute(rd->gaps, rd->gap_count, &s))
		rd->out->record_ns = s.median / rd->out->clock_mhz * 1e3;
}

/* Not one that outlasts its group: it cannot be true. */
static void add_span(struct reader *rd, struct tk_trace_span span)
{
	struct tk_trace_launch *l = rd->out;
	bool is_possible =
	        span.begin_ns <= span.end_ns && span.end_ns <= l->groups[span.ring].end_ns;
	if (!is_possible)
		return;
	if (l->span_count == rd->cap) {
		rd->cap = rd->cap ? rd->cap * 2 : 4096;
		l->spans = tk_reallocarray(l->spans, rd->cap, sizeof *l->spans);
	}
	span.own_ns = fmax(0, span.own_ns);
	l->spans[l->span_count++] = span;
}

static void end_tile(struct tk_trace_launch *l, uint32_t ring, double ns)
{
	if (l->tile_count && l->tiles[l->tile_count - 1].ring == ring)
		l->tiles[l->tile_count - 1].end_ns = ns;
}

static void add_tile(struct reader *rd, uint32_t ring, double ns)
{
	struct tk_trace_launch *l = rd->out;
	if (ns > l->groups[ring].end_ns)
		return;
	end_tile(l, ring, ns);
	if (l->tile_count == rd->tile_cap) {
		rd->tile_cap = rd->tile_cap ? rd->tile_cap * 2 : 256;
		l->tiles = tk_reallocarray(l->tiles, rd->tile_cap, sizeof *l->tiles);
	}
	l->tiles[l->tile_count++] = (struct tk_trace_tile){ring, ns, l->groups[ring].end_ns};
}

/* The last tile of a ring that was full did not end there. */
static void drop_cut_tile(struct tk_trace_launch *l, uint32_t ring)
{
	if (l->tile_count && l->tiles[l->tile_count - 1].ring == ring)
		l->tile_count--;
}

static void leave(
        struct reader *rd, struct open_spans *open, uint32_t ring, double ns, uint64_t record)
{
	double records = (double)(record - open->record);
	if (open->is_open)
		add_span(rd, (struct tk_trace_span){.ring = ring,
		                     .region = open->does,
		                     .begin_ns = open->begin_ns,
		                     .end_ns = ns,
		                     .own_ns = ns - open->begin_ns - records * rd->out->record_ns});
	open->is_open = false;
}

/* An end without its begin, which was overwritten, is dropped. */
static void change_async(struct reader *rd, struct open_spans *open, uint32_t ring,
        const struct tk_trace_record *r, double ns)
{
	bool begins = r->event == TK_TRACE_BEGIN_ASYNC;
	for (int i = 0; i < ASYNC_MAX; i++) {
		bool is_open = open->async[r->async][i].is_open;
		double begin_ns = open->async[r->async][i].begin_ns;
		if (begins == is_open || (is_open && open->async[r->async][i].token != r->token))
			continue;
		open->async[r->async][i].is_open = begins;
		open->async[r->async][i].token = r->token;
		open->async[r->async][i].begin_ns = ns;
		if (!begins)
			add_span(rd, (struct tk_trace_span){.ring = ring,
			                     .region = r->async,
			                     .is_async = true,
			                     .token = r->token,
			                     .begin_ns = begin_ns,
			                     .end_ns = ns,
			                     .own_ns = ns - begin_ns});
		return;
	}
}

static void take_record(struct reader *rd, struct open_spans *open, uint32_t ring,
        const struct tk_trace_record *r, double ns, uint64_t index)
{
	bool is_async = r->event == TK_TRACE_BEGIN_ASYNC || r->event == TK_TRACE_END_ASYNC;
	leave(rd, open, ring, ns, index);
	if (is_async && r->async < rd->kernel->regions)
		change_async(rd, open, ring, r, ns);
	if (r->event == TK_TRACE_BEGIN_TILE)
		add_tile(rd, ring, ns);
	open->is_open = r->does < rd->kernel->regions;
	open->does = r->does;
	open->begin_ns = ns;
	open->record = index;
}

static void read_ring(struct reader *rd, uint32_t index)
{
	const struct ring_ref *ref = &rd->refs[index];
	const struct tk_trace_ring *ring = ref->ring;
	uint32_t mask = rd->kernel->slots - 1, last = ring->begin_clock;
	double cycles = 0, mhz = rd->out->clock_mhz;
	double end_ns = ref->offset_ns +
	                (double)(uint32_t)(ring->end_clock - ring->begin_clock) / mhz * 1e3;
	struct open_spans open = {0};
	rd->out->groups[index] = (struct tk_trace_group){.block = ring->block,
	        .group = ring->group,
	        .multiprocessor = ring->multiprocessor,
	        .begin_ns = ref->offset_ns,
	        .end_ns = end_ns,
	        .has_lost = ref->has_lost};
	struct tk_trace_group *group = &rd->out->groups[index];
	for (uint32_t i = 0; i < ref->count; i++) {
		const struct tk_trace_record *r = &ref->records[(ref->first + i) & mask];
		if (!is_made(r))
			continue;
		cycles += (double)(uint32_t)(r->clock - last);
		last = r->clock;
		take_record(rd, &open, index, r, ref->offset_ns + cycles / mhz * 1e3,
		        group->recorded++);
	}
	/* what a full ring did not record is in no region */
	if (ring->next & TK_TRACE_IS_FULL)
		drop_cut_tile(rd->out, index);
	else
		leave(rd, &open, index, end_ns, group->recorded);
	rd->out->groups_with_loss += ref->has_lost;
	rd->out->duration_ns = fmax(rd->out->duration_ns, end_ns);
	rd->out->multiprocessors +=
	        index == 0 || rd->refs[index - 1].ring->multiprocessor != ring->multiprocessor;
}

static int read_rings(struct reader *rd, const char *rings, struct tk_error *err)
{
	struct tk_trace_launch *l = rd->out;
	l->group_count = find_rings(rd, rings);
	l->clock_mhz = find_clock_mhz(rd->refs, l->group_count);
	if (!(l->clock_mhz > 0))
		return tk_fail(err, TK_EDATA, "trace: %s has recorded nothing", rd->kernel->name);
	place_rings(rd->refs, l->group_count, l->clock_mhz);
	l->groups = tk_calloc(l->group_count, sizeof *l->groups);
	calibrate(rd, l->group_count);
	for (uint32_t i = 0; i < l->group_count; i++)
		read_ring(rd, i);
	return TK_OK;
}

int tk_trace_launch_read(const struct tk_trace *t, uint32_t kernel, uint32_t launch,
        struct tk_trace_launch *out, struct tk_error *err)
{
	const char *rings = t->rings + launch * t->launch_bytes;
	for (uint32_t i = 0; i < kernel; i++)
		rings += (size_t)t->kernels[i].blocks * t->kernels[i].groups *
		         tk_trace_ring_bytes(t->kernels[i].slots);
	struct reader rd = {.kernel = &t->kernels[kernel], .out = out};
	*out = (struct tk_trace_launch){0};
	rd.refs = tk_calloc((size_t)rd.kernel->blocks * rd.kernel->groups, sizeof *rd.refs);
	int status = read_rings(&rd, rings, err);
	free(rd.refs);
	free(rd.gaps);
	if (status)
		tk_trace_launch_free(out);
	return status;
}

void tk_trace_launch_free(struct tk_trace_launch *l)
{
	free(l->groups);
	free(l->spans);
	free(l->tiles);
	*l = (struct tk_trace_launch){0};
}
