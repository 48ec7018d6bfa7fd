/* A small upstream and an adapter that compiles it, for the tests of build/. */
#ifndef TK_TEST_PROJECT_H
#define TK_TEST_PROJECT_H
#include "base/base.h"
#include "build/build.h"
#include "scratch.h"
#include "upstream/repo.h"

struct project {
	struct scratch *s;
	char url[300], adapter[300], kernels[300];
	struct tk_repo repo;
	struct tk_build_spec spec;
};

/* Writes the adapter's `build`. Its tools are cc alone: the tests need no CMake. */
static inline void write_adapter(const struct project *p, const char *script)
{
	char *path = tk_path_join(p->adapter, "build");
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\nset -eu\n%s\n", script);
	fclose(f);
	free(path);
	sh(p->s, "chmod +x adapters/toy/build");
}

#define COMPILE \
	"mkdir -p \"$TK_OUT/lib\"\n$CC -O2 -g0 -fPIC -shared -fvisibility=hidden $LDFLAGS -o " \
	"\"$TK_OUT/lib/tk_backend_toy.so\" \"$TK_SRC/toy.c\""

/* toy.c with the body of its kernel, committed under a subject. */
static inline void commit_toy(
        const struct project *p, const char *version, const char *body, const char *subject)
{
	sh(p->s,
	        "cd up && cat >toy.c <<'END'\n"
	        "const char *toy_version(void);\nconst char *toy_version(void) { return \"toy %s "
	        "of \" __FILE__ "
	        "__TIME__; }\n"
	        "float toy_kernel(const float *x, int n);\nfloat toy_kernel(const float *x, int n) "
	        "{ float s = 0; for "
	        "(int i = 0; i < n; i++) %s; return s; }\n"
	        "int toy_other(int x);\nint toy_other(int x) { for (int i = 0; i < 9; i++) x = x * "
	        "31 + (x >> 3) + i * "
	        "toy_version()[i]; return x; }\n"
	        "__attribute__((visibility(\"default\"))) const void *tk_backend_entry(void);\n"
	        "const void *tk_backend_entry(void) { return toy_other(1) ? (const void "
	        "*)toy_version() : (const void "
	        "*)toy_kernel; }\nEND\n"
	        "git add toy.c && git commit -q -m '%s'",
	        version, body, subject);
}

static inline int project_open(void **state)
{
	if (scratch_open(state))
		return -1;
	struct scratch *s = *state;
	struct project *p = calloc(1, sizeof(*p));
	p->s = s;
	snprintf(p->url, sizeof(p->url), "%s/up", s->dir);
	snprintf(p->adapter, sizeof(p->adapter), "%s/adapters/toy", s->dir);
	snprintf(p->kernels, sizeof(p->kernels), "%s/kernels", s->dir);
	sh(s, "mkdir -p adapters/toy kernels/abi && echo cc >adapters/toy/tools && echo abi "
	      ">kernels/abi/tracker_abi.h "
	      "&& git init -q up");
	commit_toy(p, "1", "s += x[i]", "toy 1");
	write_adapter(p, COMPILE);
	p->repo = (struct tk_repo){.kind = TK_REPO_GIT,
	        .name = "toy",
	        .url = p->url,
	        .cache_dir = s->cache,
	        .deadline_s = 60};
	p->spec = (struct tk_build_spec){.repo = &p->repo,
	        .revision = "",
	        .adapter_dir = p->adapter,
	        .kernels_dir = p->kernels,
	        .arch = "native",
	        .cache_dir = s->cache,
	        .jobs = 1,
	        .deadline_s = 60};
	*state = p;
	return 0;
}

static inline int project_close(void **state)
{
	struct project *p = *state;
	void *s = p->s;
	free(p);
	return scratch_close(&s);
}

/* Builds the newest revision. Caller frees. */
static inline struct tk_artifact *build_newest(struct project *p)
{
	struct tk_revision r;
	struct tk_artifact *a = NULL;
	OK(tk_repo_find_newest(&p->repo, &r, err));
	p->spec.revision = r.id;
	OK(tk_artifact_build(&p->spec, &a, err));
	p->spec.revision = "";
	return a;
}

#endif
