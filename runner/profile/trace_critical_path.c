/* The critical path of a block, or of one of its tiles: what its last moment waited for, from there
 * back to its begin.
 *
 * A group that works is followed back to when it began to. A group that waits, waited for what
 * ended last meanwhile: a product of its own, or the work of another group of the block, which is
 * then followed. The rest of the wait is its own: the latency of a copy, or another block. */
#include "profile/trace.h"

#include "base/base.h"

#include <math.h>

#define EPSILON_NS 1e-3
#define NEAREST_MAX 32 /* spans of other kinds in between */

struct block_group {
	uint32_t block;
	size_t group;
};

struct walk {
	const struct tk_trace_file_kernel *kernel;
	const struct tk_trace_launch *launch;
	size_t *first; /* span of each group; those of a group are in the order of their ends */
	size_t *first_tile;         /* of each group */
	struct block_group *groups; /* by block */
	size_t from, end;           /* those of this block */
	struct tk_trace_critical_path *out;
};

/* What a group does until a moment. region -1: in none. */
struct state {
	double begin_ns;
	int region;
	bool waits;
};

static const struct tk_trace_span *span_at(const struct walk *w, size_t i)
{
	return &w->launch->spans[i];
}

/* The first span of a group that ends after a moment, or the end of its spans. */
static size_t find_end_after(const struct walk *w, size_t group, double ns)
{
	const size_t first = w->first[group], count = w->first[group + 1] - first;

	return first + TK_FIND_FIRST(count, i, span_at(w, first + i)->end_ns <= ns);
}

static bool is_wait(const struct walk *w, const struct tk_trace_span *s)
{
	return w->kernel->kind[s->region] == TK_TRACE_WAIT;
}

/* The newest span of a group that ends by a moment: of products beside it, or of its own work. */
static const struct tk_trace_span *find_newest(
        const struct walk *w, size_t group, double ns, bool is_async, bool works)
{
	size_t i = find_end_after(w, group, ns + EPSILON_NS);
	for (int k = 0; k < NEAREST_MAX && i > w->first[group]; k++) {
		const struct tk_trace_span *s = span_at(w, --i);
		if (s->is_async == is_async && (!works || !is_wait(w, s)))
			return s;
	}
	return NULL;
}

static struct state find_state(const struct walk *w, size_t group, double ns)
{
	size_t i = find_end_after(w, group, ns - EPSILON_NS);
	for (int k = 0; k < NEAREST_MAX && i + (size_t)k < w->first[group + 1]; k++) {
		const struct tk_trace_span *s = span_at(w, i + (size_t)k);
		if (s->is_async)
			continue;
		if (s->begin_ns < ns - EPSILON_NS)
			return (struct state){s->begin_ns, s->region, is_wait(w, s)};
		break;
	}
	const struct tk_trace_span *before =
	        find_newest(w, group, ns - 2 * EPSILON_NS, false, false);
	return (struct state){
	        before ? before->end_ns : w->launch->groups[group].begin_ns, -1, true};
}

/* What ended last while the group waited, and in which group. NULL: nothing. */
static const struct tk_trace_span *find_cause(
        const struct walk *w, size_t group, double begin_ns, double ns, size_t *of)
{
	const struct tk_trace_span *cause = NULL;
	for (size_t i = w->from; i < w->end; i++) {
		size_t other = w->groups[i].group;
		const struct tk_trace_span *s = find_newest(w, other, ns, other == group, true);
		if (!s || s->end_ns <= begin_ns + EPSILON_NS ||
		        (cause && s->end_ns <= cause->end_ns))
			continue;
		cause = s;
		*of = other;
	}
	return cause;
}

static void add(struct tk_trace_path *out, int region, double ns)
{
	if (region < 0)
		out->other_ns += fmax(0, ns);
	else
		out->region_ns[region] += fmax(0, ns);
}

/* Whether a product of the group was going on already. */
static bool is_beside_product(const struct walk *w, size_t group, double ns)
{
	size_t i = find_end_after(w, group, ns + EPSILON_NS);
	for (int k = 0; k < NEAREST_MAX && i + (size_t)k < w->first[group + 1]; k++) {
		const struct tk_trace_span *s = span_at(w, i + (size_t)k);
		if (s->is_async && s->begin_ns < ns - EPSILON_NS)
			return true;
	}
	return false;
}

/* The record that begins a region at a moment. -1: a wait that nothing ended, which is as long
 * without it. */
static void add_record(
        const struct walk *w, struct tk_trace_path *out, size_t group, int region, double ns)
{
	if (region < 0 || is_beside_product(w, group, ns))
		return;
	out->region_records[region] += 1;
	out->records += 1;
}

