/* See baton.h. */
#include "base/device_token.h"
#include "base/clock.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGIN 'b' /* of nobody: the first turn */
#define MORE 'm'
#define ENOUGH 'e'
#define LEFT 'l'
#define LOOK_AGAIN_MS 60000

int tk_device_token_new_pair(int ends[2], struct tk_error *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return tk_fail_errno(err, "a socket between two workers");
	if (send(ends[1], &(char){BEGIN}, 1, MSG_NOSIGNAL) == 1)
		return TK_OK;
	int status = tk_fail_errno(err, "a socket between two workers");
	close(ends[0]);
	close(ends[1]);
	return status;
}

int tk_device_token_open(
        struct tk_device_token *b, int fd, double begin_s, double wait_s, struct tk_error *err)
{
	struct stat st;
	*b = (struct tk_device_token){
	        .fd = -1, .begin_ns = (int64_t)(begin_s * 1e9), .wait_ns = (int64_t)(wait_s * 1e9)};
	if (fd <= 0)
		return TK_OK;
	if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
		return tk_fail(err, TK_EDATA, "descriptor %d is no socket to another worker", fd);
	fcntl(fd, F_SETFD, FD_CLOEXEC); /* what a backend starts must not hold it open */
	b->fd = fd;
	return TK_OK;
}

/* What the other one said: a byte, 0: it is gone, -1: nothing yet. */
static int hear(const struct tk_device_token *b)
{
	char said;
	ssize_t n = recv(b->fd, &said, 1, MSG_DONTWAIT);
	return n == 1 ? said : n < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : 0;
}

static bool tell(const struct tk_device_token *b, char what)
{
	return send(b->fd, &what, 1, MSG_NOSIGNAL) == 1;
}

static void hear_in_time(struct tk_device_token *b, int64_t until)
{
	for (int said;;) {
		if ((said = hear(b)) >= 0) {
			bool from_other = said == MORE || said == ENOUGH;
			b->mine = from_other || said == BEGIN;
			b->met |= from_other;
			b->peer_done = said == ENOUGH;
			b->left = said == LEFT;
			return;
		}
		int64_t left_ns = until - tk_clock_monotonic_ns();
		if (left_ns <= 0) {
			tell(b, LEFT);
			return;
		}
		int left_ms = left_ns < LOOK_AGAIN_MS * 1000000ll ? (int)(left_ns / 1000000) + 1
		                                                  : LOOK_AGAIN_MS;
		poll(&(struct pollfd){.fd = b->fd, .events = POLLIN}, 1, left_ms);
	}
}

bool tk_device_token_acquire(struct tk_device_token *b)
{
	int64_t start = tk_clock_monotonic_ns();
	if (b->fd < 0 || b->mine)
		return !b->left;
	hear_in_time(b, start + (b->met ? b->wait_ns : b->begin_ns));
	if (!b->mine)
		tk_device_token_close(b);
	b->waited_ns += tk_clock_monotonic_ns() - start;
	return !b->left;
}

void tk_device_token_release(struct tk_device_token *b, bool enough)
{
	if (b->fd < 0 || !b->mine)
		return;
	b->mine = false;
	if (tell(b, enough ? ENOUGH : MORE))
		return;
	b->left = hear(b) == LEFT;
	tk_device_token_close(b);
}

bool tk_device_token_can_stop(const struct tk_device_token *b)
{
	return b->fd < 0 || b->peer_done;
}

void tk_device_token_close(struct tk_device_token *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	b->mine = false;
}
