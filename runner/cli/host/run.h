/* What `tracker run`, `profile` and `trace` share: a session, whose devices run_devices.c opens. */
#ifndef TK_CLI_RUN_H
#define TK_CLI_RUN_H
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/limits.h"
#include "nightly/plan/modules.h"
#include "profile/profile.h"
#include "store/store.h"
#include "worker/worker.h"

struct tk_run_options {
	const char *backend, *suite, *backend_options, *config_name, *cores;
	const char *devices;  /* NULL: the first */
	const char *sequence; /* name or file of mode sequence */
	struct tk_option_list problems;
	enum tk_mode mode; /* TK_MODE_COUNT: the default of the device's kind */
	bool samples, no_verify, json, hot, referee; /* hot: as mode */
	bool list, no_store;                         /* of `tracker trace` and `tracker profile` */
	double seconds, threads, seed, check_seed, idle_gap_s, sets; /* negative: not given */
};
#define TK_RUN_OPTIONS_NONE \
	{ \
		.mode = TK_MODE_COUNT, .seconds = -1, .threads = -1, .seed = -1, .check_seed = -1, \
		.idle_gap_s = -1, .sets = -1 \
	}

/* A device with the worker that serves it. */
struct tk_run_device {
	struct tk_worker *worker;
	char name[80];         /* its UUID, else "cuda:1" */
	char model[128];       /* "NVIDIA H200" */
	char arch[32];         /* "sm_90" */
	uint32_t index, count; /* of its kind */
	json_t *info;          /* as the device layer describes it */
	struct tk_limits limits;
};

struct tk_run_session {
	const struct tk_run_options *o;
	const struct tk_config *config;
	struct tk_modules *modules;
	struct tk_run_device *devices_open;
	size_t device_count;
	enum tk_mode mode;
	char mode_word[TK_MODE_WORD_SIZE];      /* as the mode of a series */
	const struct tk_job_sequence *sequence; /* of mode sequence, else NULL */
	struct tk_sequence_entry *sequences;
	struct tk_text_entry *texts; /* of the problems */
	int64_t started_s;           /* of what is stored */
	struct tk_suite *suite;
	char *backend_path, *log_path;
	char *plain_path;   /* of a build that records: the one beside it that does not */
	char *backend_name; /* as the backend reports it */
	char device_kind[16];
	off_t log_bytes; /* its size before this run */
	struct tk_table *table;
	json_t *json;
	size_t measured, unsupported, failed;
	struct tk_run_profile *profile; /* of `tracker profile`; NULL: none */
	int trace_fd; /* of `tracker trace`: the build of the backend that records; 0: none */
};

/* Of commands that store what they record about one problem. */
#define TK_RUN_OPT_LIST(at) \
	TK_OPT_FLAG("list", 0, at, \
	        "List the stored results, newest first: of BACKEND or an upstream, of all " \
	        "without one")
#define TK_RUN_OPT_NO_STORE(at) \
	TK_OPT_FLAG("no-store", 0, at, "Do not store the result in the history")
/* --device */
int tk_run_parse_device(const char *text, void *to, struct tk_error *err);
/* Sets the mode that --hot and --sequence mean. */
int tk_run_check_mode(struct tk_run_options *o, struct tk_error *err);
/* One problem, or none with --list. */
int tk_run_check_problem(const struct tk_run_options *o, struct tk_error *err);
/* The job that the options ask for. */
struct tk_job_request tk_run_make_request(const struct tk_run_session *r,
        const struct tk_run_device *device, const struct tk_problem_spec *problem);

/* The profiler that the worker of `tracker profile` runs under. */
struct tk_run_profile {
	const struct tk_profiler *profiler;
	char *program, *folder; /* folder: temporary */
	size_t pass;
	char why[512]; /* the newest pass failed; "": none did */
	struct tk_profiler_command command;
};
/* Finds it for devices of this kind, once, and makes the command of its pass. */
int tk_run_prepare_profile(struct tk_run_session *r, const char *kind, struct tk_error *err);

/* Opens a worker with the backend on every device of --device and --devices. */
int tk_run_open_devices(struct tk_run_session *r, const struct tk_globals *g, struct tk_error *err);
void tk_run_close_devices(struct tk_run_session *r);

/* The start of a document about one problem on the first device. */
json_t *tk_run_encode_head(const struct tk_run_session *r, const char *backend, const char *schema,
        const struct tk_problem_spec *problem);
/* Stores what the first device recorded. base, timeline: may be NULL. */
int tk_run_store_report(const struct tk_run_session *r, struct tk_store *s,
        enum tk_kernel_report kind, const struct tk_problem_spec *problem, const char *base,
        const json_t *result, const json_t *timeline, struct tk_error *err);
/* Prints those of one kind, newest first: of a backend or upstream, or all. */
int tk_run_list_reports(struct tk_globals *g, enum tk_kernel_report kind,
        const struct tk_run_options *o, struct tk_error *err);

#endif
