/* JSON -> struct launcher_manifest. */
#include "launcher.h"
#include <jansson.h>
#include <strings.h>

/* ---- values ---- */

static int read_text(
        const json_t *o, const char *key, char *out, size_t size, struct tk_abi_error *err)
{
	const json_t *v = json_object_get(o, key);
	const char *text = json_string_value(v);
	size_t len = json_string_length(v);
	if (!text || len == 0 || len >= size || strlen(text) != len)
		return fail(err, TK_ABI_INVALID,
		        "\"%s\" is missing or not a text of 1 to %zu bytes", key, size - 1);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return fail(err, TK_ABI_INVALID, "\"%s\" has a control character", key);
	memcpy(out, text, len + 1);
	return TK_ABI_OK;
}

static int to_number(const json_t *v, const char *key, uint64_t least, uint64_t most, uint64_t *out,
        struct tk_abi_error *err)
{
	json_int_t n = json_integer_value(v);
	if (!json_is_integer(v) || n < 0 || (uint64_t)n < least || (uint64_t)n > most)
		return fail(err, TK_ABI_INVALID,
		        "\"%s\" is missing or not a whole number from %llu to %llu", key,
		        (unsigned long long)least, (unsigned long long)most);
	*out = (uint64_t)n;
	return TK_ABI_OK;
}

static int read_flag(
        const json_t *o, const char *key, bool fallback, bool *out, struct tk_abi_error *err)
{
	const json_t *v = json_object_get(o, key);
	*out = v ? json_is_true(v) : fallback;
	return !v || json_is_boolean(v)
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_INVALID, "\"%s\" is not true or false", key);
}

/* As to_number, of a member of an object with at most 32 bits; fallback -1: it is required. */
static int read_number(const json_t *o, const char *key, uint64_t most, int fallback, uint32_t *out,
        struct tk_abi_error *err)
{
	const json_t *v = json_object_get(o, key);
	uint64_t wide = (uint64_t)fallback;
	if (v || fallback < 0)
		TRY(to_number(v, key, 0, most, &wide, err));
	*out = (uint32_t)wide;
	return TK_ABI_OK;
}

/* A list of `count` numbers from 1 on. */
static int read_numbers(const json_t *o, const char *key, size_t count, uint64_t most,
        uint64_t *out, struct tk_abi_error *err)
{
	const json_t *list = json_object_get(o, key);
	if (json_array_size(list) != count)
		return fail(err, TK_ABI_INVALID, "\"%s\" is missing or not a list of %zu numbers",
		        key, count);
	for (size_t i = 0; i < count; i++)
		TRY(to_number(json_array_get(list, i), key, 1, most, &out[i], err));
	return TK_ABI_OK;
}

/* As read_numbers, of 32 bits. */
static int read_sides(const json_t *o, const char *key, size_t count, uint64_t most, uint32_t *out,
        struct tk_abi_error *err)
{
	uint64_t wide[5];
	TRY(read_numbers(o, key, count, most, wide, err));
	for (size_t i = 0; i < count; i++)
		out[i] = (uint32_t)wide[i];
	return TK_ABI_OK;
}

/* ---- types ---- */

static const struct type {
	const char *name;
	uint32_t bytes;
	bool is_float;
	uint32_t dtype; /* of a tensor map; 0: not possible there */
} types[] = {
        {"i8", 1, false, 0},
        {"i16", 2, false, 0},
        {"i32", 4, false, TK_I32},
        {"i64", 8, false, 0},
        {"f16", 2, false, TK_F16},
        {"bf16", 2, false, TK_BF16},
        {"e4m3", 1, false, TK_E4M3},
        {"e5m2", 1, false, TK_E5M2},
        {"f32", 4, true, TK_F32},
        {"f64", 8, true, 0},
};

static const struct type *find_type(const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "type"));
	for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

/* ---- arguments ---- */

