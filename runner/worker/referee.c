/* See referee.h: the process that decides. */
#include "worker/referee.h"
#include "base/base.h"
#include "measure/measure.h"
#include "worker/job.h"
#include "worker/process.h"
#include <math.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Starting a burst and hearing of its end, about 50 us, are less than 1 % of it. */
#define BURST_NS 10e6
#define GPU_BURST_NS 20e6
#define SETS_MAX 4096
#define GPU_SETS_MAX 1024 /* each of them is written by a few commands */
#define ARENA_BYTES ((uint64_t)256 << 20)
#define GPU_ARENA_SHARE 8 /* of the memory of the device */
#define ALIGNMENT ((uint64_t)4096)
/* A burst is repeated so often, while all of them together took no longer; where the time does not
 * agree, more of them may show that something else ran. */
#define BURSTS_MIN 4
#define BURSTS_MAX 10
#define BURSTS_NS 200e6
#define DOUBTFUL_BURSTS_MAX 200
#define DOUBTFUL_BURSTS_NS 5e9
#define HOPELESS 3     /* times what may be: no noise explains that, but a machine that stands */
#define STALL_BURSTS 8 /* that must see it, half of them after a pause */
#define STALL_US 300000
#define PATIENCE_NS 10e9 /* of launches, writing and verifying */
#define VERIFY_NS 10e6   /* of each burst, and at least one set */
/* What may be claimed below the fastest burst: small pages of shared memory; up to a limit as much
 * as the claim's interval or half of the bursts are above it. */
#define AGREES_WITHIN 1.1
#define NOISE_MAX 1.5
/* Inputs that stay in the nearest cache are faster than any that were never there. */
#define HOT_AGREES_WITHIN 4
/* A fetch that only converts what the launch computed. What it takes beyond that counts as
 * launch. */
#define FETCH_NS 5e3
#define PYTHON_FETCH_NS 100e3
#define FETCH_BYTES_PER_NS 2
#define PIECE_BYTES 16

struct judge {
	struct tk_worker_state *s;
	struct tk_problem_spec problem;
	struct tk_referee_memory memory;
	char *arena;
	struct tk_tensor base[TK_T_MAX], set[TK_T_MAX]; /* on the host: inputs as filled; one set */
	void *device_base[TK_T_MAX];                    /* of devices that flip_signs */
	uint32_t tensor_count;
	uint64_t output_bytes; /* of a set */
	uint64_t seed;         /* of the newest burst; set and tensor change it */
	uint64_t random;
	int socket;
	pid_t worker;
	double threads, claim_ns, noise, agrees_within, fetch_ns; /* noise: of what is claimed */
	/* results */
	double seen_ns; /* of a launch, the fastest burst */
	double burst_ns[DOUBTFUL_BURSTS_MAX];
	double spent_ns;
	int64_t start_ns;
	uint32_t bursts, checked;
	struct tk_verify_result verdict;
	struct tk_abi_error abi;
	enum tk_outcome *outcome;
	struct tk_error *err;
};

static int check(struct judge *j, int status, const char *what)
{
	return status == TK_ABI_OK ? TK_OK
	                           : tk_job_fail_status(status, &j->abi, what, j->outcome, j->err);
}

static int fail_unsupported(struct judge *j, const char *why)
{
	*j->outcome = TK_OUTCOME_UNSUPPORTED;
	return tk_fail(j->err, TK_EUNSUPPORTED, "%s", why);
}

static uint64_t draw(struct judge *j, uint64_t n)
{
	return tk_splitmix64(j->random++) % n;
}

static bool is_on_host(const struct judge *j)
{
	return !j->s->ops->flip_signs;
}

static char *set_data(const struct judge *j, uint32_t set, uint32_t tensor)
{
	return j->arena + set * j->memory.stride + j->memory.offsets[tensor];
}

/* ---- inputs ---- */

/* Whether its signs may change in each burst: B of gemm may be repacked by bind, a backward pass
 * starts from results of the forward pass, and indices are none. */
static bool is_changed(const struct judge *j, uint32_t tensor)
{
	if (j->base[tensor].output || j->base[tensor].dtype >= TK_I32)
		return false;
	return j->problem.abi.op != TK_OP_GEMM || tensor == TK_T_A;
}

