/* What the two files of the hostile backend share: hostile_backend.c has its ways of not doing the
 * work, hostile_process.c those that need the process of the tracker. */
#ifndef HOSTILE_H
#define HOSTILE_H
#include "tracker_abi.h"
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#define SOME_LAUNCHES 20
#define PAGE 4096

struct bound {
	const float *a, *b;
	float *c, *result, *seen; /* seen: A of `result` */
	int is_known;
	atomic_int is_pending;
};

struct tk_plan {
	const struct tk_gemm *gemm;
	const struct cheat *cheat;
	uint32_t sets;
	uint64_t launches;
	int number; /* of this process */
	struct bound bound[];
};

struct cheat {
	const char *name;
	void (*launch)(struct tk_plan *plan, struct bound *t, uint32_t set); /* NULL: honest */
	void (*prepare)(const struct tk_open_args *args);
};

double hostile_now_ns(clockid_t clock); /* by the system call */
void hostile_multiply(const struct tk_plan *plan, const struct bound *t);
void hostile_work_and_remember(const struct tk_plan *plan, struct bound *t);
size_t hostile_c_bytes(const struct tk_plan *plan);
void hostile_start_thread(void *(*function)(void *)); /* once a process */
void hostile_launch_first_plan(struct tk_plan *plan, struct bound *t, uint32_t set);

void hostile_prepare_device_ops(const struct tk_open_args *args);
void hostile_prepare_got(const struct tk_open_args *args);
void hostile_prepare_clock_code(const struct tk_open_args *args);
void hostile_launch_heap_result(struct tk_plan *plan, struct bound *t, uint32_t set);
void hostile_launch_forged(struct tk_plan *plan, struct bound *t, uint32_t set);
void hostile_launch_early_answer(struct tk_plan *plan, struct bound *t, uint32_t set);

#endif
