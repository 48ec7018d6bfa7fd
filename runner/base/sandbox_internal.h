/* What the files of the sandbox and spawn.c share. */
#ifndef TK_BASE_SANDBOX_INTERNAL_H
#define TK_BASE_SANDBOX_INTERNAL_H
#include "base/sandbox.h"
#include <linux/filter.h>

#define TK_SANDBOX_FILTER_MAX 400
#define TK_SANDBOX_REPORT_OPTIONS 2

struct tk_sandbox {
	enum tk_sandbox_method method;
	/* bubblewrap: its arguments before "--"; NULL-terminated. The last are the report's. */
	char **prefix;
	size_t prefix_count;
	char *program;                 /* bubblewrap itself */
	int report_read, report_write; /* bubblewrap's report; -1: none */
	char report[512];
	int ruleset;                    /* of Landlock; -1: none */
	unsigned long long file_rights; /* that the ruleset restricts and a writable file needs */
	struct sock_filter filter[TK_SANDBOX_FILTER_MAX];
	unsigned short filter_count;
	pid_t program_pid;
};

/* Folders that are hidden from the sandbox: of users, of temporary files, of sockets. At most
 * TK_SANDBOX_HIDDEN_MAX resolved paths, NULL-terminated; none is below another one. */
#define TK_SANDBOX_HIDDEN_MAX 12
void tk_sandbox_list_hidden(char *out[TK_SANDBOX_HIDDEN_MAX + 1]);
/* Folders of PATH and LD_LIBRARY_PATH that are below hidden ones and readable: of ~/tools/bin the
 * whole ~/tools, but never a hidden folder or the home itself. Of ~/.local/bin and ~/.cargo/bin
 * only that folder and what its links lead to. NULL-terminated; the caller frees each. */
#define TK_SANDBOX_TOOLS_MAX 128
void tk_sandbox_list_tools(char *out[TK_SANDBOX_TOOLS_MAX + 1]);
/* Of either list. */
void tk_sandbox_free_paths(char **paths);
/* A name in /dev: of NVIDIA's driver, of AMD's or of the kernel's for both. */
bool tk_sandbox_is_gpu_node(const char *name);
/* The same path or below it. */
bool tk_sandbox_is_below(const char *path, const char *folder);

/* sandbox_methods.c */
int tk_sandbox_prepare_bubblewrap(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err);
int tk_sandbox_prepare_landlock(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err);
void tk_sandbox_prepare_filter(struct tk_sandbox *s, const struct tk_sandbox_policy *policy);

/* In the child, between fork and exec: system calls only. 0, or -1 with errno. */
int tk_sandbox_enter(struct tk_sandbox *s);

#endif
