/* That a kernel computes what it is timed for: before anything is timed, and in the timed launches
 * themselves. */
#include "base/base.h"
#include "core/problem.h"
#include "element.h"
#include "measure/engine.h"
#include "measure/verify.h"
#include <math.h>
#include <pthread.h>
#include <sys/random.h>

/* ---- the first launches ---- */

/* The first launches, before anything is timed (lazy loading and just-in-time compilation happen
 * here), and the verification of their results.
 *
 * Verification takes the host about as long as the device needs to warm up. If bursts do not depend
 * on the host, because the stream is blocked until all of a burst is enqueued, the two run in
 * parallel. */

struct tk_engine_verification {
	struct tk_engine *e;
	uint32_t differing_set; /* first set whose outputs differ from the verified ones; 0: none */
	pthread_t thread;
	bool is_running;
	int status;
	struct tk_error err;
};

static double seconds_since(int64_t start_ns)
{
	return (double)(tk_clock_monotonic_ns() - start_ns) * 1e-9;
}

/* The result of tk_verify_outputs() as a step's result. */
static int check_result(struct tk_engine *e, int status, const struct tk_error *err)
{
	if (status == TK_EUNSUPPORTED)
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED, "%s", err->message);
	if (status)
		return tk_fail(e->err, err->status, "%s", err->message);
	if (e->out->verdict.passed)
		return 0;
	return tk_engine_end_job(e, TK_OUTCOME_WRONG, "%s", e->out->verdict.detail);
}

static int verify_fetched(struct tk_engine *e, struct tk_error *err)
{
	return tk_verify_outputs(e->problem, e->host, e->out->check_seed, &e->out->verdict, err);
}

static int verify_reference(struct tk_engine *e, uint32_t set)
{
	struct tk_error err = {0};
	TRY(tk_engine_fetch_outputs(e, set));
	return check_result(e, verify_fetched(e, &err), &err);
}

/* Inputs are equal: outputs with the same bits as the verified ones are right as well. */
static int verify_set(struct tk_engine *e, uint32_t set)
{
	bool same = false;
	int status = tk_engine_compare_outputs(e, set, &same);
	return status || same ? status : verify_reference(e, set);
}

/* On the first and the last set, to find a kernel that always uses the addresses of one of them. */
static int launch_first(struct tk_engine *e)
{
	uint32_t last = e->set_count - 1;
	TRY(tk_engine_poison_outputs(e, 0));
	if (last > 0)
		TRY(tk_engine_poison_outputs(e, last));
	TRY(tk_engine_launch(e, 0));
	if (last > 0)
		TRY(tk_engine_launch(e, last));
	TRY(tk_engine_synchronize(e));
	tk_engine_sample_memory(e);
	return 0;
}

static void *verify_thread(void *arg)
{
	struct tk_engine_verification *v = arg;
	v->status = verify_fetched(v->e, &v->err);
	return NULL;
}

static int verify_first_launches(struct tk_engine_verification *v)
{
	struct tk_engine *e = v->e;
	uint32_t last = e->set_count - 1;
	bool same = last == 0;
	TRY(tk_engine_fetch_outputs(e, 0));
	TRY(tk_engine_save_outputs(e, 0));
	if (last > 0)
		TRY(tk_engine_compare_outputs(e, last, &same));
	v->differing_set = same ? 0 : last;
	/* A second output needs the same host memory afterwards: a thread would gain nothing. */
	v->is_running = same && e->ops->block_stream &&
	                pthread_create(&v->thread, NULL, verify_thread, v) == 0;
	if (v->is_running)
		return 0;
	verify_thread(v);
	TRY(check_result(e, v->status, &v->err));
	return same ? 0 : verify_reference(e, v->differing_set);
}

int tk_engine_verify_start(struct tk_engine *e, struct tk_engine_verification **out)
{
	int status = launch_first(e);
	int64_t start = tk_clock_monotonic_ns();
	if (status || !e->options->verify)
		return status;
	struct tk_engine_verification *v = tk_calloc(1, sizeof *v);
	v->e = e;
	status = verify_first_launches(v);
	e->out->verify_s += seconds_since(start);
	*out = v;
	return status;
}

int tk_engine_verify_finish(struct tk_engine *e, struct tk_engine_verification *v)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = 0;
	if (v && v->is_running) {
		pthread_join(v->thread, NULL);
		status = check_result(e, v->status, &v->err);
		e->out->verify_s += seconds_since(start);
	}
	free(v);
	return status;
}