static uint64_t sign_seed(const struct judge *j, uint32_t set, uint32_t tensor)
{
	return tk_splitmix64(j->seed ^ ((uint64_t)set << 8 | tensor));
}

/* As flip_signs of the device layers: the highest bit of an element is in its last byte. */
static void flip_signs(void *data, size_t bytes, size_t element, uint64_t seed)
{
	unsigned char *at = (unsigned char *)data + element - 1;
	size_t count = bytes / element;
	for (size_t i = 0; i < count; i += 64) {
		uint64_t bits = tk_splitmix64(seed + i / 64);
		for (size_t k = i; k < count && k < i + 64; k++, bits >>= 1)
			at[k * element] ^= (unsigned char)(bits << 7);
	}
}

/* The values of an input as this burst has them. */
static void fill_input(const struct judge *j, uint32_t set, uint32_t tensor, void *to)
{
	const struct tk_tensor *t = &j->base[tensor];
	memcpy(to, t->data, t->bytes);
	if (is_changed(j, tensor))
		flip_signs(to, t->bytes, tk_dtype_bytes(t->dtype), sign_seed(j, set, tensor));
}

static int write_input(struct judge *j, uint32_t set, uint32_t tensor)
{
	const struct tk_device_ops *o = j->s->ops;
	const struct tk_tensor *t = &j->base[tensor];
	void *to = set_data(j, set, tensor);
	size_t element = tk_dtype_bytes(t->dtype);
	if (is_on_host(j)) {
		fill_input(j, set, tensor, to);
		return TK_OK;
	}
	TRY(check(j, o->copy(j->s->device, to, j->device_base[tensor], t->bytes, &j->abi), "copy"));
	return is_changed(j, tensor) ? check(j,
	                                       o->flip_signs(j->s->device, to, t->bytes / element,
	                                               element, sign_seed(j, set, tensor), &j->abi),
	                                       "flip_signs")
	                             : TK_OK;
}

/* The space between rows is left by every kernel, and holds zeros. */
static void fill_unwritten(const struct judge *j, const struct tk_tensor *t, char *to)
{
	size_t element = tk_dtype_bytes(t->dtype), row = (size_t)t->dim[t->ndim - 1] * element,
	       pad = (size_t)j->problem.abi.row_padding * element;
	memset(to, 0xff, t->bytes);
	for (size_t at = 0; pad && at < t->bytes; at += row)
		memset(to + at + row - pad, 0, pad);
}

static int write_output(struct judge *j, uint32_t set, uint32_t tensor)
{
	const struct tk_tensor *t = &j->base[tensor];
	char *to = set_data(j, set, tensor);
	if (!is_on_host(j))
		return check(j, j->s->ops->fill(j->s->device, to, 0xff, t->bytes, &j->abi), "fill");
	fill_unwritten(j, t, to);
	return TK_OK;
}

static int write_sets(struct judge *j, bool all)
{
	if (getrandom(&j->seed, sizeof j->seed, 0) != sizeof j->seed)
		return tk_fail_errno(j->err, "random numbers");
	for (uint32_t n = 0; n < j->memory.sets * j->tensor_count; n++) {
		uint32_t set = n / j->tensor_count, i = n % j->tensor_count;
		if (j->base[i].output || all || is_changed(j, i))
			TRY((j->base[i].output ? write_output : write_input)(j, set, i));
	}
	return TK_OK;
}

/* ---- memory ---- */

