/* Decides which of two processes may use a device that both measure on: their bursts alternate.
 *
 * A socket connects the two, and one byte goes back and forth: whoever received it last holds the
 * token. The kernel closes the socket of a process that ends, however it ends, and the other one
 * has the device alone from then on. A process that does not return the token in time, because it
 * hangs or is stopped, is excluded: its peer continues alone, and if the process ever resumes, its
 * next acquire returns false. No process waits forever. */
#ifndef TK_BASE_DEVICE_TOKEN_H
#define TK_BASE_DEVICE_TOKEN_H
#include "base/base.h"

struct tk_device_token {
	int fd; /* -1: no peer (any more) */
	bool is_held;
	bool peer_done;        /* the peer's last byte: it needs no more turns */
	bool peer_started;     /* the peer has had a turn, so its start-up is over */
	bool is_left_behind;   /* the peer did not wait for this process */
	int64_t start_wait_ns; /* limit of a wait until the peer has started */
	int64_t wait_ns;       /* limit of a wait afterwards */
	int64_t waited_ns;     /* sum of all waits */
};

/* One end for each process; ends[0] has the first turn, once it is given. They are close-on-exec.
 * Close ends[0] here once its process has it, and ends[1] after giving the first turn: a copy would
 * keep the end of a process from its peer. */
int tk_device_token_new_pair(int ends[2], struct tk_error *err);
/* Gives the first turn. */
void tk_device_token_begin(int ends_1);

/* Takes over `fd`, this process's end; 0: no peer. TK_EDATA if it is not a socket. start_wait_s is
 * for the peer's start-up, which takes longer than a turn. *t is valid and may be closed in any
 * case. */
int tk_device_token_open(struct tk_device_token *t, int fd, double start_wait_s, double wait_s,
        struct tk_error *err);
/* Waits for the token unless it is held. true: the device is this process's until release. false:
 * this process was excluded and must not use the device. */
bool tk_device_token_acquire(struct tk_device_token *t);
/* Passes the token on. `done`: this process needs no more turns. */
void tk_device_token_release(struct tk_device_token *t, bool done);
/* The peer is done or gone. Both stop when both are done, after as many bursts on each side. */
bool tk_device_token_can_stop(const struct tk_device_token *t);
void tk_device_token_close(struct tk_device_token *t);

#endif
