/* See python_package.h. */
#include "core/python_package.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "core/operation.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define HOST_JSON "host.json"
#define FORMAT 1
#define BYTES_MAX ((size_t)64 << 10)
#define VERSION_MAX 100

/* The name of a file such as "python3", "python3.11". Links are resolved by whoever runs it. */
static bool is_python_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	return *path == '/' && slash && !strncmp(slash + 1, "python", 6) &&
	       strspn(slash + 7, "0123456789.") == strlen(slash + 7) && !strstr(path, "/../");
}

static void copy_text(const char *text, char **out)
{
	*out = tk_strdup(text);
}

static int read_operations(const json_t *list, uint32_t *out, struct tk_error *err)
{
	const json_t *item;
	size_t i;
	if (!list)
		return TK_OK;
	if (!json_is_array(list) || !json_array_size(list))
		return tk_fail(err, TK_EDATA, "\"operations\" is not a list of names");
	json_array_foreach (list, i, item) {
		const char *name = json_string_value(item);
		uint32_t bit = name ? tk_operation_parse(name) : 0;
		if (!bit)
			return tk_fail(
			        err, TK_EDATA, "unknown operation \"%.40s\"", name ? name : "");
		*out |= bit;
	}
	return TK_OK;
}

static int read_flag(const json_t *o, const char *key, bool *out, struct tk_error *err)
{
	const json_t *v = json_object_get(o, key);
	if (v && !json_is_boolean(v))
		return tk_fail(err, TK_EDATA, "\"%s\" is not true or false", key);
	*out = json_is_true(v);
	return TK_OK;
}

static int read_members(const json_t *o, struct tk_python_package *p, struct tk_error *err)
{
	const char *python = json_string_value(json_object_get(o, "python"));
	const char *version =
	        json_string_value(json_object_get(json_object_get(o, "producer"), "version"));
	if (json_integer_value(json_object_get(o, "format")) != FORMAT)
		return tk_fail(err, TK_EDATA, "\"format\" is not %d", FORMAT);
	if (!python || !is_python_path(python))
		return tk_fail(err, TK_EDATA,
		        "\"python\" is not the absolute path of an interpreter, such as "
		        "/usr/bin/python3.11");
	if (version && strlen(version) > VERSION_MAX)
		return tk_fail(err, TK_EDATA, "the version has more than %d bytes", VERSION_MAX);
	copy_text(python, &p->python);
	int status = TK_OK;
	if (!status)
		copy_text(version ? version : "", &p->version);
	if (!status)
		status = read_flag(o, "own_packages", &p->own_packages, err);
	if (!status)
		status = read_flag(o, "returns_outputs", &p->returns_outputs, err);
	return status ? status
	              : read_operations(json_object_get(o, "operations"), &p->operations, err);
}

int tk_python_package_read(const char *dir, struct tk_python_package *out, struct tk_error *err)
{
	struct tk_python_package p = {.operations = 0};
	struct tk_buf text = TK_BUF_INIT;
	json_error_t at;
	char *path = tk_path_join(dir, HOST_JSON);
	int status = tk_file_read(path, BYTES_MAX, &text, err);
	json_t *o = status ? NULL
	                   : json_loadb(text.data ? text.data : "", text.len,
	                             JSON_REJECT_DUPLICATES, &at);
	if (!status && !o)
		status = tk_fail(err, TK_EDATA, "%d:%d: %s", at.line, at.column, at.text);
	if (!status)
		status = read_members(o, &p, err);
	if (status && path)
		tk_error_add_context(err, "%s", path);
	json_decref(o);
	tk_buf_free(&text);
	free(path);
	if (status)
		tk_python_package_free(&p);
	else
		*out = p;
	return status == TK_ENOTFOUND || status == TK_EIO
	               ? (err ? (err->status = TK_EDATA) : TK_EDATA)
	               : status;
}

void tk_python_package_free(struct tk_python_package *p)
{
	free(p->python);
	free(p->version);
	*p = (struct tk_python_package){.operations = 0};
}
