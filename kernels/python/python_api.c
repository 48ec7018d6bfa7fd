/* See python_api.h. */
#include "python_api.h"
#include "kit.h"
#include <dlfcn.h>

struct python_api python;

int python_api_load(struct tk_abi_error *err)
{
	static const struct {
		const char *name;
		void *to;
	} symbols[] = {
	        {"PyImport_ImportModule", &python.import},
	        {"PyObject_GetAttrString", &python.attribute},
	        {"PyObject_CallObject", &python.call},
	        {"PyObject_CallFunction", &python.call_with},
	        {"PyTuple_GetItem", &python.item},
	        {"PyLong_AsLong", &python.to_long},
	        {"PyLong_AsUnsignedLongLong", &python.to_address},
	        {"PyUnicode_AsUTF8String", &python.to_utf8},
	        {"PyBytes_AsString", &python.bytes},
	        {"PyObject_Str", &python.to_text},
	        {"PyErr_Fetch", &python.fetch_error},
	        {"PyErr_NormalizeException", &python.normalize_error},
	        {"PyErr_Clear", &python.clear_error},
	        {"Py_IncRef", &python.retain},
	        {"Py_DecRef", &python.release},
	        {"_Py_NoneStruct", &python.none},
	};
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);
		if (!symbol)
			return fail(err, TK_ABI_INVALID,
			        "this process is not a Python that the host can use: it has no %s",
			        symbols[i].name);
		memcpy(symbols[i].to, &symbol, sizeof symbol);
	}
	return TK_ABI_OK;
}

void python_copy_text(struct python_object *text, char *out, size_t size)
{
	struct python_object *bytes = text ? python.to_utf8(text) : NULL;
	const char *from = bytes ? python.bytes(bytes) : NULL;
	snprintf(out, size, "%s", from ? from : "");
	for (char *c = out; *c; c++)
		if (*c == '\n')
			*c = ' ';
	if (bytes)
		python.release(bytes);
	python.clear_error();
}

int python_take_error(const char *what, struct tk_abi_error *err)
{
	struct python_object *type = NULL, *value = NULL, *trace = NULL;
	char name[128], message[320];
	python.fetch_error(&type, &value, &trace);
	python.normalize_error(&type, &value, &trace);
	struct python_object *type_name = type ? python.attribute(type, "__name__") : NULL,
	                     *text = value ? python.to_text(value) : NULL;
	python_copy_text(type_name, name, sizeof name);
	python_copy_text(text, message, sizeof message);
	snprintf(err->message, sizeof err->message, "%s%s%s: %s", what, *what ? ": " : "", name,
	        message);
	struct python_object *const held[] = {type_name, text, type, value, trace};
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		if (held[i])
			python.release(held[i]);
	/* MemoryError, OutOfMemoryError, _ArrayMemoryError */
	return strstr(name, "MemoryError") ? TK_ABI_NO_MEMORY : TK_ABI_INTERNAL;
}
