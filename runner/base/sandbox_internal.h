/* What the files of the sandbox and spawn.c share. */
#ifndef TK_BASE_SANDBOX_INTERNAL_H
#define TK_BASE_SANDBOX_INTERNAL_H
#include "base/sandbox.h"
#include <linux/filter.h>

#define TK_SANDBOX_FILTER_MAX 400
#define TK_SANDBOX_REPORT_OPTIONS 2
#define TK_SANDBOX_GROUPS_MAX 8

struct tk_sandbox {
	enum tk_sandbox_method method;
	/* bubblewrap: its arguments before "--"; NULL-terminated. The last are the report's. */
	char **prefix;
	size_t prefix_count;
	char **launcher;               /* becomes `user` in it; NULL-terminated, or NULL */
	char *program;                 /* bubblewrap itself */
	int report_read, report_write; /* bubblewrap's report; -1: none */
	char report[512];
	int ruleset;                    /* of Landlock; -1: none */
	unsigned long long file_rights; /* that the ruleset restricts and a writable file needs */
	struct sock_filter filter[TK_SANDBOX_FILTER_MAX];
	unsigned short filter_count;
	uid_t user;              /* and group; 0: the tracker's own */
	bool passes_permissions; /* of files, with Landlock alone to stop it: `user` cannot reach
	                          * what the policy names */
	gid_t groups[TK_SANDBOX_GROUPS_MAX];
	size_t group_count;
	pid_t program_pid;
};

/* Folders of programs, and what describes the machine: readable. NULL-terminated. */
extern const char *const tk_sandbox_shown[];
/* What is hidden even there: folders of users, of temporary files, of sockets; with_private: also
 * files and folders of shown ones that not everybody may read. Resolved paths, NULL-terminated;
 * none is below another one. */
char **tk_sandbox_list_hidden(bool with_private);
/* Folders of PATH and LD_LIBRARY_PATH that are below hidden ones and readable: of ~/tools/bin the
 * whole ~/tools, but never a hidden folder or the home itself. Of ~/.local/bin and ~/.cargo/bin
 * only that folder and what its links lead to. NULL-terminated. */
char **tk_sandbox_list_tools(void);
/* Frees either list; NULL: nothing. */
void tk_sandbox_free_paths(char **paths);
/* A name in /dev: of NVIDIA's driver, of AMD's or of the kernel's for both. */
bool tk_sandbox_is_gpu_node(const char *name);
/* The same path or below it. */
bool tk_sandbox_is_below(const char *path, const char *folder);

/* sandbox_user.c */
/* A user that owns nothing; 0: there is none, or this process is not root. */
uid_t tk_sandbox_find_user(void);
/* Whether everybody may read it, by its mode; with_parents: and reach it. */
bool tk_sandbox_is_public(const char *path, bool with_parents);
/* The same of all that a policy names, and of tools. */
bool tk_sandbox_are_public(
        const struct tk_sandbox_policy *policy, char *const *tools, bool with_parents);
/* Gives a folder with all in it to the user, unless it has it already. */
int tk_sandbox_hand_over(const char *path, uid_t to, struct tk_error *err);
/* Adds the groups that device nodes of GPUs belong to. */
void tk_sandbox_list_gpu_groups(struct tk_sandbox *s);
/* In the child: becomes `user`. System calls only. 0, or -1 with errno. */
int tk_sandbox_drop_privileges(const struct tk_sandbox *s);

/* sandbox_bubblewrap.c */
int tk_sandbox_prepare_bubblewrap(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err);
/* sandbox_methods.c */
int tk_sandbox_prepare_landlock(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err);
bool tk_sandbox_has_filter(void); /* whether this kernel has filters of system calls */
void tk_sandbox_prepare_filter(struct tk_sandbox *s, const struct tk_sandbox_policy *policy);

/* In the child, between fork and exec: system calls only. 0, or -1 with errno. */
int tk_sandbox_enter(struct tk_sandbox *s);

#endif