static void lay_out(struct judge *j)
{
	uint64_t end = 0, offset = j->problem.abi.offset_bytes;
	for (uint32_t i = 0; i < j->tensor_count; i++) {
		j->memory.offsets[i] = end + offset;
		end += (j->base[i].bytes + offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		j->output_bytes += j->base[i].output ? j->base[i].bytes : 0;
	}
	j->memory.stride = end;
}

/* As many launches as one burst needs, by the time that is claimed. */
static void choose_sets(struct judge *j, bool is_hot)
{
	const struct tk_device_info *info = &j->s->info;
	uint64_t room = is_on_host(j) ? ARENA_BYTES : info->memory_bytes / GPU_ARENA_SHARE;
	double wanted = ceil((is_on_host(j) ? BURST_NS : GPU_BURST_NS) / j->claim_ns);
	if (is_hot && room > info->cache_bytes / 2)
		room = info->cache_bytes / 2;
	wanted = fmin(fmin(wanted, is_on_host(j) ? SETS_MAX : GPU_SETS_MAX),
	        floor((double)room / (double)j->memory.stride));
	j->memory.sets = wanted < 1 ? 1 : (uint32_t)wanted;
	j->memory.bytes = j->memory.sets * j->memory.stride;
	j->agrees_within = is_hot ? HOT_AGREES_WITHIN : AGREES_WITHIN;
}

static int fill_base(struct judge *j, uint32_t tensor, uint64_t seed)
{
	struct tk_tensor *t = &j->base[tensor];
	j->set[tensor] = *t;
	j->set[tensor].data = tk_malloc(t->bytes + 1);
	if (t->output)
		return TK_OK;
	t->data = tk_malloc(t->bytes + 1);
	TRY(tk_inputs_fill(&j->problem, tensor, seed, t->data, j->err));
	if (is_on_host(j))
		return TK_OK;
	TRY(check(j, j->s->ops->alloc(j->s->device, t->bytes, &j->device_base[tensor], &j->abi),
	        "allocation"));
	return check(j,
	        j->s->ops->upload(j->s->device, j->device_base[tensor], t->data, t->bytes, &j->abi),
	        "upload");
}

static int send_memory(struct judge *j, int memory_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {&j->memory, sizeof j->memory};
	struct msghdr message = {.msg_iov = &part,
	        .msg_iovlen = 1,
	        .msg_control = &control,
	        .msg_controllen = sizeof control};
	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
	        .cmsg_level = SOL_SOCKET,
	        .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof memory_fd);
	return sendmsg(j->socket, &message, MSG_NOSIGNAL) == sizeof j->memory
	               ? TK_OK
	               : tk_fail_errno(j->err, "the worker's socket");
}

static int make_memory(struct judge *j)
{
	int fd = -1;
	void *arena = NULL;
	if (j->s->ops->share(j->s->device, j->memory.bytes, &arena, &fd, &j->abi) != TK_ABI_OK)
		return fail_unsupported(j, j->abi.message);
	j->arena = arena;
	int status = write_sets(j, true);
	if (!status)
		status = send_memory(j, fd);
	close(fd);
	return status;
}

/* ---- the clock ---- */

/* Of the worker; what this process waited may delay both. */
static struct tk_process_usage read_usage(const struct judge *j)
{
	struct tk_process_usage u = tk_process_read_usage(j->worker);
	u.waited_ns += tk_process_read_usage(getpid()).waited_ns;
	return u;
}

static int await(struct judge *j, char expected)
{
	char answer = 0;
	if (recv(j->socket, &answer, 1, 0) == 1 && answer == expected)
		return TK_OK;
	if (answer) { /* one that came before its command */
		j->verdict.passed = false;
		snprintf(j->verdict.detail, sizeof j->verdict.detail,
		        "the worker reported the end of a burst that had not ended");
		return TK_OK;
	}
	return tk_fail(j->err, TK_EIO, "the worker did not answer the referee");
}

/* The least that this took: the clock without what others had of the processor, and not less than
 * the processor time on as many cores as the worker may use. */
static int time_command(struct judge *j, char command, double *ns)
{
	const struct tk_process_usage before = read_usage(j);
	int64_t start = tk_clock_monotonic_ns();
	if (send(j->socket, &command, 1, MSG_NOSIGNAL) != 1)
		return tk_fail(j->err, TK_EIO, "the worker closed the referee's socket");
	TRY(await(j, command));
	double wall_ns = (double)(tk_clock_monotonic_ns() - start);
	kill(j->worker, SIGSTOP); /* what is not done now was not done in time */
	const struct tk_process_usage after = read_usage(j);
	*ns = fmax(wall_ns - (after.waited_ns - before.waited_ns),
	        (after.cpu_ns - before.cpu_ns) / j->threads);
	j->spent_ns += wall_ns;
	return TK_OK;
}

/* ---- outputs ---- */

