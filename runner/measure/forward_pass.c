/* The inputs of a backward pass that follow from others: O and the log-sum-exp belong to Q, K and V
 * and cannot be random. As in training, the backend's own forward pass computes them, once and
 * untimed. It is verified like any other before its results are used. */
#include "base/error.h"
#include "base/try.h"
#include "measure/engine.h"
#include <math.h>
#include <string.h>

struct forward {
	struct tk_engine *e;
	struct tk_problem_spec problem;
	struct tk_tensor device[TK_T_MAX];
	uint32_t count;
	struct tk_plan *plan;
};

static int make_problem(struct forward *f)
{
	char text[TK_PROBLEM_TEXT_MAX];
	memcpy(text, f->e->problem->text, sizeof text);
	char *dir = strstr(text, "dir=bwd");
	if (!dir)
		return tk_fail(f->e->err, TK_EINTERNAL, "%s is not a backward pass", text);
	memcpy(dir, "dir=fwd", strlen("dir=fwd"));
	TRY(tk_problem_parse(&f->problem, text, f->e->err));
	return tk_problem_list_tensors(&f->problem, f->device, &f->count, f->e->err);
}

/* Q, K and V with their values; O and LSE poisoned with NaN. */
static int upload(struct forward *f)
{
	struct tk_engine *e = f->e;
	struct tk_abi_error abi = tk_engine_abi_error();
	for (uint32_t i = 0; i < f->count; i++) {
		struct tk_tensor *t = &f->device[i];
		if (t->output)
			memset(e->host[i].data, 0xff, t->bytes);
		if (tk_engine_check_status(e, e->ops->alloc(e->device, t->bytes, &t->data, &abi),
		            "allocation", &abi) ||
		        tk_engine_check_status(e,
		                e->ops->upload(e->device, t->data, e->host[i].data, t->bytes, &abi),
		                "upload", &abi))
			return TK_ENGINE_JOB_ENDED;
	}
	return 0;
}

static int run(struct forward *f)
{
	struct tk_engine *e = f->e;
	const struct tk_backend *b = e->backend;
	struct tk_abi_error abi = tk_engine_abi_error();
	struct tk_plan_info info = {.size = sizeof info};
	if (tk_engine_check_status(e,
	            b->plan(e->ctx, &f->problem.abi, NULL, 1, &f->plan, &info, &abi),
	            "forward plan", &abi) ||
	        tk_engine_check_status(
	                e, b->bind(f->plan, 0, f->device, f->count, &abi), "forward bind", &abi) ||
	        tk_engine_check_status(
	                e, b->launch(f->plan, NULL, 0, &abi), "forward launch", &abi) ||
	        tk_engine_check_status(
	                e, e->ops->synchronize(e->device, NULL, &abi), "forward pass", &abi))
		return TK_ENGINE_JOB_ENDED;
	if (b->fetch &&
	        tk_engine_check_status(e, b->fetch(f->plan, 0, &abi), "forward fetch", &abi))
		return TK_ENGINE_JOB_ENDED;
	e->host_filled[TK_T_O] = e->host_filled[TK_T_LSE] =
	        0; /* the seeded values are overwritten */
	for (uint32_t i = TK_T_O; i <= TK_T_LSE; i++)
		if (tk_engine_check_status(e,
		            e->ops->download(e->device, e->host[i].data, f->device[i].data,
		                    f->device[i].bytes, &abi),
		            "download", &abi))
			return TK_ENGINE_JOB_ENDED;
	return 0;
}

static int verify(struct forward *f)
{
	struct tk_engine *e = f->e;
	struct tk_tensor host[TK_T_MAX];
	struct tk_verify_result verdict;
	if (isnan(tk_element_get(&e->host[TK_T_LSE], 0)))
		return tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "the backward pass needs the log-sum-exp, which the forward pass does not "
		        "write");
	memcpy(host, f->device, sizeof host);
	for (uint32_t i = 0; i < f->count; i++)
		host[i].data = e->host[i].data;
	TRY(tk_verify_outputs(&f->problem, host, e->options->seed, &verdict, e->err));
	if (!verdict.passed)
		return tk_engine_end_job(
		        e, TK_OUTCOME_WRONG, "the forward pass is wrong: %s", verdict.detail);
	return 0;
}

static void free_forward(struct forward *f)
{
	if (f->plan)
		f->e->backend->unplan(f->plan);
	for (uint32_t i = 0; i < f->count; i++)
		if (f->device[i].data)
			f->e->ops->release(f->e->device, f->device[i].data);
}

int tk_engine_run_forward(struct tk_engine *e)
{
	struct forward f = {.e = e};
	struct tk_abi_error abi = tk_engine_abi_error();
	if (e->problem->abi.op != TK_OP_ATTENTION || e->problem->attention.dir == TK_FWD)
		return 0;
	int status = make_problem(&f);
	if (!status && e->backend->supports(e->ctx, &f.problem.abi, &abi) != TK_ABI_OK)
		status = tk_engine_end_job(e, TK_OUTCOME_UNSUPPORTED,
		        "the backward pass needs the forward pass, which is unsupported: %s",
		        abi.message);
	if (!status)
		status = upload(&f);
	if (!status)
		status = run(&f);
	if (!status && e->options->verify)
		status = verify(&f);
	free_forward(&f);
	return status;
}
