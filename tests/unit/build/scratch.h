/* A scratch folder with real git repositories in it, for the tests of upstream/ and build/. */
#ifndef TK_TEST_SCRATCH_H
#define TK_TEST_SCRATCH_H
#include "base/base.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Fails the test with the message of *err unless the call returns 0. */
#define OK(call) \
	do { \
		struct tk_error e_ = {0}; \
		(void)e_; \
		struct tk_error *err = &e_; \
		if (call) \
			fail_msg("%s: %s", #call, err->message); \
	} while (0)

struct scratch {
	char dir[256], cache[300];
};

/* Runs a line of sh in the scratch folder; the test fails where it fails. */
__attribute__((format(printf, 2, 3))) static inline void sh(
        const struct scratch *s, const char *fmt, ...)
{
	char line[8192];
	va_list ap;
	va_start(ap, fmt);
	const int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	assert_true(n > 0 && (size_t)n < sizeof(line));
	char *command = NULL;
	assert_true(asprintf(&command, "cd '%s' && { %s\n} >>log 2>&1", s->dir, line) > 0);
	if (system(command) != 0)
		fail_msg("this failed, see %s/log: %s", s->dir, line);
	free(command);
}

/* First line of what a command prints. */
static inline void ask(const struct scratch *s, char *out, size_t size, const char *command)
{
	char *line = NULL;
	assert_true(asprintf(&line, "cd '%s' && %s", s->dir, command) > 0);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	out[0] = '\0';
	if (fgets(out, (int)size, f))
		out[strcspn(out, "\n")] = '\0';
	pclose(f);
	free(line);
}

static inline int scratch_open(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));
	const char *parent = getenv("TMPDIR");
	snprintf(s->dir, sizeof(s->dir), "%s/tracker-test-XXXXXX",
	        parent && strlen(parent) < 200 ? parent : "/tmp");
	if (!mkdtemp(s->dir))
		return -1;
	snprintf(s->cache, sizeof(s->cache), "%s/cache", s->dir);
	setenv("HOME", s->dir, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_DATE", "2026-03-01T10:00:00Z", 1);
	setenv("GIT_COMMITTER_DATE", "2026-03-01T11:00:00Z", 1);
	sh(s, "git config --global user.name 'A. Author' && git config --global user.email "
	      "a@example.invalid && "
	      "git config --global init.defaultBranch main && git config --global "
	      "protocol.file.allow always");
	*state = s;
	return 0;
}

static inline int scratch_close(void **state)
{
	struct scratch *s = *state;
	char *command = NULL;
	if (asprintf(&command, "rm -rf '%s'", s->dir) > 0 && system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", s->dir);
	free(command);
	free(s);
	return 0;
}

#endif