static int read_output(
        struct judge *j, uint32_t set, uint32_t tensor, size_t at, size_t bytes, void *to)
{
	const char *from = set_data(j, set, tensor) + at;
	if (!is_on_host(j))
		return check(
		        j, j->s->ops->download(j->s->device, to, from, bytes, &j->abi), "download");
	memcpy(to, from, bytes);
	return TK_OK;
}

static bool is_optional(const struct judge *j, uint32_t tensor)
{
	return j->problem.abi.op == TK_OP_ATTENTION && tensor == TK_T_LSE;
}

/* A random place of each set, which no launch has left as it was. */
static int check_written(struct judge *j)
{
	unsigned char got[PIECE_BYTES], unwritten[PIECE_BYTES];
	memset(unwritten, 0xff, sizeof unwritten);
	for (uint32_t set = 0; j->verdict.passed && set < j->memory.sets; set++)
		for (uint32_t i = 0; i < j->tensor_count; i++) {
			size_t bytes = j->base[i].bytes,
			       len = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
			if (!j->base[i].output || is_optional(j, i))
				continue;
			TRY(read_output(j, set, i, draw(j, bytes - len + 1), len, got));
			if (memcmp(got, unwritten, len) != 0)
				continue;
			j->verdict.passed = false;
			snprintf(j->verdict.detail, sizeof j->verdict.detail,
			        "launch %u of %u did not write %s", set + 1, j->memory.sets,
			        j->base[i].name);
		}
	return TK_OK;
}

static int verify_set(struct judge *j, uint32_t set)
{
	for (uint32_t i = 0; i < j->tensor_count; i++)
		if (j->base[i].output)
			TRY(read_output(j, set, i, 0, j->base[i].bytes, j->set[i].data));
		else
			fill_input(j, set, i, j->set[i].data);
	j->checked++;
	return tk_verify_outputs(&j->problem, j->set, draw(j, UINT32_MAX), &j->verdict, j->err);
}

static int verify_burst(struct judge *j)
{
	int64_t start = tk_clock_monotonic_ns();
	TRY(check_written(j));
	do {
		if (j->verdict.passed)
			TRY(verify_set(j, (uint32_t)draw(j, j->memory.sets)));
	} while (j->verdict.passed && (double)(tk_clock_monotonic_ns() - start) < VERIFY_NS);
	return TK_OK;
}

/* ---- bursts ---- */

static bool agrees(const struct judge *j)
{
	double sorted[DOUBTFUL_BURSTS_MAX], noise = AGREES_WITHIN * j->noise;
	memcpy(sorted, j->burst_ns, j->bursts * sizeof *sorted);
	if (j->bursts > 0)
		noise = fmax(noise, tk_median(sorted, j->bursts) / j->seen_ns);
	return j->seen_ns <= j->claim_ns * fmax(j->agrees_within, fmin(noise, NOISE_MAX));
}

static bool has_enough(const struct judge *j)
{
	bool is_doubtful =
	        !agrees(j) && (j->bursts < STALL_BURSTS ||
	                              j->seen_ns < HOPELESS * j->agrees_within * j->claim_ns);
	if (j->bursts && (double)(tk_clock_monotonic_ns() - j->start_ns) > PATIENCE_NS)
		return true;
	return j->bursts >= (is_doubtful ? DOUBTFUL_BURSTS_MAX : BURSTS_MAX) ||
	       (j->bursts >= BURSTS_MIN &&
	               j->spent_ns >= (is_doubtful ? DOUBTFUL_BURSTS_NS : BURSTS_NS));
}

static int run_burst(struct judge *j)
{
	double ns = 0, fetch_ns = 0;
	double launches = j->memory.sets,
	       allowed_ns = launches * (j->fetch_ns + (double)j->output_bytes / FETCH_BYTES_PER_NS);
	if (j->bursts == STALL_BURSTS / 2 && !agrees(j))
		usleep(STALL_US);
	if (j->bursts > 0)
		TRY(write_sets(j, false));
	kill(j->worker, SIGCONT);
	TRY(time_command(j, TK_REFEREE_BURST, &ns));
	kill(j->worker, SIGCONT);
	TRY(time_command(j, TK_REFEREE_FETCH, &fetch_ns));
	ns += fmax(fetch_ns - allowed_ns, 0);
	j->burst_ns[j->bursts++] = ns / launches;
	j->seen_ns = fmin(j->seen_ns, ns / launches);
	return verify_burst(j);
}

