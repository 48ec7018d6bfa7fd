/* The referee: a process that never loads a backend, and decides whether a timing is true.
 *
 * It owns the inputs and outputs of a kernel, in memory that the worker maps as well. For each
 * burst it gives every launch inputs of its own that the kernel has never seen, tells the worker to
 * launch on each of them once and to synchronize, and looks at its own clock. Then it stops the
 * worker, and verifies outputs. docs/explanation/threat-model.md says what that finds.
 *
 * Referee and worker are connected by a socket of packets: the descriptor of the memory with this
 * struct, then one byte a command. The worker answers each with the same byte. Private to
 * worker/. */
#ifndef TK_WORKER_REFEREE_H
#define TK_WORKER_REFEREE_H
#include "tracker_abi.h"

struct tk_referee_memory {
	uint64_t bytes, stride;     /* of all input sets; from one to the next */
	uint64_t offsets[TK_T_MAX]; /* of each tensor in a set */
	uint32_t sets;
};

enum tk_referee_command {
	TK_REFEREE_READY = 'r', /* the worker's answer to the memory */
	TK_REFEREE_BURST = 'b', /* launch on each set once, and synchronize */
	TK_REFEREE_FETCH = 'f', /* fetch the outputs of each set, if the backend has a `fetch` */
	TK_REFEREE_END = 'e'
};

#endif
