/* What the parts of `tracker profile` share. */
#ifndef TK_CLI_PROFILE_H
#define TK_CLI_PROFILE_H
#include "cli/host/run.h"
#include "profile/profile.h"

/* As --format=json prints it. */
json_t *tk_profile_encode(const struct tk_run_session *r, const struct tk_problem_spec *problem,
        const struct tk_job_result *job, const struct tk_profile *counters);
/* Tables, or JSON with --format=json. */
int tk_profile_print(const struct tk_run_session *r, const struct tk_globals *g,
        const struct tk_problem_spec *problem, const struct tk_job_result *job,
        const struct tk_profile *counters, struct tk_error *err);

#endif