static int run(struct judge *j)
{
	char end = TK_REFEREE_END;
	while (recv(j->socket, &end, 1, MSG_DONTWAIT) == 1) /* of an earlier job */
		;
	end = TK_REFEREE_END;
	TRY(make_memory(j));
	TRY(await(j, TK_REFEREE_READY));
	j->start_ns = tk_clock_monotonic_ns();
	while (j->verdict.passed && !has_enough(j))
		TRY(run_burst(j));
	kill(j->worker, SIGCONT);
	send(j->socket, &end, 1, MSG_NOSIGNAL);
	return TK_OK;
}

/* ---- the request ---- */

static double number(const json_t *request, const char *name)
{
	return json_number_value(json_object_get(request, name));
}

static int check_problem(struct judge *j)
{
	const struct tk_device_ops *o = j->s->ops;
	if (!o->share || !o->attach || !o->detach)
		return fail_unsupported(j, "devices of this kind cannot share memory");
	if (j->problem.abi.op == TK_OP_FMA || j->problem.dist == TK_DIST_ZEROS)
		return fail_unsupported(j, "the result does not depend on the inputs");
	if (j->problem.abi.op == TK_OP_ATTENTION && j->problem.attention.dir == TK_BWD)
		return fail_unsupported(j, "a backward pass needs the results of a forward pass");
	if (!is_on_host(j) && j->problem.abi.row_padding)
		return fail_unsupported(j, "padded rows");
	return TK_OK;
}

static int set_up(struct judge *j, const json_t *request)
{
	const char *text = json_string_value(json_object_get(request, "problem"));
	enum tk_mode mode = TK_MODE_COLD;
	tk_mode_parse(json_string_value(json_object_get(request, "mode")), &mode);
	TRY(tk_problem_parse(&j->problem, text ? text : "", j->err));
	TRY(tk_job_read_text(request, j->err));
	TRY(check_problem(j));
	TRY(tk_problem_list_tensors(&j->problem, j->base, &j->tensor_count, j->err));
	lay_out(j);
	/* a few sets, as a user may want them, stay in the caches */
	choose_sets(j, mode == TK_MODE_HOT || number(request, "sets") > 0);
	for (uint32_t i = 0; i < j->tensor_count; i++)
		TRY(fill_base(j, i, draw(j, UINT32_MAX)));
	return TK_OK;
}

static void tear_down(struct judge *j)
{
	for (uint32_t i = 0; i < j->tensor_count; i++) {
		free(j->base[i].data);
		free(j->set[i].data);
		if (j->device_base[i])
			j->s->ops->release(j->s->device, j->device_base[i]);
	}
	if (j->arena)
		j->s->ops->detach(j->s->device, j->arena, j->memory.bytes);
	if (j->worker > 0)
		kill(j->worker, SIGCONT);
}

int tk_job_judge(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	struct judge j = {.s = s,
	        .socket = (int)number(request, "socket"),
	        .worker = (pid_t)number(request, "pid"),
	        .threads = fmax(number(request, "cores"), 1),
	        .claim_ns = fmax(number(request, "claim_ns"), 1),
	        .noise = number(request, "noise"),
	        .fetch_ns = json_is_true(json_object_get(request, "python")) ? PYTHON_FETCH_NS
	                                                                     : FETCH_NS,
	        .seen_ns = INFINITY,
	        .verdict = {.passed = true},
	        .abi = {.size = sizeof j.abi},
	        .outcome = outcome,
	        .err = err};
	if (getrandom(&j.random, sizeof j.random, 0) != sizeof j.random)
		return tk_fail_errno(err, "random numbers");
	int status = set_up(&j, request);
	if (!status)
		status = run(&j);
	if (!status)
		*result = json_pack("{s:f, s:I, s:I, s:I, s:b, s:b, s:s}", "ns", j.seen_ns,
		        "launches", (json_int_t)j.memory.sets, "bursts", (json_int_t)j.bursts,
		        "checked", (json_int_t)j.checked, "passed", j.verdict.passed, "agrees",
		        agrees(&j), "detail", j.verdict.detail);
	else /* the worker must not wait */
		shutdown(j.socket, SHUT_RDWR);
	tear_down(&j);
	return status;
}
