/* Whole files, read with a limit and replaced atomically; paths as text; locks. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

int tk_file_read(const char *path, size_t max_bytes, struct tk_buf *out, struct tk_error *err)
{
	char block[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = TK_OK;
	ssize_t n;

	if (fd < 0)
		return tk_fail_errno(err, "%s", path);
	tk_buf_clear(out);
	while (!status && (n = read(fd, block, sizeof block)) != 0) {
		if (n < 0 && errno != EINTR)
			status = tk_fail_errno(err, "%s", path);
		else if (n > 0 && max_bytes && out->len + (size_t)n > max_bytes)
			status = tk_fail(
			        err, TK_EDATA, "%s: larger than %zu bytes", path, max_bytes);
		else if (n > 0)
			tk_buf_add(out, block, (size_t)n);
	}
	if (!status && tk_buf_status(out, err))
		status = tk_error_add_context(err, "%s", path);
	close(fd);
	return status;
}

bool tk_file_write_fd(int fd, const void *data, size_t len)
{
	for (const char *at = data; len > 0;) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Devices and pipes (--output=/dev/stdout) are written as they are: a rename would replace them. */
static int write_special(const char *path, const void *data, size_t len, struct tk_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && tk_file_write_fd(fd, data, len);
	int status = done ? TK_OK : tk_fail_errno(err, "writing %s", path);

	if (fd >= 0)
		close(fd);
	return status;
}

/* A new file beside `path`, with the mode that the umask gives (mkstemp would make it 0600). */
static int open_sibling(const char *path, char temp[PATH_MAX])
{
	unsigned long long random;
	int fd = -1;

	do {
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			return -1;
		if (snprintf(temp, PATH_MAX, "%s.tmp%012llx", path, random & 0xffffffffffffULL) >=
		        PATH_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

/* The rename itself is only on the disk when the folder is. */
static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX] = ".";
	int fd;

	if (slash)
		snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path),
		        path);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int replace(const char *path, const struct stat *old, const void *data, size_t len,
        bool durable, struct tk_error *err)
{
	char temp[PATH_MAX];
	int fd = open_sibling(path, temp), status = TK_OK;

	if (fd < 0)
		return tk_fail_errno(err, "writing %.200s", path);
	bool done = tk_file_write_fd(fd, data, len);
	if (done && old)
		fchmod(fd, old->st_mode & 0777);
	done = done && (!durable || fsync(fd) == 0);
	if (!done || close(fd) != 0 || rename(temp, path) != 0)
		status = tk_fail_errno(err, "writing %s", path);
	if (!done)
		close(fd);
	if (status)
		unlink(temp);
	else if (durable)
		sync_parent(path);
	return status;
}

static int write_whole(
        const char *path, const void *data, size_t len, bool durable, struct tk_error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (stat(path, &st) != 0)
		return replace(path, NULL, data, len, durable, err);
	if (!S_ISREG(st.st_mode))
		return write_special(path, data, len, err);
	/* The target of a link is replaced, not the link. */
	return replace(realpath(path, real) ? real : path, &st, data, len, durable, err);
}

int tk_file_write(const char *path, const void *data, size_t len, struct tk_error *err)
{
	return write_whole(path, data, len, true, err);
}

int tk_file_write_nosync(const char *path, const void *data, size_t len, struct tk_error *err)
{
	return write_whole(path, data, len, false, err);
}

int tk_file_open_regular(int dir_fd, const char *name, struct tk_error *err)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno != ELOOP && errno != ENXIO)
		return tk_fail_errno(err, "%s", name);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return tk_fail(err, TK_EDATA, "%s is not a regular file", name);
}

bool tk_file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

bool tk_dir_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- paths ----------------------------------------------------------------------------------- */

char *tk_path_join(const char *a, const char *b)
{
	size_t n = strlen(a);

	if (*b == '/' || n == 0)
		return tk_strdup(b);
	return tk_sprintf(a[n - 1] == '/' ? "%s%s" : "%s/%s", a, b);
}

char *tk_path_join3(const char *a, const char *b, const char *c)
{
	AUTO_TEXT ab = tk_path_join(a, b);

	return tk_path_join(ab, c);
}

/* Appends the components of `path` to the absolute path in `out`, taking . and .. by their letters.
 */
static void append_components(struct tk_buf *out, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (out->len > 0 && out->data[--out->len] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			tk_buf_add_char(out, '/');
			tk_buf_add(out, path, n);
		}
		path += n + (path[n] == '/');
	}
}

char *tk_path_make_absolute(const char *path)
{
	struct tk_buf out = TK_BUF_INIT;
	char cwd[PATH_MAX];

	if (*path != '/' && getcwd(cwd, sizeof cwd))
		append_components(&out, cwd);
	append_components(&out, path);
	if (out.len == 0)
		tk_buf_add_char(&out, '/');
	return tk_buf_detach(&out, NULL);
}

#define SLUG_MAX 80
#define SLUG_HASH 10

