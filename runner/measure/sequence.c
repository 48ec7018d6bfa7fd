/* Mode sequence: the measured kernel between the other kernels of a model's layer.
 *
 * The layer is launched again and again without idle gaps. Two events around the measured launch
 * take its time in some of the rounds. On a GPU, events add to the time of a short kernel, so the
 * same is done without the other kernels first: what exceeds the time of the device's default mode,
 * which has no events between launches, is the cost of the events, and is subtracted.
 * docs/explanation/measuring.md#within-a-model says what the figures mean. */
#include "base/base.h"
#include "measure/engine.h"
#include "stats/summary.h"
#include <math.h>

#define TIMED_MAX 64            /* launches of a sample that have events */
#define ROUNDS_MAX 2000         /* of a sample */
#define SAMPLE_NS 1e6           /* of a device without a power governor */
#define SETTLED_SAMPLE_NS 100e6 /* of one with: a good part of one swing of the settled governor */
#define COST_SAMPLES 11         /* without the other kernels */
#define COST_BURST_NS 1e6
#define EVENT_COST_MAX_NS 10e3 /* what is more is noise of long kernels */
#define CACHE_MULTIPLE 2       /* last-level caches that the inputs of a sequence must exceed */
#define SETS_MAX 16
#define MEMORY_SHARE 4 /* the other kernels' sets take at most 1/4 of the device's memory */

/* One of the other kernels. Each has tensors of its own: layers have weights of their own. */
struct neighbour {
	const struct tk_sequence_kernel *kernel;
	struct tk_plan *plan;
	struct tk_tensor (*sets)[TK_T_MAX];
	uint32_t tensor_count;
};

struct tk_engine_sequence {
	struct neighbour *neighbours; /* in the order of their launches */
	uint32_t count, position;     /* the measured launch comes before neighbours[position] */
	uint32_t set_count, next_set; /* of the neighbours */
	void *events[TIMED_MAX][2];
	uint32_t event_count;
	/* Of a sample, whose rounds are the engine's batch: the first that is timed, and from one
	 * timed one to the next. */
	uint64_t first, step;
	uint32_t timed;
	double event_cost_ns;
	double round_ns_sum;
	uint64_t samples;
};

/* ---- one sample ---- */

static int launch_neighbours(struct tk_engine *e, uint32_t from, uint32_t to)
{
	struct tk_engine_sequence *s = e->sequence;
	int status = TK_ABI_OK;
	e->call = "launch of a kernel of the sequence";
	for (uint32_t i = from; status == TK_ABI_OK && i < to; i++)
		status = s->neighbours[i].kernel->backend->launch(
		        s->neighbours[i].plan, e->stream, s->next_set, &e->abi);
	return status;
}

/* `events`: NULL, or the two that time the launch. */
static int launch_measured(struct tk_engine *e, void *const *events)
{
	int status = TK_ABI_OK;
	e->call = "event";
	if (events)
		status = e->ops->event_record(e->device, events[0], e->stream, &e->abi);
	if (status != TK_ABI_OK)
		return status;
	e->call = "launch";
	status = e->backend->launch(e->plan, e->stream, e->next_set, &e->abi);
	e->next_set = (e->next_set + 1) % e->active_set_count;
	if (status != TK_ABI_OK || !events)
		return status;
	e->call = "event";
	return e->ops->event_record(e->device, events[1], e->stream, &e->abi);
}

int tk_engine_enqueue_sequence(struct tk_engine *e)
{
	struct tk_engine_sequence *s = e->sequence;
	int status = TK_ABI_OK;
	for (uint64_t r = 0; status == TK_ABI_OK && r < e->batch; r++) {
		uint64_t n = r < s->first ? s->timed : (r - s->first) / s->step;
		bool is_timed = r >= s->first && (r - s->first) % s->step == 0 && n < s->timed;
		status = launch_neighbours(e, 0, s->position);
		if (status == TK_ABI_OK)
			status = launch_measured(e, is_timed ? s->events[n] : NULL);
		if (status == TK_ABI_OK)
			status = launch_neighbours(e, s->position, s->count);
		s->next_set = s->set_count ? (s->next_set + 1) % s->set_count : 0;
	}
	return status;
}