/* ---- timed launches ---- */

/* Checks that timed launches did their work, where a backend cannot know that they are coming.
 *
 * Verification before the samples and after them sees what a kernel leaves behind, not what the
 * timed launches did: one that computes each set once and then returns at once leaves right
 * results. So some outputs are overwritten between samples, at places and moments that nobody but
 * the engine knows, and must be right again after the sample; and between samples the signs of
 * random rows of an input change. docs/explanation/verification.md says what each of them finds.
 *
 * All of it happens outside of the timed part. Overwriting touches four cache lines of one set. */

#define MARK_BYTES TK_ENGINE_MARK_BYTES
#define UNWRITTEN_BYTES 16 /* of a mark: as many are not there by chance */
/* Results that differ from the verified ones are compared with the reference, which takes time:
 * often enough to find a wrong one, and no more for a kernel that is right each time. */
#define REFERENCE_CHECKS_MAX 2
/* A kernel that adds in no fixed order gives other bits each time. Those of launches that did not
 * do their work differ by more than this share of their size. */
#define REPEATS_WITHIN 0.02
#define OTHER_SETS 2      /* verified at the end, beside the one launched last */
#define CHANGE_DISTANCE 6 /* samples to the next change of an input, at first */
/* What the launches with a changed input may take: this share of the measuring time, or so long. */
#define CHANGED_INPUT_SHARE 0.05
#define CHANGED_INPUT_S 0.02
#define UPLOAD_BYTES_PER_S 1e9 /* about, with changing the signs */
/* Of outputs that are compared after it. */
#define PIECE_BYTES 4096
#define PIECES_MAX 64

static uint64_t draw(struct tk_engine *e, uint64_t n)
{
	return tk_splitmix64(e->random++) % n;
}

void tk_engine_seed_checks(struct tk_engine *e)
{
	uint64_t seed = e->options->check_seed;
	if (!seed && getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)(uintptr_t)&seed ^ e->options->seed; /* before the pool is ready */
	e->out->check_seed = (seed & ((UINT64_C(1) << 53) - 1)) | 1;  /* JSON keeps it */
	e->random = tk_splitmix64(e->out->check_seed);
}

/* The sets of the next burst are `first` and those that follow it. */
static uint32_t choose_set(struct tk_engine *e, uint32_t first)
{
	uint64_t count = e->batch < e->active_set_count ? e->batch : e->active_set_count;
	return (uint32_t)((first + draw(e, count)) % e->active_set_count);
}

static uint32_t next_first_set(const struct tk_engine *e)
{
	return e->graph_count ? e->graph_first_sets[e->next_graph] : e->next_set;
}

static uint32_t last_first_set(const struct tk_engine *e)
{
	if (e->graph_count)
		return e->graph_first_sets[(e->next_graph + e->graph_count - 1) % e->graph_count];
	uint64_t back = e->batch % e->active_set_count;
	return (uint32_t)((e->next_set + e->active_set_count - back) % e->active_set_count);
}

/* ---- marks in outputs ---- */

static const unsigned char *verified_bytes(const struct tk_engine *e)
{
	return (const unsigned char *)e->host[e->mark.tensor].data + e->mark.offset;
}

/* NULL: no output, or one that the kernel left untouched (the log-sum-exp is optional). */
static const struct tk_tensor *choose_output(struct tk_engine *e, uint32_t set)
{
	uint32_t first = (uint32_t)draw(e, e->tensor_count);
	for (uint32_t i = 0; i < e->tensor_count; i++) {
		uint32_t tensor = (first + i) % e->tensor_count;
		const struct tk_tensor *t = &e->host[tensor];
		if (!t->output || !t->bytes || tk_verify_is_untouched(t))
			continue;
		e->mark.tensor = tensor;
		return &e->sets[set][tensor];
	}
	return NULL;
}

