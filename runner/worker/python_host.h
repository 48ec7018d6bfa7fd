/* How the worker of a Python package is started: inside the Python that the package names, which
 * then loads the worker as a library (tk_python_worker.so). Private to worker/. */
#ifndef TK_WORKER_PYTHON_HOST_H
#define TK_WORKER_PYTHON_HOST_H

struct tk_error;

#define TK_PYTHON_HOST_ARGS_MAX 10
#define TK_PYTHON_HOST_FOLDERS_MAX 10

struct tk_python_host {
	char *program;                             /* the interpreter */
	const char *argv[TK_PYTHON_HOST_ARGS_MAX]; /* NULL-terminated */
	/* What a sandbox must show of the Python and its environment, NULL-terminated. */
	char *folders[TK_PYTHON_HOST_FOLDERS_MAX];
	char *library; /* tk_python_worker.so */
};

/* Reads host.json of a package. TK_EDATA, TK_ENOTFOUND: it cannot be used, or its Python is not on
 * this machine. `modules_dir` has the library; NULL: TK_ENOTFOUND. */
int tk_python_host_open(const char *package, const char *modules_dir, struct tk_python_host *out,
        struct tk_error *err);
void tk_python_host_free(struct tk_python_host *h);

#endif