/* Indices as in enum tk_tensor_id. */
static int find_tensor(
        const char *problem, const json_t *name, uint32_t *out, struct tk_abi_error *err)
{
	static const struct {
		const char *op;
		const char *tensors[TK_T_MAX + 1];
	} ops[] = {
	        {"gemm:", {"A", "B", "C"}},
	        {"attention:", {"Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV"}},
	        {"nsa:", {"Q", "K", "V", "O", "blocks"}},
	        {"copy:", {"in", "out"}},
	        {"read:", {"in", "out"}},
	        {"fma:", {"in", "out"}},
	};
	const char *text = json_string_value(name);
	for (size_t i = 0; text && i < sizeof ops / sizeof *ops; i++) {
		if (strncmp(problem, ops[i].op, strlen(ops[i].op)) != 0)
			continue;
		for (uint32_t t = 0; ops[i].tensors[t]; t++)
			if (strcasecmp(ops[i].tensors[t], text) == 0) {
				*out = t;
				return TK_ABI_OK;
			}
	}
	return fail(err, TK_ABI_INVALID, "\"%.40s\" is not a tensor of this problem",
	        text ? text : "?");
}

static int read_value(const json_t *o, struct launcher_arg *a, struct tk_abi_error *err)
{
	const struct type *type = find_type(o);
	const json_t *v = json_object_get(o, "value");
	if (!type || (!type->is_float && type->name[0] != 'i'))
		return fail(err, TK_ABI_INVALID,
		        "the type of a value is not one of i8, i16, i32, i64, f32, f64");
	a->bytes = type->bytes;
	if (type->is_float) {
		double wide = json_number_value(v);
		float narrow = (float)wide;
		memcpy(a->value, type->bytes == 8 ? (void *)&wide : (void *)&narrow, type->bytes);
		return json_is_number(v) ? TK_ABI_OK
		                         : fail(err, TK_ABI_INVALID, "a value is not a number");
	}
	json_int_t n = json_integer_value(v);
	json_int_t limit = type->bytes == 8 ? INT64_MAX : ((json_int_t)1 << (8 * type->bytes)) - 1;
	if (!json_is_integer(v) || n > limit || (type->bytes < 8 && n < -(limit / 2) - 1))
		return fail(
		        err, TK_ABI_INVALID, "a value does not fit into its type %s", type->name);
	memcpy(a->value, &n, type->bytes); /* little-endian, as all hosts of these devices */
	return TK_ABI_OK;
}

static int check_map(const struct launcher_tensor_map *m, struct tk_abi_error *err)
{
	const uint32_t s = m->swizzle_bytes, l2 = m->l2_promotion_bytes;
	uint64_t elements = 1;
	for (uint32_t i = 0; i < m->rank; i++)
		elements *= m->box[i]; /* at most 2^40 */
	if ((s && s != 32 && s != 64 && s != 128) || (l2 && l2 != 64 && l2 != 128 && l2 != 256))
		return fail(err, TK_ABI_INVALID,
		        "\"swizzle\" is not 0, 32, 64 or 128, or \"l2_promotion\" not 0, 64, 128 "
		        "or 256");
	if (elements * m->strides_bytes[0] > 232448 || (s && m->box[0] * m->strides_bytes[0] > s))
		return fail(err, TK_ABI_INVALID,
		        "the box of a tensor map is larger than shared memory or the swizzle");
	for (uint32_t i = 1; i < m->rank; i++)
		if (m->strides_bytes[i] % 16)
			return fail(err, TK_ABI_INVALID,
			        "a stride of a tensor map is not a multiple of 16 bytes");
	return TK_ABI_OK;
}