/* Whole elements, of one row where rows are padded; a byte that is not what is there anyway. */
static void choose_place(struct tk_engine *e, const struct tk_tensor *t)
{
	struct tk_engine_mark *m = &e->mark;
	size_t pad = (size_t)e->problem->abi.row_padding, row = (size_t)t->dim[t->ndim - 1];
	size_t element = tk_dtype_bytes(t->dtype), all = t->bytes / element;
	size_t count = pad ? row - pad : all, first = pad ? draw(e, all / row) * row : 0;
	size_t most = MARK_BYTES / element, len = count < most ? count : most;
	m->offset = (first + draw(e, count - len + 1)) * element;
	m->bytes = len * element;
	m->value = (unsigned char)draw(e, 256);
	if (*verified_bytes(e) == m->value)
		m->value ^= 0x15;
}

int tk_engine_mark_output(struct tk_engine *e)
{
	struct tk_engine_mark *m = &e->mark;
	unsigned char bytes[MARK_BYTES];
	uint64_t n = e->out->sample_count;
	m->is_set = false;
	if (!e->options->verify || e->ops->now_ns || n < m->next_sample)
		return 0;
	m->next_sample = n + 1 + draw(e, n / 2 + 3);
	m->set = choose_set(e, next_first_set(e));
	const struct tk_tensor *t = choose_output(e, m->set);
	if (!t)
		return 0;
	choose_place(e, t);
	memset(bytes, m->value, m->bytes);
	m->is_set = true;
	return tk_engine_check_status(e,
	        e->ops->upload(e->device, (char *)t->data + m->offset, bytes, m->bytes, &e->abi),
	        "upload");
}

/* Ends the job if a piece still holds the mark. One element that has its value by chance is no
 * proof: results of one byte that differ in their last bit may. */
static int check_written(struct tk_engine *e, const unsigned char *got)
{
	const struct tk_engine_mark *m = &e->mark;
	const struct tk_tensor *t = &e->host[m->tensor];
	size_t piece = m->bytes < UNWRITTEN_BYTES ? m->bytes : UNWRITTEN_BYTES;
	unsigned char mark[UNWRITTEN_BYTES];
	memset(mark, m->value, sizeof mark);
	for (size_t at = 0; at + piece <= m->bytes; at += piece)
		if (memcmp(got + at, mark, piece) == 0 &&
		        memcmp(verified_bytes(e) + at, mark, piece) != 0) {
			e->out->verdict.passed = false;
			return tk_engine_end_job(e, TK_OUTCOME_WRONG,
			        "a timed launch did not write element %zu of %s (sample %llu, set "
			        "%u)",
			        (m->offset + at) / tk_dtype_bytes(t->dtype), t->name,
			        (unsigned long long)e->out->sample_count, m->set);
		}
	return 0;
}

/* How far results are from the verified ones, or from their negatives. */
struct distance {
	double difference, size; /* sums of squares */
};

static void add_distance(struct distance *d, uint32_t dtype, const void *got, const void *want,
        size_t bytes, double sign)
{
	for (size_t i = 0; i < bytes / tk_dtype_bytes(dtype); i++) {
		double x = tk_element_load(dtype, want, (int64_t)i);
		double error = tk_element_load(dtype, got, (int64_t)i) - sign * x;
		d->difference += error * error;
		d->size += x * x;
	}
}

/* Equal but for the order of additions. False for NaN. */
static bool is_close(const struct distance *d)
{
	return d->difference <= REPEATS_WITHIN * REPEATS_WITHIN * d->size;
}

static int check_reference(struct tk_engine *e, uint32_t set)
{
	if (e->reference_checks++ >= REFERENCE_CHECKS_MAX)
		return 0;
	return verify_reference(e, set);
}

int tk_engine_check_mark(struct tk_engine *e)
{
	const struct tk_engine_mark *m = &e->mark;
	unsigned char got[MARK_BYTES];
	if (!m->is_set)
		return 0;
	const char *at = (const char *)e->sets[m->set][m->tensor].data + m->offset;
	if (e->backend->fetch)
		TRY(tk_engine_finish_outputs(e, m->set));
	int status = tk_engine_check_status(
	        e, e->ops->download(e->device, got, at, m->bytes, &e->abi), "download");
	e->out->marks++;
	if (status || memcmp(got, verified_bytes(e), m->bytes) == 0)
		return status;
	TRY(check_written(e, got));
	struct distance d = {0};
	add_distance(&d, e->host[m->tensor].dtype, got, verified_bytes(e), m->bytes, 1);
	return is_close(&d) ? 0 : check_reference(e, m->set);
}

/* ---- after the samples ---- */