int tk_engine_read_sequence(struct tk_engine *e, double *ns)
{
	struct tk_engine_sequence *s = e->sequence;
	double sum = 0;
	for (uint32_t i = 0; i < s->timed; i++) {
		double one = 0;
		TRY(tk_engine_check_status(e,
		        e->ops->event_elapsed_ns(
		                e->device, s->events[i][0], s->events[i][1], &one, &e->abi),
		        "event"));
		sum += one;
	}
	s->round_ns_sum += *ns;
	s->samples++;
	*ns = fmax(sum / s->timed - s->event_cost_ns, 0);
	return 0;
}

static void set_rounds(struct tk_engine *e, double rounds)
{
	struct tk_engine_sequence *s = e->sequence;
	e->batch = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : (uint64_t)rounds;
	e->bursts = 1;
	s->first = e->batch > 1; /* the sample before has ended a moment ago */
	uint64_t rest = e->batch - s->first;
	s->timed = rest < TIMED_MAX ? (uint32_t)rest : TIMED_MAX;
	s->step = rest / s->timed;
	e->out->launches_per_sample = s->timed;
}

/* ---- the other kernels ---- */

static int make_tensor(
        struct tk_engine *e, struct neighbour *n, uint32_t set, uint32_t tensor, const void *host)
{
	struct tk_tensor *t = &n->sets[set][tensor];
	void *data = NULL;
	uint32_t offset = n->kernel->problem.abi.offset_bytes;
	TRY(tk_engine_check_status(e, e->ops->alloc(e->device, t->bytes + offset, &data, &e->abi),
	        "allocation for the sequence"));
	t->data = data = (char *)data + offset;
	return tk_engine_check_status(
	        e, e->ops->upload(e->device, data, host, t->bytes, &e->abi), "upload");
}

/* The same values in all sets, as for the measured problem; outputs begin as zeros. */
static int make_tensors(struct tk_engine *e, struct neighbour *n, uint32_t tensor)
{
	const struct tk_tensor *t = &n->sets[0][tensor];
	void *host = tk_calloc(1, t->bytes + 1);
	int status = t->output ? TK_OK
	                       : tk_inputs_fill(&n->kernel->problem, tensor, e->options->seed, host,
	                                 e->err);
	for (uint32_t set = 0; !status && set < e->sequence->set_count; set++)
		status = make_tensor(e, n, set, tensor, host);
	free(host);
	return status;
}

static int plan_neighbour(struct tk_engine *e, struct neighbour *n)
{
	const struct tk_backend *b = n->kernel->backend;
	struct tk_plan_info info = {.size = sizeof info};
	uint32_t sets = e->sequence->set_count;
	TRY(tk_engine_check_layout(e, b, &n->kernel->problem.abi));
	int status = b->plan(
	        n->kernel->ctx, &n->kernel->problem.abi, NULL, sets, &n->plan, &info, &e->abi);
	for (uint32_t set = 0; status == TK_ABI_OK && set < sets; set++)
		status = b->bind(n->plan, set, n->sets[set], n->tensor_count, &e->abi);
	/* the first launch loads and compiles */
	if (status == TK_ABI_OK)
		status = b->launch(n->plan, e->stream, 0, &e->abi);
	if (status == TK_ABI_OK)
		status = e->ops->synchronize(e->device, e->stream, &e->abi);
	return tk_engine_check_status(e, status, "kernel of the sequence");
}

static int list_tensors(struct tk_engine *e, struct neighbour *n, uint64_t *bytes)
{
	struct tk_tensor tensors[TK_T_MAX];
	TRY(tk_problem_list_tensors(&n->kernel->problem, tensors, &n->tensor_count, e->err));
	n->sets = tk_calloc(SETS_MAX, sizeof *n->sets);
	for (uint32_t set = 0; set < SETS_MAX; set++)
		memcpy(n->sets[set], tensors, sizeof tensors);
	for (uint32_t i = 0; i < n->tensor_count; i++)
		*bytes += tensors[i].bytes;
	return 0;
}

