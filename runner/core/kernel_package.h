/* Backends that are folders in place of a shared object:
 * - compiled kernel packages, code objects with manifests, which the launcher (kernels/launcher)
 *   measures (docs/explanation/compiled-kernels.md);
 * - Python packages, an adapter in Python with the library that it calls, which the Python host
 *   (kernels/python) measures (docs/explanation/python-libraries.md). */
#ifndef TK_CORE_KERNEL_PACKAGE_H
#define TK_CORE_KERNEL_PACKAGE_H
#include "core/vocabulary.h"

/* The kind of device that a package is for, by the end of its folder's name: ".cuda", ".hip",
 * ".cpu" (or ".null", for tests), ".python-cpu", ".python-cuda". TK_DEVICE_OTHER: the path is not
 * that of a package. */
enum tk_device_kind tk_kernel_package_device_kind(const char *path);
bool tk_kernel_package_is_python(const char *path);

/* "triton" of "/a/tk_backend_triton.cuda": the backend, which the launcher does not know. New
 * string. */
char *tk_kernel_package_backend(const char *path);

/* The description of a Python package, host.json: which Python runs it, and what it does. The
 * reference is docs/reference/python-packages.md. */
struct tk_python_package {
	char *python;         /* the interpreter, an absolute path */
	char *version;        /* of the library; "" if it is not known */
	bool own_packages;    /* uses what is installed in its Python */
	bool returns_outputs; /* the library makes its outputs itself */
	uint32_t operations;  /* enum tk_operation bits; 0: not declared */
};

/* Every value is checked: the description may come from another machine. TK_EDATA: it cannot be
 * used. Free with tk_python_package_free. */
int tk_python_package_read(const char *dir, struct tk_python_package *out, struct tk_error *err);
void tk_python_package_free(struct tk_python_package *p);

#endif