static int verify_last_sets(struct tk_engine *e)
{
	uint64_t count = e->batch < e->active_set_count ? e->batch : e->active_set_count;
	uint32_t first = last_first_set(e);
	TRY(verify_set(e, (uint32_t)((first + count - 1) % e->active_set_count)));
	for (int i = 0; i < OTHER_SETS && count > 1; i++) {
		uint32_t set = choose_set(e, first);
		bool same = false;
		TRY(tk_engine_compare_outputs(e, set, &same));
		if (!same)
			TRY(check_reference(e, set));
	}
	return 0;
}

/* The input that all outputs (but the log-sum-exp) are linear in: with the other sign they have the
 * other sign as well. Not B of gemm, which a backend may have repacked. -1: none. */
static int find_linear_input(const struct tk_problem_spec *p)
{
	if (p->dist == TK_DIST_ZEROS)
		return -1;
	switch (p->abi.op) {
	case TK_OP_GEMM:
		return TK_T_A;
	case TK_OP_ATTENTION:
		return p->attention.dir == TK_FWD ? TK_T_V : TK_T_DO;
	case TK_OP_NSA:
		return TK_T_V;
	case TK_OP_COPY:
	case TK_OP_READ:
		return TK_T_IN;
	default:
		return -1;
	}
}

/* What changes in one set: random rows of the input where each of them decides about as many rows
 * of the output, otherwise all of it. */
struct change {
	uint32_t set, tensor, output;
	size_t at, bytes;         /* of the input */
	size_t out_at, out_bytes; /* of the output; 0: all of every output */
};

#define CHANGED_ROWS_MAX 8

static void choose_rows(struct tk_engine *e, struct change *c)
{
	const struct tk_tensor *in = &e->host[c->tensor], *out = &e->host[c->output];
	bool has_rows = e->problem->abi.op == TK_OP_GEMM && !e->problem->gemm.ta;
	size_t rows =
	        !has_rows ? 1
	                  : in->bytes / tk_dtype_bytes(in->dtype) / (size_t)in->dim[in->ndim - 1];
	*c = (struct change){
	        .set = c->set, .tensor = c->tensor, .output = c->output, .bytes = in->bytes};
	if (rows < 2)
		return;
	size_t first = draw(e, rows),
	       most = rows - first < CHANGED_ROWS_MAX ? rows - first : CHANGED_ROWS_MAX,
	       count = 1 + draw(e, most);
	c->at = first * (in->bytes / rows);
	c->bytes = count * (in->bytes / rows);
	c->out_at = first * (out->bytes / rows);
	c->out_bytes = count * (out->bytes / rows);
}

/* The sign is the highest bit of every type; elements are little-endian. */
static void change_signs(struct tk_engine *e, const struct change *c)
{
	size_t element = tk_dtype_bytes(e->host[c->tensor].dtype);
	unsigned char *bytes = (unsigned char *)e->host[c->tensor].data + c->at;
	for (size_t i = element - 1; i < c->bytes; i += element)
		bytes[i] ^= 0x80;
}

static int upload_change(struct tk_engine *e, const struct change *c)
{
	char *to = (char *)e->sets[c->set][c->tensor].data + c->at;
	const char *from = (const char *)e->host[c->tensor].data + c->at;
	return tk_engine_check_status(
	        e, e->ops->upload(e->device, to, from, c->bytes, &e->abi), "upload");
}

static bool is_log_sum_exp(const struct tk_engine *e, uint32_t tensor)
{
	return e->problem->abi.op == TK_OP_ATTENTION && tensor == TK_T_LSE;
}

