/* What a function of runner/cli writes to a stream, as one text. */
#ifndef TK_TEST_CAPTURE_H
#define TK_TEST_CAPTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capture {
	FILE *out;
	char *text;
	size_t size;
};

static inline FILE *capture_open(struct capture *c)
{
	*c = (struct capture){0};
	c->out = open_memstream(&c->text, &c->size);
	assert_non_null(c->out);
	return c->out;
}

/* Valid until capture_free(). */
static inline const char *capture_text(struct capture *c)
{
	fflush(c->out);
	return c->text;
}

static inline void capture_free(struct capture *c)
{
	fclose(c->out);
	free(c->text);
}

static inline void expect_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static inline void expect_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

static inline size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

/* The text of a whole file, to be freed. */
static inline char *read_whole_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	assert_non_null(f);
	assert_non_null(text);
	size_t len = fread(text, 1, (1 << 16) - 1, f);
	text[len] = '\0';
	fclose(f);
	return text;
}

/* The files that GitHub gives a job, in a temporary folder; both hold what was appended. */
struct job_files {
	char folder[40], summary[60], outputs[60];
};

static inline void job_files_unset(void)
{
	unsetenv("GITHUB_STEP_SUMMARY");
	unsetenv("GITHUB_OUTPUT");
}

static inline void job_files_open(struct job_files *f)
{
	strcpy(f->folder, "/tmp/tracker-job-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->summary, sizeof f->summary, "%s/summary", f->folder);
	snprintf(f->outputs, sizeof f->outputs, "%s/outputs", f->folder);
	setenv("GITHUB_STEP_SUMMARY", f->summary, 1);
	setenv("GITHUB_OUTPUT", f->outputs, 1);
}

static inline void job_files_close(const struct job_files *f)
{
	unlink(f->summary);
	unlink(f->outputs);
	rmdir(f->folder);
	job_files_unset();
}

#endif