/* As many sets as keep the caches cold, as for the measured problem. */
static int count_sets(struct tk_engine *e, uint64_t bytes)
{
	uint64_t sets = bytes ? CACHE_MULTIPLE * e->info.cache_bytes / bytes + 1 : 1;
	uint64_t room = e->info.memory_bytes / MEMORY_SHARE;
	if (e->info.memory_bytes && bytes > room)
		return tk_engine_end_job(e, TK_OUTCOME_OUT_OF_MEMORY,
		        "the tensors of the sequence take %.1f GiB, more than a quarter of the "
		        "device's %.1f GiB",
		        (double)bytes / 0x1p30, (double)e->info.memory_bytes / 0x1p30);
	if (e->info.memory_bytes && bytes && sets > room / bytes)
		sets = room / bytes;
	e->sequence->set_count = sets < SETS_MAX ? (uint32_t)sets : SETS_MAX;
	return 0;
}

static int make_neighbours(struct tk_engine *e)
{
	struct tk_engine_sequence *s = e->sequence;
	const struct tk_sequence *q = e->options->sequence;
	uint64_t bytes = 0;
	s->neighbours = tk_calloc(q->count + 1, sizeof *s->neighbours);
	s->position = q->position;
	for (uint32_t i = 0; i < q->count; i++) {
		struct neighbour *n = &s->neighbours[s->count];
		if (i == q->position) /* it makes room for the measured one */
			continue;
		n->kernel = &q->kernels[i];
		s->count++;
		TRY(list_tensors(e, n, &bytes));
	}
	TRY(count_sets(e, bytes));
	for (uint32_t i = 0; i < s->count; i++) {
		struct neighbour *n = &s->neighbours[i];
		for (uint32_t t = 0; t < n->tensor_count; t++)
			TRY(make_tensors(e, n, t));
		TRY(plan_neighbour(e, n));
	}
	e->out->sequence.kernels = s->count;
	return 0;
}

static int make_events(struct tk_engine *e)
{
	struct tk_engine_sequence *s = e->sequence;
	void **events = &s->events[0][0];
	for (; s->event_count < 2 * TIMED_MAX; s->event_count++)
		TRY(tk_engine_check_status(e,
		        e->ops->event_new(e->device, &events[s->event_count], &e->abi), "event"));
	return 0;
}

static void free_neighbour(struct tk_engine *e, struct neighbour *n)
{
	if (n->plan)
		n->kernel->backend->unplan(n->plan);
	for (uint32_t set = 0; n->sets && set < SETS_MAX; set++)
		for (uint32_t i = 0; i < n->tensor_count; i++)
			if (n->sets[set][i].data)
				e->ops->release(
				        e->device, (char *)n->sets[set][i].data -
				                           n->kernel->problem.abi.offset_bytes);
	free(n->sets);
}

void tk_engine_free_sequence(struct tk_engine *e)
{
	struct tk_engine_sequence *s = e->sequence;
	if (!s)
		return;
	for (uint32_t i = 0; s->neighbours && i < s->count; i++)
		free_neighbour(e, &s->neighbours[i]);
	free(s->neighbours);
	while (s->event_count)
		e->ops->event_free(e->device, (&s->events[0][0])[--s->event_count]);
	free(s);
	e->sequence = NULL;
}

/* ---- alone ---- */

/* The samples of the default mode; the measurement starts again without them. */
static int measure_alone(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	struct tk_sequence_result *r = &m->sequence;
	TRY(tk_engine_collect_samples(e));
	tk_sort_values(m->samples, m->sample_count);
	r->alone_ns = tk_median(m->samples, m->sample_count);
	r->alone_mhz = m->clock_mhz;
	tk_median_interval(m->samples, m->sample_count, e->options->stop.confidence,
	        &r->alone_lo_ns, &r->alone_hi_ns);
	m->sample_count = m->throttled_samples = 0;
	e->is_sampled = false;
	e->mark.next_sample = 0;
	e->mark.is_set = false;
	tk_engine_free_graphs(e);
	e->stream = e->streams[0];
	return 0;
}

