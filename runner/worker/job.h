/* What a worker process has open, and the requests that it serves. Private to worker/. */
#ifndef TK_WORKER_JOB_H
#define TK_WORKER_JOB_H
#include "base/base.h"
#include "core/vocabulary.h"
#include "tracker_abi.h"

/* A backend beside the first one, for kernels of a sequence that the first one does not have. */
#define TK_WORKER_COMPANY_MAX 6
struct tk_worker_company {
	char *path;
	struct tk_backend backend;
	struct tk_backend_ctx *ctx;
};

struct tk_worker_state {
	const struct tk_device_ops *ops; /* read-only memory */
	struct tk_device *device;
	struct tk_device_info info;
	uint32_t device_count; /* of this kind on this machine */
	bool is_paired; /* the last job was of an A/B pair: its peer has half of the memory */
	char *device_layer;
	struct tk_backend backend;
	struct tk_backend_ctx *ctx;
	char *backend_path, *backend_options;
	struct tk_worker_company company[TK_WORKER_COMPANY_MAX];
	uint32_t company_count;
	char *package_version; /* of a Python package; NULL: the backend names its version */
};

/* A failed status of the contract as an error, with its outcome. */
int tk_job_fail_status(int status, struct tk_abi_error *abi, const char *what,
        enum tk_outcome *outcome, struct tk_error *err);
/* {"configs":[...],"space":bool}: of a backend without configurations, an empty list. The backend
 * is open. */
int tk_job_list_problem_configs(struct tk_worker_state *s, const struct tk_problem *problem,
        json_t **result, enum tk_outcome *outcome, struct tk_error *err);
/* The member "sequence" of a request, {"kernels":[problems],"backends":[paths]},
 * for a measured problem. The backend is open. Each kernel is launched by the first backend that
 * does it; one that none does is the outcome `unsupported`. Free out->kernels with free(). */
struct tk_problem_spec;
struct tk_sequence;
int tk_job_open_sequence(struct tk_worker_state *s, const json_t *request,
        const struct tk_problem_spec *measured, struct tk_sequence *out, enum tk_outcome *outcome,
        struct tk_error *err);
/* The member "text" of a request, for the problems that follow. */
int tk_job_read_text(const json_t *request, struct tk_error *err);
void tk_job_close_company(struct tk_worker_state *s);

/* The referee (referee.h). Request "bursts" of a worker whose device and backend are open: serves
 * the referee on its member "socket" until the end. */
int tk_job_serve_bursts(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err);
/* Request "referee" of a process whose device is open. *result: {"ns", "launches", "bursts",
 * "checked", "passed", "agrees", "detail"}. Outcome `unsupported`: it cannot judge this problem;
 * `failed`: the worker did not follow. */
int tk_job_judge(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err);

#endif
