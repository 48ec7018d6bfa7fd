/* One build in progress: its folders, where they stand for the build, and what it gets. Private to
 * runner/build/. */
#ifndef TK_BUILD_JOB_H
#define TK_BUILD_JOB_H
#include "base/sandbox.h"
#include "build/build_internal.h"

/* What is in the folder of the build; the first ones are folders. */
enum tk_build_place {
	TK_PLACE_OUT,
	TK_PLACE_BUILD,
	TK_PLACE_TMP,
	TK_PLACE_COLLECTED, /* copies of what is kept of out/ and build.log */
	TK_PLACE_FOLDERS,
	TK_PLACE_LOG = TK_PLACE_FOLDERS,
	TK_PLACE_PROBLEMS,
	TK_PLACES
};

/* A build sees these under fixed names: compilers put paths into what they make (__FILE__, names of
 * anonymous namespaces), and ccache finds what another revision compiled. */
#define TK_BUILD_SEEN "/tmp/tracker-build"
enum { TK_BUILD_MOUNTS_MAX = 9 };

struct tk_build_job {
	const struct tk_build_spec *spec;
	const struct tk_build_key *key;
	const char *kernels_dir; /* absolute */
	char *adapter_dir;       /* absolute */
	char *source;            /* checkout, removed with tk_repo_remove_checkout */
	char *temp, *at[TK_PLACES];
	struct tk_lock *lock; /* of `temp` where that has a fixed name; may be NULL */
	struct tk_sandbox_mount mounts[TK_BUILD_MOUNTS_MAX];
	bool is_mounted;        /* the build sees them */
	struct tk_reads *reads; /* of the work tree; NULL: not recorded */
	char *python; /* of a package: what its virtual environment was made from; may be NULL */
	char *ccache; /* folder of ccache for this upstream */
	struct tk_artifact *artifact;
};

/* Its work tree and folders, of `spec`, `kernels_dir` and `adapter_dir`. The adapter's companions
 * of a Python package are installed with it. */
int tk_build_job_prepare(struct tk_build_job *j, struct tk_error *err);
void tk_build_job_free(struct tk_build_job *j);
/* The name that the build has for a path of the job. */
const char *tk_build_job_seen(const struct tk_build_job *j, const char *path);
/* What the adapter's program gets. */
int tk_build_job_make_env(const struct tk_build_job *j, bool is_sandboxed, struct tk_build_env *e,
        struct tk_error *err);
/* As tk_sandbox_new(). */
int tk_build_job_new_sandbox(
        const struct tk_build_job *j, struct tk_sandbox **out, struct tk_error *err);
/* For another tracker that builds: as long as a build may take. */
double tk_build_find_wait_s(const struct tk_build_spec *spec);

#endif
