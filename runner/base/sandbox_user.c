/* Who a program is in the sandbox. Root's programs become a user that owns nothing on the machine,
 * so that the kernel keeps from them what not everybody may read, and all capabilities end. */
#include <errno.h>
#include <fts.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox_internal.h"

/* No distribution gives these to people, services or containers. */
#define FIRST_USER 64990u
#define LAST_USER 65520u

static pthread_once_t found = PTHREAD_ONCE_INIT;
static uid_t user;

static bool is_free(uid_t id)
{
	char names[4096];
	struct passwd p, *known = NULL;
	struct group g, *group = NULL;

	getpwuid_r(id, &p, names, sizeof names, &known);
	getgrgid_r(id, &g, names, sizeof names, &group);
	return !known && !group;
}

/* In a container it may not be allowed, or the ID may not be there. The IDs for files are the
 * calling thread's alone, and as hard to get as the others. */
static bool can_become(uid_t id)
{
	bool can;

	syscall(SYS_setfsgid, id);
	syscall(SYS_setfsuid, id);
	can = (uid_t)syscall(SYS_setfsgid, -1) == id && (uid_t)syscall(SYS_setfsuid, -1) == id;
	syscall(SYS_setfsuid, geteuid());
	syscall(SYS_setfsgid, getegid());
	return can;
}

static void find_user(void)
{
	uid_t id = FIRST_USER;

	while (id < LAST_USER && !is_free(id))
		id++;
	if (geteuid() == 0 && can_become(id))
		user = id;
}

uid_t tk_sandbox_find_user(void)
{
	pthread_once(&found, find_user);
	return user;
}

static bool is_open(const char *path, mode_t wanted)
{
	struct stat st;

	return stat(path, &st) != 0 || (st.st_mode & wanted) == wanted;
}

/* Changes `real`. */
static bool can_be_reached(char *real)
{
	for (char *slash; (slash = strrchr(real, '/')) && slash > real;) {
		*slash = '\0';
		if (!is_open(real, S_IXOTH))
			return false;
	}
	return true;
}

bool tk_sandbox_is_public(const char *path, bool with_parents)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return true; /* there is nothing to read */
	return is_open(real, tk_dir_exists(real) ? S_IROTH | S_IXOTH : S_IROTH) &&
	       (!with_parents || can_be_reached(real));
}

bool tk_sandbox_are_public(
        const struct tk_sandbox_policy *policy, char *const *tools, bool with_parents)
{
	char real[PATH_MAX];
	bool all = true;

	for (; *tools; tools++)
		all &= tk_sandbox_is_public(*tools, with_parents);
	for (const char *const *p = policy->readable; p && *p; p++)
		all &= tk_sandbox_is_public(*p, with_parents);
	for (const char *const *p = policy->writable; p && *p && with_parents; p++)
		all &= !realpath(*p, real) || can_be_reached(real);
	for (const struct tk_sandbox_mount *m = policy->mounts; m && m->from; m++)
		all &= m->writable || tk_sandbox_is_public(m->from, with_parents);
	return all;
}

int tk_sandbox_hand_over(const char *path, uid_t to, struct tk_error *err)
{
	char *const paths[] = {(char *)path, NULL};
	struct stat st;
	FTSENT *e;
	FTS *tree;
	int status = TK_OK;

	if (stat(path, &st) != 0 || st.st_uid == to)
		return TK_OK;
	tree = tk_check_memory(fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL));
	while (!status && (e = fts_read(tree)))
		if (e->fts_info != FTS_D && lchown(e->fts_path, to, to) != 0 && errno != ENOENT)
			status = tk_fail_errno(
			        err, "cannot give %s to the sandbox's user", e->fts_path);
	fts_close(tree);
	return status;
}

void tk_sandbox_list_gpu_groups(struct tk_sandbox *s)
{
	static const char *const folders[] = {"/dev", "/dev/dri"};

	for (size_t i = 0; s->user && i < sizeof folders / sizeof *folders; i++) {
		char **names = NULL;
		size_t count = 0;

		if (tk_dir_list(folders[i], &names, &count, NULL))
			continue;
		for (size_t k = 0; k < count && s->group_count < TK_SANDBOX_GROUPS_MAX; k++) {
			AUTO_TEXT path = tk_path_join(folders[i], names[k]);
			struct stat st;

			if ((i || tk_sandbox_is_gpu_node(names[k])) && stat(path, &st) == 0 &&
			        S_ISCHR(st.st_mode) && st.st_gid && !(st.st_mode & S_IROTH))
				s->groups[s->group_count++] = st.st_gid;
		}
		tk_names_free(names, count);
	}
}

/* Passes over the permissions of files and folders: of reading, or where a container's root has
 * that capability alone, of all. */
static unsigned find_passing_capability(const struct __user_cap_data_struct *caps)
{
	return caps[0].permitted & 1u << CAP_DAC_READ_SEARCH ? CAP_DAC_READ_SEARCH
	                                                     : CAP_DAC_OVERRIDE;
}

int tk_sandbox_drop_privileges(const struct tk_sandbox *s)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2] = {{0}};
	unsigned kept;

	if (syscall(SYS_capget, &head, caps) != 0)
		return -1;
	kept = s->passes_permissions ? 1u << find_passing_capability(caps) : 0;
	/* Only root can, and only root needs it. What is to be inherited must stay. */
	for (int c = 0; c < 64 && prctl(PR_CAPBSET_READ, c) >= 0; c++)
		if (c > 31 || !(kept & 1u << c))
			prctl(PR_CAPBSET_DROP, c);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Keeps it for access() too. */
	if (kept && prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0)
		return -1;
	if (s->user && (syscall(SYS_setgroups, s->group_count, s->groups) != 0 ||
	                       syscall(SYS_setresgid, s->user, s->user, s->user) != 0 ||
	                       syscall(SYS_setresuid, s->user, s->user, s->user) != 0))
		return -1;
	memset(caps, 0, sizeof caps);
	caps[0].permitted = caps[0].effective = caps[0].inheritable = kept;
	if (syscall(SYS_capset, &head, caps) != 0)
		return -1;
	return kept ? prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, __builtin_ctz(kept), 0, 0) : 0;
}