static int read_map(const json_t *o, struct launcher_arg *a, struct tk_abi_error *err)
{
	struct launcher_tensor_map *m = &a->map;
	const struct type *type = find_type(o);
	const json_t *oob = json_object_get(o, "oob_fill");
	const char *fill = oob ? json_string_value(oob) : "zero";
	m->rank = (uint32_t)json_array_size(json_object_get(o, "dims"));
	if (!type || !type->dtype)
		return fail(err, TK_ABI_INVALID,
		        "the type of a tensor map is not one of i32, f16, bf16, e4m3, e5m2, f32");
	if (m->rank < 1 || m->rank > 5)
		return fail(err, TK_ABI_INVALID, "a tensor map has %u \"dims\", expected 1 to 5",
		        m->rank);
	if (!fill || (strcmp(fill, "zero") && strcmp(fill, "nan")))
		return fail(err, TK_ABI_INVALID, "\"oob_fill\" is not zero or nan");
	m->dtype = type->dtype;
	m->nan_fill = fill[0] == 'n';
	m->strides_bytes[0] = type->bytes;
	a->bytes = LAUNCHER_TENSOR_MAP_BYTES;
	TRY(read_numbers(o, "dims", m->rank, UINT32_MAX, m->dims, err));
	TRY(read_numbers(
	        o, "strides_bytes", m->rank - 1, (uint64_t)1 << 40, m->strides_bytes + 1, err));
	TRY(read_sides(o, "box", m->rank, 256, m->box, err));
	TRY(read_number(o, "swizzle", 128, 0, &m->swizzle_bytes, err));
	TRY(read_number(o, "l2_promotion", 256, 0, &m->l2_promotion_bytes, err));
	return check_map(m, err);
}

/* The first argument with a name adds the memory, later ones may ask for more of it. */
static int read_scratch(struct launcher_manifest *m, const json_t *o, struct launcher_arg *a,
        struct tk_abi_error *err)
{
	struct launcher_scratch wanted = {0};
	TRY(read_text(o, "scratch", wanted.name, sizeof wanted.name, err));
	TRY(to_number(json_object_get(o, "bytes"), "bytes", 0, LAUNCHER_SCRATCH_BYTES_MAX,
	        &wanted.bytes, err));
	for (a->scratch = 0; a->scratch < m->scratch_count; a->scratch++)
		if (strcmp(m->scratches[a->scratch].name, wanted.name) == 0)
			break;
	struct launcher_scratch *to = &m->scratches[a->scratch];
	if (a->scratch == LAUNCHER_SCRATCHES_MAX)
		return fail(err, TK_ABI_INVALID, "more than %d names of scratch memory",
		        LAUNCHER_SCRATCHES_MAX);
	a->scratch_bytes = wanted.bytes;
	if (a->scratch == m->scratch_count)
		m->scratches[m->scratch_count++] = wanted;
	else if (to->bytes < wanted.bytes)
		to->bytes = wanted.bytes;
	return TK_ABI_OK;
}

static int read_arg(struct launcher_manifest *m, const json_t *o, struct launcher_arg *a,
        struct tk_abi_error *err)
{
	const json_t *tensor = json_object_get(o, "tensor"), *map = json_object_get(o, "tensormap");
	a->bytes = 8;
	if (!tensor + !map + !json_object_get(o, "value") + !json_object_get(o, "scratch") != 3)
		return fail(err, TK_ABI_INVALID,
		        "has not exactly one of \"tensor\", \"value\", \"scratch\", \"tensormap\"");
	if (tensor || map) {
		TRY(find_tensor(m->problem, tensor ? tensor : map, &a->tensor, err));
		a->kind = tensor ? LAUNCHER_ARG_TENSOR : LAUNCHER_ARG_TENSOR_MAP;
		return tensor ? TK_ABI_OK : read_map(o, a, err);
	}
	if (json_object_get(o, "value")) {
		a->kind = LAUNCHER_ARG_VALUE;
		return read_value(o, a, err);
	}
	a->kind = LAUNCHER_ARG_SCRATCH;
	return read_scratch(m, o, a, err);
}

/* ---- launches ---- */

