/* One process at a time: flock on a small file that names its holder. The kernel lets go when the
 * process ends, however it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"

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
	struct tk_lock *lock = tk_calloc(1, sizeof *lock);
	int status = TK_OK;

	lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (lock->fd < 0)
		status = tk_fail_errno(err, "lock file %s", path);
	else if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0)
		status = errno == EWOULDBLOCK ? busy(lock->fd, path, err)
		                              : tk_fail_errno(err, "lock file %s", path);
	if (status) {
		if (lock->fd >= 0)
			close(lock->fd);
		free(lock);
		return status;
	}
	/* The PID is only for messages of other processes; the lock works without it. */
	if (ftruncate(lock->fd, 0) == 0)
		dprintf(lock->fd, "%ld\n", (long)getpid());
	*out = lock;
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