/* From a moment of a group back to another moment. */
static void walk_back(const struct walk *w, size_t group, double now_ns, double begin_ns,
        struct tk_trace_path *out)
{
	out->duration_ns += now_ns - begin_ns;
	while (now_ns > begin_ns + EPSILON_NS) {
		struct state s = find_state(w, group, now_ns);
		size_t of = group;
		const struct tk_trace_span *cause =
		        s.waits ? find_cause(w, group, s.begin_ns, now_ns, &of) : NULL;
		double to_ns = fmax(fmin(now_ns, cause ? cause->end_ns : s.begin_ns), begin_ns);
		add(out, s.region, now_ns - to_ns);
		if (cause && cause->end_ns > begin_ns) {
			group = of;
			double from_ns = fmax(cause->begin_ns, begin_ns);
			add(out, cause->region, to_ns - from_ns);
			to_ns = from_ns;
		}
		if (!(to_ns < now_ns - EPSILON_NS / 2)) /* no progress: the group had not begun */
			break;
		add_record(w, out, group, cause ? cause->region : s.waits ? -1 : s.region, to_ns);
		now_ns = to_ns;
	}
	add(out, -1, now_ns - begin_ns);
}

static void walk_block(struct walk *w)
{
	size_t last = w->groups[w->from].group;
	double begin_ns = w->launch->groups[last].begin_ns;
	for (size_t i = w->from; i < w->end; i++) {
		const struct tk_trace_group *g = &w->launch->groups[w->groups[i].group];
		begin_ns = fmin(begin_ns, g->begin_ns);
		if (g->end_ns > w->launch->groups[last].end_ns)
			last = w->groups[i].group;
	}
	walk_back(w, last, w->launch->groups[last].end_ns, begin_ns, &w->out->block);
}

/* All groups that mark tiles take part in each tile of a block. false: there is no such tile. */
static bool walk_tile(struct walk *w, size_t ordinal)
{
	const struct tk_trace_tile *last = NULL;
	double begin_ns = INFINITY;
	for (size_t i = w->from; i < w->end; i++) {
		size_t group = w->groups[i].group, at = w->first_tile[group] + ordinal;
		if (at >= w->first_tile[group + 1])
			continue;
		const struct tk_trace_tile *t = &w->launch->tiles[at];
		begin_ns = fmin(begin_ns, t->begin_ns);
		if (!last || t->end_ns > last->end_ns)
			last = t;
	}
	if (!last)
		return false;
	double ns = last->end_ns - begin_ns;
	struct tk_trace_critical_path *out = w->out;
	walk_back(w, last->ring, last->end_ns, begin_ns, &out->tile);
	out->shortest_tile_ns = out->tiles ? fmin(out->shortest_tile_ns, ns) : ns;
	out->longest_tile_ns = fmax(out->longest_tile_ns, ns);
	out->tiles++;
	return true;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block_group *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static void index_groups(struct walk *w)
{
	const struct tk_trace_launch *l = w->launch;
	size_t span = 0, tile = 0;
	for (size_t i = 0; i < l->group_count; i++) {
		w->groups[i] = (struct block_group){l->groups[i].block, i};
		w->first[i] = span;
		w->first_tile[i] = tile;
		while (span < l->span_count && l->spans[span].ring == i)
			span++;
		while (tile < l->tile_count && l->tiles[tile].ring == i)
			tile++;
	}
	w->first[l->group_count] = span;
	w->first_tile[l->group_count] = tile;
	tk_sort(w->groups, l->group_count, sizeof *w->groups, compare_blocks);
}

static void divide(struct tk_trace_path *p, size_t regions, double by)
{
	for (size_t i = 0; by > 0 && i < regions; i++) {
		p->region_ns[i] /= by;
		p->region_records[i] /= by;
	}
	p->other_ns /= fmax(by, 1);
	p->duration_ns /= fmax(by, 1);
	p->records /= fmax(by, 1);
}

static void walk_blocks(struct walk *w)
{
	double blocks = 0;
	for (size_t i = 0; i < w->launch->group_count; i = w->end, blocks++) {
		w->from = i;
		w->end = i + 1;
		while (w->end < w->launch->group_count &&
		        w->groups[w->end].block == w->groups[i].block)
			w->end++;
		walk_block(w);
		for (size_t tile = 0; walk_tile(w, tile); tile++)
			;
	}
	divide(&w->out->block, w->kernel->regions, blocks);
	divide(&w->out->tile, w->kernel->regions, w->out->tiles);
}

void tk_trace_find_critical_path(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, struct tk_trace_critical_path *out)
{
	struct walk w = {.kernel = kernel,
	        .launch = l,
	        .first = tk_calloc(l->group_count + 1, sizeof(size_t)),
	        .first_tile = tk_calloc(l->group_count + 1, sizeof(size_t)),
	        .groups = tk_calloc(l->group_count + 1, sizeof(struct block_group)),
	        .out = out};
	*out = (struct tk_trace_critical_path){0};
	index_groups(&w);
	walk_blocks(&w);
	free(w.first);
	free(w.first_tile);
	free(w.groups);
}