static int check_sizes(const struct launcher_launch *l, struct tk_abi_error *err)
{
	uint64_t bytes = 0;
	if ((uint64_t)l->block[0] * l->block[1] * l->block[2] > 1024)
		return fail(err, TK_ABI_INVALID, "a block has more than 1024 threads");
	if ((uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] > 16)
		return fail(err, TK_ABI_INVALID, "a cluster has more than 16 blocks");
	for (int i = 0; i < 3; i++)
		if (l->grid[i] % l->cluster[i])
			return fail(
			        err, TK_ABI_INVALID, "the grid is not a multiple of the cluster");
	for (uint32_t i = 0; i < l->arg_count; i++)
		bytes += l->args[i].bytes;
	return bytes <= 4096 ? TK_ABI_OK
	                     : fail(err, TK_ABI_INVALID, "the arguments have more than 4096 bytes");
}

static int read_args(struct launcher_manifest *m, const json_t *o, struct launcher_launch *l,
        struct tk_abi_error *err)
{
	const json_t *args = json_object_get(o, "args");
	size_t count = json_array_size(args);
	struct tk_abi_error why = {.size = sizeof why};
	if (!json_is_array(args) || count > LAUNCHER_ARGS_MAX)
		return fail(err, TK_ABI_INVALID, "\"args\" is not a list of at most %d",
		        LAUNCHER_ARGS_MAX);
	if (!(l->args = calloc(count + 1, sizeof *l->args)))
		return fail(err, TK_ABI_NO_MEMORY, "no memory for a manifest");
	for (; l->arg_count < count; l->arg_count++) {
		const json_t *arg = json_array_get(args, l->arg_count);
		int status = read_arg(m, arg, &l->args[l->arg_count], &why);
		if (status)
			return fail(err, status, "argument %u: %.400s", l->arg_count, why.message);
	}
	return TK_ABI_OK;
}

static int read_launch(struct launcher_manifest *m, const json_t *o, struct launcher_launch *l,
        struct tk_abi_error *err)
{
	TRY(read_text(o, "entry", l->entry, sizeof l->entry, err));
	TRY(read_sides(o, "grid", 3, INT32_MAX, l->grid, err));
	TRY(read_sides(o, "block", 3, 1024, l->block, err));
	l->cluster[0] = l->cluster[1] = l->cluster[2] = 1;
	if (json_object_get(o, "cluster"))
		TRY(read_sides(o, "cluster", 3, 16, l->cluster, err));
	TRY(read_number(o, "shared_bytes", (uint64_t)1 << 20, -1, &l->shared_bytes, err));
	TRY(read_flag(o, "cooperative", false, &l->cooperative, err));
	TRY(read_flag(o, "prefer_shared", false, &l->prefer_shared, err));
	TRY(read_args(m, o, l, err));
	return check_sizes(l, err);
}

static int read_launches(const json_t *root, struct launcher_manifest *m, struct tk_abi_error *err)
{
	const json_t *list = json_object_get(root, "launches");
	size_t count = json_array_size(list);
	struct tk_abi_error why = {.size = sizeof why};
	if (count < 1 || count > LAUNCHER_LAUNCHES_MAX)
		return fail(err, TK_ABI_INVALID, "\"launches\" is missing or not a list of 1 to %d",
		        LAUNCHER_LAUNCHES_MAX);
	if (!(m->launches = calloc(count, sizeof *m->launches)))
		return fail(err, TK_ABI_NO_MEMORY, "no memory for a manifest");
	for (uint32_t i = 0; i < count; i++) {
		m->launch_count = i + 1;
		int status = read_launch(m, json_array_get(list, i), &m->launches[i], &why);
		if (status)
			return fail(err, status, "launch %u: %.400s", i, why.message);
	}
	return TK_ABI_OK;
}

/* ---- the manifest ---- */

/* A file beside the manifest: no path, not hidden. */
static bool is_file_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789._=,+-";
	return *name && *name != '.' && name[strspn(name, allowed)] == '\0';
}

static int read_code(const json_t *root, struct launcher_manifest *m, struct tk_abi_error *err)
{
	TRY(read_text(root, "code_object", m->code_file, sizeof m->code_file, err));
	TRY(read_text(root, "sha256", m->sha256, sizeof m->sha256, err));
	if (!is_file_name(m->code_file))
		return fail(err, TK_ABI_INVALID,
		        "\"code_object\" is not the name of a file beside the manifest");
	if (strlen(m->sha256) != 64 || strspn(m->sha256, "0123456789abcdef") != 64)
		return fail(err, TK_ABI_INVALID, "\"sha256\" is not 64 hexadecimal digits");
	return read_launches(root, m, err);
}

