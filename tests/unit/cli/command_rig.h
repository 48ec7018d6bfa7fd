/* Whole commands of runner/cli in a child process: their exit code and what they print, without the
 * time that the program itself takes to start. */
#ifndef TK_TEST_COMMAND_RIG_H
#define TK_TEST_COMMAND_RIG_H
#include "capture.h"

#include <argp.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/file.h"
#include "cli/commands.h"

#define WORDS_MAX 32

struct ran {
	int code; /* minus the signal */
	char *out, *err;
};

static inline void command_leave(int code, void *unused)
{
	(void)unused;
	fflush(NULL);
	_exit(code);
}

/* `words[0]` is the command; NULL-terminated. */
static inline void command_child(char **words, int out, int err)
{
	char program[64];
	int argc = 0;
	const struct tk_command *c = tk_command_find(words[0]);
	on_exit(command_leave, NULL); /* before the leak checker: the parent's memory is here too */
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	setlocale(LC_CTYPE, "C.UTF-8");
	argp_err_exit_status = TK_EXIT_USAGE;
	tk_globals_get()->program = realpath("/proc/self/exe", NULL);
	while (words[argc])
		argc++;
	if (!c)
		_exit(99);
	snprintf(program, sizeof program, "tracker %s", c->name);
	words[0] = program;
	exit(c->run(tk_globals_get(), argc, words));
}

static inline char *command_output(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fd, text, (size_t)size, 0), size);
	close(fd);
	return text;
}

static inline struct ran run_words(char **words)
{
	int out = memfd_create("out", 0), err = memfd_create("err", 0), how = 0;
	struct ran r;
	fflush(NULL);
	pid_t pid = fork();
	assert_true(out >= 0 && err >= 0 && pid >= 0);
	if (pid == 0)
		command_child(words, out, err);
	assert_int_equal(waitpid(pid, &how, 0), pid);
	r.code = WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
	r.out = command_output(out);
	r.err = command_output(err);
	return r;
}

/* The words of the line are separated by single blanks. */
static inline struct ran run_line(const char *line)
{
	char *copy = strdup(line), *rest = copy, *words[WORDS_MAX + 1] = {NULL};
	for (size_t i = 0; i < WORDS_MAX && rest; i++)
		words[i] = strsep(&rest, " ");
	assert_null(rest);
	struct ran r = run_words(words);
	free(copy);
	return r;
}

static inline void ran_free(struct ran *r)
{
	free(r->out);
	free(r->err);
}

/* Runs the line; fails the test unless it ends with the code and prints both phrases; NULL:
 * nothing at all. */
static inline void expect_line(const char *line, int code, const char *out, const char *err)
{
	struct ran r = run_line(line);
	if (r.code != code || (out ? !strstr(r.out, out) : *r.out != '\0') ||
	        (err ? !strstr(r.err, err) : *r.err != '\0'))
		fail_msg("%s: exit code %d, expected %d\n--- stdout: %.2000s\n--- stderr: %.2000s",
		        line, r.code, code, r.out, r.err);
	ran_free(&r);
}

/* A mistake: exit code 2, nothing on stdout, a message that begins with the command. `git bisect
 * run` stops at a step's exit code over 127 alone. */
static inline void expect_usage(const char *line, const char *message)
{
	struct ran r = run_line(line);
	size_t name = strcspn(line, " ");
	int code = strncmp(line, "bisect-step ", 12) == 0 ? 129 : TK_EXIT_USAGE;
	if (r.code != code || *r.out || strncmp(r.err, "tracker ", 8) != 0 ||
	        strncmp(r.err + 8, line, name) != 0 || !strstr(r.err, message))
		fail_msg("%s: exit code %d\n--- expected: %s\n--- stdout: %.500s\n--- stderr: "
		         "%.500s",
		        line, r.code, message, r.out, r.err);
	ran_free(&r);
}

/* ---- an empty folder for each test ---- */

static inline int command_folder_open(void **state)
{
	char *folder = NULL;
	if (tk_dir_create_temp("/tmp", "tracker-command-", &folder, NULL) || chdir(folder))
		return -1;
	setenv("HOME", folder, 1);
	setenv("TRACKER_CACHE", folder, 1);
	*state = folder;
	return 0;
}

static inline int command_folder_close(void **state)
{
	int status = chdir("/") || tk_dir_remove(*state, NULL);
	free(*state);
	return status;
}

/* A file of the test's folder. */
static inline void write_command_file(const char *path, const char *text)
{
	struct tk_error err = {0};
	if (tk_file_write(path, text, strlen(text), &err))
		fail_msg("%s", err.message);
}

#endif
