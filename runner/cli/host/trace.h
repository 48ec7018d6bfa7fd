/* What the parts of `tracker trace` share: trace.c measures, trace_print.c prints. */
#ifndef TK_CLI_TRACE_H
#define TK_CLI_TRACE_H
#include "cli/host/run.h"
#include "nightly/compare/ab_compare.h"
#include "profile/trace.h"

struct tk_trace_options {
	struct tk_run_options run; /* first: tk_run_parse_option() gets it */
	const char *base, *base_config, *head, *out_path, *proton_path;
	double clock_mhz;                       /* of --import-proton; 0: as measured */
	double runs, launches, multiprocessors; /* runs, launches: negative: not given */
};

struct tk_trace_report {
	const struct tk_trace_options *o;
	const char *device, *device_model;
	struct tk_problem_spec problem;
	struct tk_trace_results results;
	const struct tk_ab_revisions *revisions; /* of --head; NULL: none */
	json_t *timeline; /* of the head's first run: a list with one for each kernel */
};

/* As --format=json prints it. */
json_t *tk_trace_encode(const struct tk_trace_report *r);
int tk_trace_print(
        const struct tk_trace_report *r, const struct tk_globals *g, struct tk_error *err);

#endif