static bool is_parameter_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	return *name >= 'a' && *name <= 'z' && strlen(name) < LAUNCHER_PARAMETER_NAME_SIZE &&
	       name[strspn(name, allowed)] == '\0';
}

static int read_parameters(
        const json_t *root, struct launcher_manifest *m, struct tk_abi_error *err)
{
	json_t *object = json_object_get(root, "parameters"), *value;
	const char *name;
	if (!object)
		return TK_ABI_OK;
	if (!json_object_size(object) || json_object_size(object) > TK_SPACE_PARAMETERS_MAX)
		return fail(err, TK_ABI_INVALID,
		        "\"parameters\" is not an object with 1 to %d members",
		        TK_SPACE_PARAMETERS_MAX);
	json_object_foreach (object, name, value) {
		struct launcher_parameter *p = &m->parameters[m->parameter_count++];
		if (!is_parameter_name(name))
			return fail(err, TK_ABI_INVALID,
			        "the name \"%.60s\" in \"parameters\" is not 1 to %d of a-z, 0-9 "
			        "and _, a letter first",
			        name, LAUNCHER_PARAMETER_NAME_SIZE - 1);
		if (!json_is_integer(value))
			return fail(err, TK_ABI_INVALID,
			        "the parameter \"%s\" is not a whole number", name);
		snprintf(p->name, sizeof p->name, "%s", name);
		p->value = json_integer_value(value);
	}
	return TK_ABI_OK;
}

static int read_root(const json_t *root, struct launcher_manifest *m, struct tk_abi_error *err)
{
	const json_t *producer = json_object_get(root, "producer");
	char name[60], version[60];
	uint64_t format = 0;
	TRY(to_number(json_object_get(root, "format"), "format", 1, UINT32_MAX, &format, err));
	if (format > LAUNCHER_MANIFEST_FORMAT)
		return fail(err, TK_ABI_INVALID,
		        "was written for a newer tracker (format %llu, this one knows %d)",
		        (unsigned long long)format, LAUNCHER_MANIFEST_FORMAT);
	TRY(read_text(producer, "name", name, sizeof name, err));
	TRY(read_text(producer, "version", version, sizeof version, err));
	snprintf(m->producer, sizeof m->producer, "%s %s", name, version);
	TRY(read_text(root, "target", m->target, sizeof m->target, err));
	TRY(read_text(root, "problem", m->problem, sizeof m->problem, err));
	TRY(read_text(root, "configuration", m->config, sizeof m->config, err));
	TRY(read_parameters(root, m, err));
	TRY(read_flag(root, "deterministic", true, &m->deterministic, err));
	return json_object_get(root, "error")
	               ? read_text(root, "error", m->error, sizeof m->error, err)
	               : read_code(root, m, err);
}

int launcher_manifest_parse(
        const char *text, size_t len, struct launcher_manifest **out, struct tk_abi_error *err)
{
	json_error_t at;
	if (len > LAUNCHER_MANIFEST_BYTES_MAX)
		return fail(err, TK_ABI_INVALID, "has more than %zu bytes",
		        LAUNCHER_MANIFEST_BYTES_MAX);
	struct launcher_manifest *m = calloc(1, sizeof *m);
	if (!m)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for a manifest");
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	int status = root ? read_root(root, m, err)
	                  : fail(err, TK_ABI_INVALID, "%d:%d: %s", at.line, at.column, at.text);
	json_decref(root);
	if (status)
		launcher_manifest_free(m);
	else
		*out = m;
	return status;
}

void launcher_manifest_free(struct launcher_manifest *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->launch_count; i++)
		free(m->launches[i].args);
	free(m->launches);
	free(m);
}
