/* The description of a Python package, host.json: which Python runs it, and what it does. The
 * reference is docs/reference/python-packages.md. */
#ifndef TK_CORE_PYTHON_PACKAGE_H
#define TK_CORE_PYTHON_PACKAGE_H
#include <stdbool.h>
#include <stdint.h>

struct tk_error;

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
