/* Loads and drives backends for the tests. */
#include "subject.h"
#include "element.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int subject_open(struct subject *s, const char *module, const char *options, uint32_t threads,
        struct tk_abi_error *err)
{
	char path[4096];
	snprintf(path, sizeof(path), TK_MODULE_DIR "/tk_backend_%s.so", module);
	void *handle = dlopen(path,
	        RTLD_NOW | RTLD_LOCAL); /* stays loaded: threads of a library may outlive a close */
	if (!handle)
		fail_msg("%s", dlerror());
	const struct tk_backend *(*entry)(void);
	*(void **)&entry = dlsym(handle, "tk_backend_entry");
	assert_non_null(entry);
	*s = (struct subject){
	        .module = module, .options = options, .threads = threads, .backend = entry()};
	assert_int_equal(s->backend->abi_major, TK_ABI_MAJOR);
	assert_string_equal(s->backend->name, module);
	err->size = sizeof(*err);
	err->message[0] = '\0';
	struct tk_open_args args = {.size = sizeof(args), .threads = threads, .options = options};
	return s->backend->open(&args, &s->ctx, err);
}

void subject_close(struct subject *s)
{
	if (s->ctx)
		s->backend->close(s->ctx);
	s->ctx = NULL;
}

struct subject *subjects_open(void)
{
	static const struct subject all[] = {{"cpu", "isa=generic", 2}, {"cpu", "isa=avx2", 3},
	        {"cpu", "isa=avx512", 3}, {"cpu", "", 1}, {"openblas", "", 2}, {"control", "", 1}};
	size_t n = sizeof(all) / sizeof(all[0]), opened = 0;
	struct subject *s = calloc(n + 1, sizeof(*s));
	assert_non_null(s);
	for (size_t i = 0; i < n; i++) {
		struct tk_abi_error err;
		char path[4096];
		snprintf(path, sizeof(path), TK_MODULE_DIR "/tk_backend_%s.so", all[i].module);
		FILE *there = fopen(path, "rb");
		if (!there)
			continue;
		fclose(there);
		int rc = subject_open(
		        &s[opened], all[i].module, all[i].options, all[i].threads, &err);
		if (rc == TK_ABI_OK)
			opened++;
		else
			print_message("not tested here: %s\n", err.message);
	}
	assert_true(opened >= 3); /* generic, the best, control: these exist everywhere */
	memset(&s[opened], 0, sizeof(*s));
	return s;
}

void subjects_close(struct subject *s)
{
	for (struct subject *i = s; i && i->module; i++)
		subject_close(i);
	free(s);
}

static void launch(
        struct subject *s, struct tk_plan *plan, struct tk_tensor *t, uint32_t count, int garbage)
{
	struct tk_abi_error err = {.size = sizeof(err)};
	for (uint32_t i = 0; i < count; i++)
		if (t[i].output && t[i].data)
			memset(t[i].data, garbage, t[i].bytes);
	assert_int_equal(s->backend->launch(plan, NULL, 0, &err), TK_ABI_OK);
	if (s->backend->fetch)
		assert_int_equal(s->backend->fetch(plan, 0, &err), TK_ABI_OK);
}

/* 0xff.. is NaN in every type: an element that is not written, or only added to, is seen. */
static void launch_twice(
        struct subject *s, struct tk_plan *plan, struct tk_tensor *t, uint32_t count)
{
	void *first[TK_T_MAX] = {0};
	launch(s, plan, t, count, 0xff);
	for (uint32_t i = 0; i < count; i++)
		if (t[i].output && t[i].data)
			first[i] = memcpy(malloc(t[i].bytes), t[i].data, t[i].bytes);
	launch(s, plan, t, count, 0x55);
	for (uint32_t i = 0; i < count; i++)
		if (first[i])
			assert_memory_equal(first[i], t[i].data, t[i].bytes);
	for (uint32_t i = 0; i < count; i++)
		free(first[i]);
}

int subject_run(struct subject *s, const struct tk_problem *p, const char *config,
        struct tk_tensor *t, uint32_t count)
{
	struct tk_abi_error err = {.size = sizeof(err)};
	struct tk_plan_info info = {.size = sizeof(info)};
	struct tk_plan *plan = NULL;
	int rc = s->backend->supports(s->ctx, p, &err);
	if (rc == TK_ABI_OK)
		rc = s->backend->plan(s->ctx, p, config, 1, &plan, &info, &err);
	if (rc)
		assert_true(err.message[0] != '\0');
	else {
		assert_true(info.kernel[0] != '\0');
		assert_int_equal(s->backend->bind(plan, 0, t, count, &err), TK_ABI_OK);
		launch_twice(s, plan, t, count);
		s->backend->unplan(plan);
	}
	return rc;
}

struct tk_tensor tensor_new(uint32_t dtype, bool output, int64_t elements)
{
	struct tk_tensor t = {
	        .size = sizeof(t), .dtype = dtype, .ndim = 1, .output = output, .dim = {elements}};
	t.bytes = (size_t)elements * tk_element_bytes(dtype);
	t.data = malloc(t.bytes);
	assert_non_null(t.data);
	return t;
}

void tensor_free(struct tk_tensor *t)
{
	free(t->data);
	t->data = NULL;
}

void tensor_random(struct tk_tensor *t, uint64_t seed)
{
	int64_t n = (int64_t)(t->bytes / tk_element_bytes(t->dtype));
	for (int64_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		tk_element_store(
		        t->dtype, t->data, i, (double)(int64_t)(seed >> 40) / (1 << 23) - 1);
	}
}