/* Where launches do the work before they return, events are readings of a clock. */
static int time_empty_events(struct tk_engine *e, double *ns)
{
	double cost[COST_SAMPLES];
	int status = TK_ABI_OK;
	for (int i = 0; status == TK_ABI_OK && i < COST_SAMPLES; i++) {
		void *const *events = e->sequence->events[i];
		status = e->ops->event_record(e->device, events[0], e->stream, &e->abi);
		if (status == TK_ABI_OK)
			status = e->ops->event_record(e->device, events[1], e->stream, &e->abi);
		if (status == TK_ABI_OK)
			status = e->ops->event_elapsed_ns(
			        e->device, events[0], events[1], &cost[i], &e->abi);
	}
	*ns = tk_median(cost, COST_SAMPLES);
	return tk_engine_check_status(e, status, "event");
}

/* Launches with events between them, in bursts with the idle gaps of the default mode. */
static int time_separated_launches(struct tk_engine *e, double *ns)
{
	double sample[COST_SAMPLES];
	set_rounds(e,
	        fmin(ceil(COST_BURST_NS / fmax(e->out->sequence.alone_ns, 1)) + 1, TIMED_MAX + 1));
	for (int i = -1; i < COST_SAMPLES; i++) { /* the first one is not used */
		TRY(tk_engine_wait_idle_gap(e));
		TRY(tk_engine_time_sample(e, &sample[i < 0 ? 0 : i]));
	}
	*ns = tk_median(sample, COST_SAMPLES);
	return 0;
}

static int measure_event_cost(struct tk_engine *e)
{
	bool is_queue = e->ops->block_stream != NULL;
	double ns = 0;
	TRY(is_queue ? time_separated_launches(e, &ns) : time_empty_events(e, &ns));
	ns -= is_queue ? e->out->sequence.alone_ns : 0;
	e->sequence->event_cost_ns = fmin(fmax(ns, 0), EVENT_COST_MAX_NS);
	e->out->sequence.event_cost_ns = e->sequence->event_cost_ns;
	e->idle_gap_ns = e->memory_load_ns = e->peak_mhz = 0;
	return 0;
}

/* ---- the mode ---- */

static int choose_rounds(struct tk_engine *e)
{
	struct tk_engine_sequence *s = e->sequence;
	double ns, target_ns = tk_engine_has_bursts(e) ? SETTLED_SAMPLE_NS : SAMPLE_NS;
	set_rounds(e, 2);
	TRY(tk_engine_time_sample(e, &ns)); /* the second one has warm code */
	s->round_ns_sum = 0;
	s->samples = 0;
	TRY(tk_engine_time_sample(e, &ns));
	set_rounds(e, ceil(target_ns / fmax(s->round_ns_sum, 1)) + 1);
	return 0;
}

int tk_engine_start_sequence(struct tk_engine *e, const struct tk_measure_options *options)
{
	TRY(measure_alone(e));
	e->sequence = tk_calloc(1, sizeof *e->sequence);
	TRY(make_events(e));
	TRY(measure_event_cost(e));
	e->options = options;
	TRY(make_neighbours(e));
	TRY(choose_rounds(e));
	TRY(tk_engine_settle(e));
	e->sequence->round_ns_sum = 0;
	e->sequence->samples = 0;
	return 0;
}

void tk_engine_summarize_sequence(struct tk_engine *e)
{
	struct tk_measurement *m = e->out;
	struct tk_sequence_result *r = &m->sequence;
	r->ratio = m->summary.median / r->alone_ns;
	r->ratio_lo = m->lo / r->alone_hi_ns;
	r->ratio_hi = m->hi / r->alone_lo_ns;
	r->round_ns = e->sequence->round_ns_sum / (double)e->sequence->samples;
}