static bool slug_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

char *tk_path_make_slug(const char *name)
{
	struct tk_buf out = TK_BUF_INIT;
	char hex[TK_HASH_HEX_SIZE];
	size_t n = strlen(name);
	/* A name that starts with a dot or a dash would be hidden, or an option. */
	bool changed = n > SLUG_MAX || n == 0 || *name == '.' || *name == '-';

	for (size_t i = 0; i < n && i < SLUG_MAX - SLUG_HASH - 1; i++) {
		bool is_safe = slug_char(name[i]) && (i || (*name != '.' && *name != '-'));

		tk_buf_add_char(&out, is_safe ? name[i] : '_');
	}
	for (size_t i = 0; i < n; i++)
		changed = changed || !slug_char(name[i]);
	if (!changed) {
		tk_buf_free(&out);
		return tk_strdup(name);
	}
	tk_hash_bytes(name, n, hex);
	tk_buf_add_printf(&out, out.len ? "-%.*s" : "_%.*s", SLUG_HASH, hex);
	return tk_buf_detach(&out, NULL);
}

char *tk_path_cache_dir(const char *sub)
{
	const char *own = getenv("TRACKER_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
	           *home = getenv("HOME");

	if (own && *own)
		return tk_path_join(own, sub);
	if (xdg && *xdg == '/')
		return tk_path_join3(xdg, "tracker", sub);
	return tk_path_join3(tk_text_or(home, "/tmp"), ".cache/tracker", sub);
}

char *tk_path_resolve(const char *root, const char *text)
{
	const char *home = getenv("HOME");
	bool in_home = strncmp(text, "~/", 2) == 0 && home && *home;
	AUTO_TEXT joined = in_home ? tk_path_join(home, text + 2) : tk_path_join(root, text);

	return tk_path_make_absolute(joined);
}

/* Cuts the last component off; "" when there is none left. */
static void cut_component(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

/* ../share/tracker from the program: where `cmake --install` puts the data. Computed once. */
static const char *installed_dir(void)
{
	static const char share[] = "/share/tracker";
	static char path[PATH_MAX];
	char program[PATH_MAX - sizeof share] = "";

	if (*path)
		return path;
	if (readlink("/proc/self/exe", program, sizeof program - 1) > 0) {
		cut_component(program);
		cut_component(program);
	}
	snprintf(path, sizeof path, "%s%s", program, share);
	return path;
}

const char *tk_path_data_dir(void)
{
	const char *chosen = getenv("TRACKER_DATADIR");

	if (chosen && *chosen)
		return chosen;
	return tk_dir_exists(installed_dir()) ? installed_dir() : TK_BUILT_DATADIR;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* flock on a small file that names its holder. The kernel lets go when the process ends, however it
 * ends. */
struct tk_lock {
	int fd;
};

static int busy(int fd, const char *path, struct tk_error *err)
{
	char pid[32] = "";
	ssize_t n = pread(fd, pid, sizeof pid - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	return tk_fail(err, TK_EBUSY, "another tracker (process %s) is at work here: it holds %s",
	        *pid ? pid : "?", path);
}

int tk_lock_acquire(const char *path, struct tk_lock **out, struct tk_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
		int status = fd >= 0 && errno == EWOULDBLOCK
		                     ? busy(fd, path, err)
		                     : tk_fail_errno(err, "lock file %s", path);

		if (fd >= 0)
			close(fd);
		return status;
	}
	/* The PID is only for messages of other processes; the lock works without it. */
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, "%ld\n", (long)getpid());
	*out = tk_calloc(1, sizeof **out);
	(*out)->fd = fd;
	return TK_OK;
}

/* Retries every 50 ms: the holder keeps it for seconds or minutes. */
int tk_lock_wait(const char *path, double deadline_s, struct tk_lock **out, struct tk_error *err)
{
	const int64_t end = tk_clock_monotonic_ns() + (int64_t)(deadline_s * 1e9);
	int status;

	while ((status = tk_lock_acquire(path, out, err)) == TK_EBUSY &&
	        tk_clock_monotonic_ns() < end) {
		if (tk_cancel_is_requested())
			return tk_fail(
			        err, TK_ECANCELED, "stopped while waiting for the lock %s", path);
		tk_clock_sleep_ns(50 * 1000 * 1000);
	}
	return status;
}

/* The holder empties the file on release: only after a kill the kernel has to be asked who holds
 * it. */
bool tk_lock_is_held(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char c;
	bool held = fd >= 0 && pread(fd, &c, 1, 0) == 1 && flock(fd, LOCK_SH | LOCK_NB) != 0 &&
	            errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return held;
}

/* The file is not removed: removing it would let two processes lock two files of one name. */
void tk_lock_release(struct tk_lock *lock)
{
	if (!lock)
		return;
	if (ftruncate(lock->fd, 0) != 0)
		errno = 0;
	close(lock->fd);
	free(lock);
}
