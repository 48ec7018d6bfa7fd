/* See device_token.h. */
#include "base/device_token.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes on the socket; docs/reference/worker-protocol.md. */
#define BEGIN 'b'       /* from begin(): the first turn */
#define MORE 'm'        /* from the peer, which needs more turns */
#define ENOUGH 'e'      /* from the peer, which needs no more */
#define LEFT_BEHIND 'l' /* from the peer, which timed out */

#define POLL_MAX_MS 60000

int tk_device_token_new_pair(int ends[2], struct tk_error *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return tk_fail_errno(err, "a socket between two workers");
	return TK_OK;
}

/* Fails where the process is gone, which its peer notices. */
void tk_device_token_begin(int ends_1)
{
	(void)!send(ends_1, &(char){BEGIN}, 1, MSG_NOSIGNAL);
}

int tk_device_token_open(
        struct tk_device_token *t, int fd, double start_wait_s, double wait_s, struct tk_error *err)
{
	struct stat st;
	*t = (struct tk_device_token){.fd = -1,
	        .start_wait_ns = (int64_t)(start_wait_s * 1e9),
	        .wait_ns = (int64_t)(wait_s * 1e9)};
	if (fd <= 0)
		return TK_OK;
	if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
		return tk_fail(err, TK_EDATA, "descriptor %d is not a socket", fd);
	/* What a backend starts must not keep it open. */
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return tk_fail_errno(err, "descriptor %d", fd);
	t->fd = fd;
	return TK_OK;
}

/* The peer's byte; 0: it is gone; -1: nothing yet. */
static int receive_byte(const struct tk_device_token *t)
{
	char byte;
	ssize_t n = recv(t->fd, &byte, 1, MSG_DONTWAIT);
	if (n == 1)
		return byte;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : 0;
}

static bool send_byte(const struct tk_device_token *t, char byte)
{
	return send(t->fd, &byte, 1, MSG_NOSIGNAL) == 1;
}

static void apply_byte(struct tk_device_token *t, int byte)
{
	bool is_from_peer = byte == MORE || byte == ENOUGH;
	t->is_held = is_from_peer || byte == BEGIN;
	t->peer_started |= is_from_peer;
	t->peer_done = byte == ENOUGH;
	t->is_left_behind = byte == LEFT_BEHIND;
}

/* Excludes the peer if it does not answer until `deadline_ns`, and notifies it. */
static void wait_for_byte(struct tk_device_token *t, int64_t deadline_ns)
{
	for (;;) {
		int byte = receive_byte(t);
		if (byte >= 0) {
			apply_byte(t, byte);
			return;
		}
		int64_t left_ns = deadline_ns - tk_clock_monotonic_ns();
		if (left_ns <= 0) {
			send_byte(t, LEFT_BEHIND);
			return;
		}
		int64_t left_ms = left_ns / 1000000 + 1;
		int wait_ms = left_ms < POLL_MAX_MS ? (int)left_ms : POLL_MAX_MS;
		poll(&(struct pollfd){.fd = t->fd, .events = POLLIN}, 1, wait_ms);
	}
}

bool tk_device_token_acquire(struct tk_device_token *t)
{
	int64_t start_ns = tk_clock_monotonic_ns();
	if (t->fd < 0 || t->is_held)
		return !t->is_left_behind;
	wait_for_byte(t, start_ns + (t->peer_started ? t->wait_ns : t->start_wait_ns));
	if (!t->is_held)
		tk_device_token_close(t);
	t->waited_ns += tk_clock_monotonic_ns() - start_ns;
	return !t->is_left_behind;
}

void tk_device_token_release(struct tk_device_token *t, bool done)
{
	if (t->fd < 0 || !t->is_held)
		return;
	t->is_held = false;
	if (send_byte(t, done ? ENOUGH : MORE))
		return;
	t->is_left_behind = receive_byte(t) == LEFT_BEHIND;
	tk_device_token_close(t);
}

bool tk_device_token_can_stop(const struct tk_device_token *t)
{
	return t->fd < 0 || t->peer_done;
}

void tk_device_token_close(struct tk_device_token *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	t->is_held = false;
}
