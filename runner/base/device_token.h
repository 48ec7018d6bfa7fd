/* Two processes that measure on one device at once, a burst of one after a burst of the other.
 *
 * A socket lies between them and one byte goes to and fro on it: who has it, the baton, may use the
 * device. The kernel closes the socket of a process that ends, however it ends, and then the other
 * one has the device to itself. Where the baton does not come back in time, because the other one
 * hangs or is stopped, it is left behind: should it go on after all it learns that, and has no turn
 * any more. Nobody waits for ever. */
#ifndef TK_BASE_DEVICE_TOKEN_H
#define TK_BASE_DEVICE_TOKEN_H
#include <stdbool.h>
#include <stdint.h>

struct tk_error;

struct tk_device_token {
	int fd; /* -1: alone */
	bool mine;
	bool peer_done; /* what the other one said when it passed it on: it has all that it needs */
	bool met;       /* the other one has had a turn: what it starts with is behind it */
	bool left;      /* the other one did not wait for this one */
	int64_t begin_ns;  /* this long at most it is waited for until it is met */
	int64_t wait_ns;   /* and for a turn afterwards */
	int64_t waited_ns; /* so far */
};

/* One end for each of two processes; the first begins. They are close-on-exec. Who made them closes
 * both when the processes have them: an end that is held here as well would keep the death of a
 * process from the other. */
int tk_device_token_new_pair(int ends[2], struct tk_error *err);

/* A process's own end, from now on the baton's; 0: none, it is alone. TK_EDATA where `fd` is no
 * socket. `begin_s` is for the other one's start, which takes longer than a turn. */
int tk_device_token_open(
        struct tk_device_token *b, int fd, double begin_s, double wait_s, struct tk_error *err);
/* Waits for it, unless it is here. Afterwards the device is this process's, until it passes the
 * baton on; false: this one was left behind, and the device is the other one's. */
bool tk_device_token_acquire(struct tk_device_token *b);
void tk_device_token_release(struct tk_device_token *b, bool enough);
/* Whether the other one needs no more either, so that both can stop, with as many bursts on each
 * side. */
bool tk_device_token_can_stop(const struct tk_device_token *b);
void tk_device_token_close(struct tk_device_token *b);

#endif
