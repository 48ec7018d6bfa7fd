/* A backend that pretends: f32 GEMM on the CPU, right whenever it works, with one way of not doing
 * the work that it is timed for. The tricks are those known from benchmarks of generated kernels
 * (KernelBench, Sakana's AI CUDA Engineer, GPU MODE's competitions), and those of a process that a
 * backend shares with its judge. Honest mistakes (a flag that is never reset, a cache with
 * the wrong key) look the same.
 *
 * cheat=NAME,first=FILE: the first process, which writes its number into the file, is honest.
 *
 *   tracker run ./tk_backend_hostile.so gemm:m=64,n=64,k=64 --options=cheat=known_pointers */
#include "hostile.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct tk_backend_ctx {
	const struct cheat *cheat;
};

static int fail(struct tk_abi_error *err, int status, const char *message)
{
	snprintf(err->message, sizeof err->message, "%s", message);
	return status;
}

double hostile_now_ns(clockid_t clock)
{
	struct timespec t;
	syscall(SYS_clock_gettime, clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- working ---- */

static void multiply_rows(const struct tk_gemm *g, const struct bound *t, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++) {
		float *c = t->c + i * g->n;
		memset(c, 0, (size_t)g->n * sizeof *c);
		for (int64_t l = 0; l < g->k; l++)
			for (int64_t j = 0; j < g->n; j++)
				c[j] += t->a[i * g->k + l] * t->b[l * g->n + j];
	}
}

void hostile_multiply(const struct tk_plan *plan, const struct bound *t)
{
	multiply_rows(plan->gemm, t, 0, plan->gemm->m);
}

static size_t a_bytes(const struct tk_plan *plan)
{
	return (size_t)(plan->gemm->m * plan->gemm->k) * sizeof(float);
}

size_t hostile_c_bytes(const struct tk_plan *plan)
{
	return (size_t)(plan->gemm->m * plan->gemm->n) * sizeof(float);
}

void hostile_work_and_remember(const struct tk_plan *plan, struct bound *t)
{
	hostile_multiply(plan, t);
	t->result = t->result ? t->result : malloc(hostile_c_bytes(plan));
	t->seen = t->seen ? t->seen : malloc(a_bytes(plan));
	memcpy(t->result, t->c, hostile_c_bytes(plan));
	memcpy(t->seen, t->a, a_bytes(plan));
	t->is_known = 1;
}

static void replay(const struct tk_plan *plan, struct bound *t)
{
	memcpy(t->c, t->result, hostile_c_bytes(plan));
}

/* ---- results that are not computed again ---- */

static void skip_if(struct tk_plan *plan, struct bound *t, int is_skipped)
{
	if (!is_skipped)
		hostile_multiply(plan, t);
	t->is_known = 1;
}

/* The tracker fills outputs with NaN before the first launch. */
static void launch_not_nan(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	skip_if(plan, t, !isnan(t->c[0]));
}

static void launch_known_pointers(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	skip_if(plan, t, t->is_known);
}

static void launch_first_and_last(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	skip_if(plan, t, set != 0 && set != plan->sets - 1);
}

static void launch_stops_after(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	skip_if(plan, t, plan->launches > SOME_LAUNCHES);
}

static void launch_skips_tenth(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	skip_if(plan, t, plan->launches > SOME_LAUNCHES && plan->launches % 10 == 0);
}

static void launch_after_pause(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	static double last_ns;
	double ns = hostile_now_ns(CLOCK_MONOTONIC);
	skip_if(plan, t, t->is_known && ns - last_ns < 20e3);
	last_ns = hostile_now_ns(CLOCK_MONOTONIC);
}

static void launch_half(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	multiply_rows(plan->gemm, t, 0, t->is_known ? plan->gemm->m / 2 : plan->gemm->m);
	t->is_known = 1;
}

static void launch_remembers(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	if (t->is_known)
		replay(plan, t);
	else
		hostile_work_and_remember(plan, t);
}

static void launch_two_elements(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	int64_t last = plan->gemm->m * plan->gemm->k - 1;
	if (t->is_known && t->a[0] == t->seen[0] && t->a[last] == t->seen[last])
		replay(plan, t);
	else
		hostile_work_and_remember(plan, t);
}

/* As long as the work takes twice as fast. */
static void launch_waits(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	double start = hostile_now_ns(CLOCK_MONOTONIC),
	       ns = (double)(plan->gemm->m * plan->gemm->n * plan->gemm->k) / 20;
	launch_two_elements(plan, t, set);
	while (hostile_now_ns(CLOCK_MONOTONIC) - start < ns)
		;
}

static void launch_sleeps(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	launch_two_elements(plan, t, set);
	if (plan->launches % 16 == 0)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0,
		        &(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Only rows of A that have changed. */
static void launch_incremental(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	const struct tk_gemm *g = plan->gemm;
	if (!t->is_known) {
		hostile_work_and_remember(plan, t);
		return;
	}
	for (int64_t i = 0; i < g->m; i++) {
		size_t row = (size_t)g->k * sizeof(float);
		if (memcmp(t->a + i * g->k, t->seen + i * g->k, row) == 0)
			continue;
		multiply_rows(g, t, i, i + 1);
		memcpy(t->seen + i * g->k, t->a + i * g->k, row);
		memcpy(t->result + i * g->n, t->c + i * g->n, (size_t)g->n * sizeof(float));
	}
	replay(plan, t);
}

void hostile_launch_first_plan(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	if (plan->number == 1)
		launch_two_elements(plan, t, set);
	else
		hostile_multiply(plan, t);
}

/* ---- wrong work ---- */

static void launch_wrong(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	hostile_multiply(plan, t);
	t->c[0] += 100;
}

static void launch_six_times(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	for (int i = 0; i < 6; i++)
		hostile_multiply(plan, t);
}

/* A as bf16 has it. */
static void launch_downgrade(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	struct bound rounded = *t;
	uint32_t *bits = malloc(a_bytes(plan));
	memcpy(bits, t->a, a_bytes(plan));
	for (size_t i = 0; i < a_bytes(plan) / sizeof *bits; i++)
		bits[i] &= 0xffff0000u;
	rounded.a = (const float *)bits;
	hostile_multiply(plan, &rounded);
	free(bits);
}

/* ---- work that is not in the time ---- */

static _Atomic(struct tk_plan *) late_plan;
static atomic_int late_busy;

static int work_pending(struct tk_plan *plan)
{
	int worked = 0;
	for (uint32_t i = 0; plan && i < plan->sets; i++)
		if (atomic_exchange(&plan->bound[i].is_pending, 0)) {
			hostile_multiply(plan, &plan->bound[i]);
			worked = 1;
		}
	return worked;
}

static void *work_later(void *ignored)
{
	for (;; usleep(100)) {
		late_busy = 1;
		while (work_pending(late_plan))
			;
		late_busy = 0;
	}
	return NULL;
}

void hostile_start_thread(void *(*function)(void *))
{
	pthread_t thread;
	static atomic_int is_started;
	if (!atomic_exchange(&is_started, 1))
		pthread_create(&thread, NULL, function, NULL);
}

/* On "another stream"; the fetch of the second module waits for it. */
static void launch_late(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	late_plan = plan;
	hostile_start_thread(work_later);
	t->is_pending = 1;
}

static void await_late(void)
{
	int pending = 1;
	while (late_plan && pending) {
		pending = late_busy;
		for (uint32_t i = 0; i < late_plan->sets; i++)
			pending |= late_plan->bound[i].is_pending;
		usleep(20);
	}
}

/* The output can be read only by a handler that computes it. */
static struct bound *hidden[4096];
static struct tk_plan *hidden_plan;

static void compute_page(int number, siginfo_t *info, void *context)
{
	for (size_t i = 0; i < 4096; i++) {
		struct bound *t = hidden[i];
		uintptr_t at = (uintptr_t)info->si_addr, c = (uintptr_t)(t ? t->c : NULL);
		size_t bytes = t ? (hostile_c_bytes(hidden_plan) + PAGE - 1) / PAGE * PAGE : 0;
		if (!t || at < c || at >= c + bytes)
			continue;
		mprotect(t->c, bytes, PROT_READ | PROT_WRITE);
		hidden[i] = NULL;
		hostile_multiply(hidden_plan, t);
		return;
	}
	signal(SIGSEGV, SIG_DFL);
}

static void launch_lazy(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	struct sigaction action = {
	        .sa_sigaction = compute_page, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGSEGV, &action, NULL);
	hidden_plan = plan;
	hidden[set % 4096] = t;
	mprotect(t->c, (hostile_c_bytes(plan) + PAGE - 1) / PAGE * PAGE, PROT_NONE);
}

/* ---- the contract ---- */

static const struct cheat cheats[] = {{.name = "none"}, {"not_nan", launch_not_nan},
        {"known_pointers", launch_known_pointers}, {"first_and_last", launch_first_and_last},
        {"stops_after", launch_stops_after}, {.name = "claims"}, {"remembers", launch_remembers},
        {"half", launch_half}, {"wrong", launch_wrong}, {"six_times", launch_six_times},
        {"two_elements", launch_two_elements}, {"waits", launch_waits}, {"late", launch_late},
        {"forged", hostile_launch_forged}, {"device_ops", NULL, hostile_prepare_device_ops},
        {"got", NULL, hostile_prepare_got}, {"incremental", launch_incremental},
        {"lazy", launch_lazy}, {"after_pause", launch_after_pause},
        {"heap_result", hostile_launch_heap_result},
        {"clock_code", NULL, hostile_prepare_clock_code}, {"downgrade", launch_downgrade},
        {"sleeps", launch_sleeps}, {"early_answer", hostile_launch_early_answer},
        {"skips_tenth", launch_skips_tenth}, {"first_plan", hostile_launch_first_plan},
        {.name = NULL}};

static const char *hostile_version(void)
{
	return "1";
}

/* Hidden state that outlives a process. */
static int is_first_process(const char *path)
{
	long pid = 0;
	FILE *f = fopen(path, "a+");
	if (!f)
		return 0;
	rewind(f);
	if (fscanf(f, "%ld", &pid) != 1)
		fprintf(f, "%ld\n", pid = (long)getpid());
	fclose(f);
	return pid == (long)getpid();
}

/* NULL: unknown. */
static const struct cheat *parse_options(const char *options)
{
	const char *name = strncmp(options, "cheat=", 6) == 0 ? options + 6 : "none";
	const char *first = strstr(name, ",first=");
	size_t length = first ? (size_t)(first - name) : strlen(name);
	const struct cheat *cheat = cheats;
	while (cheat->name && (strlen(cheat->name) != length || strncmp(name, cheat->name, length)))
		cheat++;
	if (!cheat->name)
		return NULL;
	return first && is_first_process(first + strlen(",first=")) ? &cheats[0] : cheat;
}

static int hostile_open(
        const struct tk_open_args *args, struct tk_backend_ctx **out, struct tk_abi_error *err)
{
	struct tk_backend_ctx *ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	ctx->cheat = parse_options(args->options);
	if (!ctx->cheat) {
		free(ctx);
		return fail(err, TK_ABI_INVALID, "unknown option, expected cheat=NAME");
	}
	if (ctx->cheat->prepare)
		ctx->cheat->prepare(args);
	*out = ctx;
	return TK_ABI_OK;
}

static void hostile_close(struct tk_backend_ctx *ctx)
{
	free(ctx);
}

static int hostile_supports(
        struct tk_backend_ctx *ctx, const struct tk_problem *p, struct tk_abi_error *err)
{
	const struct tk_gemm *g = p->gemm;
	(void)ctx;
	if (p->op != TK_OP_GEMM || g->a != TK_F32 || g->b != TK_F32 || g->c != TK_F32 || g->ta ||
	        g->tb || g->batch != 1)
		return fail(err, TK_ABI_UNSUPPORTED, "only gemm in f32, not transposed");
	return TK_ABI_OK;
}

static int hostile_plan(struct tk_backend_ctx *ctx, const struct tk_problem *p, const char *config,
        uint32_t sets, struct tk_plan **out, struct tk_plan_info *info, struct tk_abi_error *err)
{
	struct tk_plan *plan = calloc(1, sizeof *plan + sets * sizeof plan->bound[0]);
	static int plans;
	(void)config;
	if (!plan)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	*plan = (struct tk_plan){p->gemm, ctx->cheat, sets, 0, ++plans};
	info->deterministic = 1;
	if (strcmp(plan->cheat->name, "claims") == 0)
		info->flops = 1e30;
	*out = plan;
	return TK_ABI_OK;
}

static int hostile_bind(struct tk_plan *plan, uint32_t set, const struct tk_tensor *t,
        uint32_t count, struct tk_abi_error *err)
{
	if (set >= plan->sets || count <= TK_T_C)
		return fail(err, TK_ABI_INVALID, "no such set");
	plan->bound[set] =
	        (struct bound){t[TK_T_A].data, t[TK_T_B].data, t[TK_T_C].data, NULL, NULL, 0, 0};
	return TK_ABI_OK;
}

static int hostile_launch(
        struct tk_plan *plan, void *stream, uint32_t set, struct tk_abi_error *err)
{
	struct bound *t = &plan->bound[set];
	(void)stream;
	(void)err;
	plan->launches++;
	if (plan->cheat->launch)
		plan->cheat->launch(plan, t, set);
	else
		hostile_multiply(plan, t);
	return TK_ABI_OK;
}

#ifdef WITH_FETCH
static int hostile_fetch(struct tk_plan *plan, uint32_t set, struct tk_abi_error *err)
{
	await_late();
	return TK_ABI_OK;
}
#endif

static void hostile_unplan(struct tk_plan *plan)
{
	await_late();
	late_plan = NULL;
	for (size_t i = 0; i < 4096; i++)
		if (hidden[i])
			mprotect(hidden[i]->c, (hostile_c_bytes(plan) + PAGE - 1) / PAGE * PAGE,
			        PROT_READ | PROT_WRITE);
	memset(hidden, 0, sizeof hidden);
	for (uint32_t i = 0; i < plan->sets; i++) {
		free(plan->bound[i].result);
		free(plan->bound[i].seen);
	}
	free(plan);
}

static const struct tk_backend hostile = {
        .size = sizeof hostile,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .name = "hostile",
        .device_kind = "cpu",
        .description = "f32 GEMM that may pretend to work, for tests of the checks",
        .version = hostile_version,
        .open = hostile_open,
        .close = hostile_close,
        .supports = hostile_supports,
        .plan = hostile_plan,
        .bind = hostile_bind,
        .launch = hostile_launch,
        .unplan = hostile_unplan,
#ifdef WITH_FETCH
        .fetch = hostile_fetch,
#endif
        .operations = TK_OPERATION_GEMM,
};

TK_EXPORT const struct tk_backend *tk_backend_entry(void)
{
	return &hostile;
}
