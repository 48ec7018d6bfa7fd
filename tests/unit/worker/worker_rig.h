/* Real worker processes on the null device, for the tests of jobs. A test program is its own
 * worker: started as `... worker` it serves. */
#ifndef TEST_WORKER_RIG_H
#define TEST_WORKER_RIG_H
#include "base/error.h"
#include "worker/worker.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NULL_DEVICE TK_MODULES "/tk_device_null.so"
#define NULL_BACKEND TK_MODULES "/tk_backend_null.so"
#define PROBLEM "gemm:m=16,n=16,k=16"

extern char *rig_folder, *rig_program, *rig_log_path;

/* A worker with the given specification; what is not set is of the null device and of this
 * program. */
struct tk_worker *worker_with(struct tk_worker_spec spec);
struct tk_job_request request(const char *options); /* of the null backend */
/* Runs a job and fails the test unless outcome and message are as expected. */
void run(struct tk_worker *w, const struct tk_job_request *r, const char *outcome,
        const char *message);
void run_fault(struct tk_worker *w, const char *options, const char *outcome, const char *message);

/* A shell script in the rig's folder that is started in the worker's place; the caller frees its
 * path. FAKE_HELLO: it introduces itself as a worker does, and reads one request. */
char *fake_worker(const char *name, const char *text);
#define FAKE_HELLO_ALONE "echo '{\"hello\":\"tracker-worker\",\"protocol\":2}'; "
#define FAKE_HELLO FAKE_HELLO_ALONE "read line; "

int rig_set_up(void **state);
int rig_tear_down(void **state);
/* Serves if the program was started as a worker, otherwise runs the tests. */
#define RIG_MAIN(tests) \
	int main(int argc, char **argv) \
	{ \
		if (argc > 1 && strcmp(argv[1], "worker") == 0) \
			return tk_worker_serve(0, 1); \
		return cmocka_run_group_tests(tests, rig_set_up, rig_tear_down); \
	}

#endif
