/* tk_python_worker.so: the worker as a library, which a Python process loads with ctypes.PyDLL, so
 * that it holds the interpreter's lock. Nothing here needs Python itself: the backend that calls it
 * (kernels/python) finds the interpreter in its process. */
#include "worker/worker.h"
#include <stdio.h>
#include <unistd.h>

__attribute__((visibility("default"))) void tk_python_worker_main(void);

/* Libraries such as PyTorch do not always survive the end of the interpreter. */
void tk_python_worker_main(void)
{
	int code = tk_worker_serve(STDIN_FILENO, STDOUT_FILENO);
	fflush(NULL);
	_exit(code);
}