/* All of a small output, random pieces of a large one. */
static int add_output(struct tk_engine *e, uint32_t set, uint32_t tensor, struct distance *d)
{
	const struct tk_tensor *t = &e->host[tensor];
	double sign = is_log_sum_exp(e, tensor) ? 1 : -1;
	size_t pieces = (t->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
	bool all = pieces <= PIECES_MAX;
	unsigned char got[PIECE_BYTES];
	for (size_t n = 0; n < (all ? pieces : PIECES_MAX); n++) {
		size_t at = (all ? n : draw(e, pieces)) * PIECE_BYTES;
		size_t bytes = t->bytes - at < PIECE_BYTES ? t->bytes - at : PIECE_BYTES;
		const char *from = (const char *)e->sets[set][tensor].data + at;
		TRY(tk_engine_check_status(
		        e, e->ops->download(e->device, got, from, bytes, &e->abi), "download"));
		add_distance(d, t->dtype, got, (const char *)t->data + at, bytes, sign);
	}
	return 0;
}

static int compare_rows(struct tk_engine *e, const struct change *c, bool *same)
{
	const struct tk_tensor *t = &e->host[c->output];
	struct distance d = {0};
	void *got = tk_malloc(c->out_bytes);
	int status = tk_engine_check_status(e,
	        e->ops->download(e->device, got,
	                (const char *)e->sets[c->set][c->output].data + c->out_at, c->out_bytes,
	                &e->abi),
	        "download");
	if (!status)
		add_distance(
		        &d, t->dtype, got, (const char *)t->data + c->out_at, c->out_bytes, -1);
	free(got);
	*same = !status && is_close(&d);
	return status;
}

static int compare_negated(struct tk_engine *e, const struct change *c, bool *same)
{
	*same = true;
	if (c->out_bytes)
		return compare_rows(e, c, same);
	for (uint32_t i = 0; *same && i < e->tensor_count; i++) {
		struct distance d = {0};
		if (!e->host[i].output || tk_verify_is_untouched(&e->host[i]))
			continue;
		TRY(add_output(e, c->set, i, &d));
		*same = is_close(&d);
	}
	return 0;
}

/* The host's outputs are those of the unchanged input afterwards. */
static int verify_changed(struct tk_engine *e, const struct change *c)
{
	change_signs(e, c);
	int status = verify_reference(e, c->set);
	change_signs(e, c);
	if (!status)
		status = upload_change(e, c);
	if (!status)
		status = tk_engine_launch(e, c->set);
	return status ? status : tk_engine_fetch_outputs(e, c->set);
}

/* Long launches and large inputs are checked in some jobs only. */
static bool has_time_for_change(struct tk_engine *e, const struct change *c)
{
	double needed_s =
	        e->launch_ns * (double)e->batch * 1e-9 + 2 * (double)c->bytes / UPLOAD_BYTES_PER_S;
	double allowed_s = fmax(CHANGED_INPUT_SHARE * e->options->stop.budget_s, CHANGED_INPUT_S) -
	                   e->changes_s;
	return (double)draw(e, 1 << 20) * needed_s <= allowed_s * (1 << 20);
}

/* A burst that is not recorded, on an input that has never been there. */
static int launch_changed(struct tk_engine *e, const struct change *c)
{
	uint64_t bursts = e->bursts;
	double ns;
	change_signs(e, c);
	int status = upload_change(e, c);
	change_signs(e, c);
	e->bursts = 1;
	if (!status)
		status = tk_engine_wait_idle_gap(e);
	if (!status)
		status = tk_engine_time_sample(e, &ns);
	e->bursts = bursts;
	return status;
}

static int check_change(struct tk_engine *e, const struct change *c)
{
	bool same = false;
	TRY(launch_changed(e, c));
	TRY(tk_engine_finish_outputs(e, c->set));
	TRY(compare_negated(e, c, &same));
	return same ? upload_change(e, c) : verify_changed(e, c);
}

int tk_engine_check_changed_input(struct tk_engine *e)
{
	int tensor = find_linear_input(e->problem);
	uint64_t n = e->out->sample_count;
	if (!e->options->verify || e->options->token || tensor < 0 || n < e->next_change)
		return 0;
	e->next_change = n + 1 + draw(e, n + CHANGE_DISTANCE);
	struct change c = {.set = choose_set(e, next_first_set(e)),
	        .tensor = (uint32_t)tensor,
	        .output = e->problem->abi.op == TK_OP_GEMM ? TK_T_C : TK_T_OUT};
	choose_rows(e, &c);
	if (!has_time_for_change(e, &c))
		return 0;
	int64_t start = tk_clock_monotonic_ns();
	int status = check_change(e, &c);
	e->changes_s += seconds_since(start);
	return status;
}

int tk_engine_verify_timed(struct tk_engine *e)
{
	int64_t start = tk_clock_monotonic_ns();
	int status = verify_last_sets(e);
	e->next_change = 0; /* once more: the last one may have been long ago */
	if (!status)
		status = tk_engine_check_changed_input(e);
	e->out->verify_s += (double)(tk_clock_monotonic_ns() - start) * 1e-9;
	return status;
}
