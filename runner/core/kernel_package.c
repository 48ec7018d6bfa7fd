/* See kernel_package.h. */
#include "core/kernel_package.h"

#include "core/problem.h"

#define BACKEND_PREFIX "tk_backend_"
#define PYTHON_PREFIX "python-"

static const char *find_suffix(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? dot + 1 : "";
}

bool tk_kernel_package_is_python(const char *path)
{
	return strncmp(find_suffix(path), PYTHON_PREFIX, strlen(PYTHON_PREFIX)) == 0;
}

enum tk_device_kind tk_kernel_package_device_kind(const char *path)
{
	const char *suffix = find_suffix(path);
	if (tk_kernel_package_is_python(path))
		suffix += strlen(PYTHON_PREFIX);
	return tk_device_kind_from_name(suffix);
}

char *tk_kernel_package_backend(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (strncmp(name, BACKEND_PREFIX, strlen(BACKEND_PREFIX)) == 0)
		name += strlen(BACKEND_PREFIX);
	const char *dot = strrchr(name, '.');
	return dot ? tk_strndup(name, (size_t)(dot - name)) : tk_strdup(name);
}

/* ---- host.json ------------------------------------------------------------------------------- */

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
	p->python = tk_strdup(python);
	p->version = tk_strdup(version ? version : "");
	TRY(read_flag(o, "own_packages", &p->own_packages, err));
	TRY(read_flag(o, "returns_outputs", &p->returns_outputs, err));
	return read_operations(json_object_get(o, "operations"), &p->operations, err);
}

int tk_python_package_read(const char *dir, struct tk_python_package *out, struct tk_error *err)
{
	struct tk_python_package p = {.operations = 0};
	struct tk_error why = {0};
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = tk_path_join(dir, HOST_JSON);
	json_error_t at;
	int status = tk_file_read(path, BYTES_MAX, &text, &why);
	json_t *o = status ? NULL
	                   : json_loadb(tk_buf_cstr(&text), text.len, JSON_REJECT_DUPLICATES, &at);
	if (!status && !o)
		status = tk_fail(&why, TK_EDATA, "%d:%d: %s", at.line, at.column, at.text);
	if (!status)
		status = read_members(o, &p, &why);
	json_decref(o);
	if (!status) {
		*out = p;
		return TK_OK;
	}
	tk_python_package_free(&p);
	return tk_fail(err, TK_EDATA, "%s: %s", path, why.message);
}

void tk_python_package_free(struct tk_python_package *p)
{
	free(p->python);
	free(p->version);
	*p = (struct tk_python_package){.operations = 0};
}
