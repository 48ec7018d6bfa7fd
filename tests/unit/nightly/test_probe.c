/* The stage "probe" with device layers that answer as the test says: which devices a night has,
 * what they are called, and which cores their workers get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "nightly/night.h"
#include "worker/worker.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char cpu_name[] = "cpu", cuda_name[] = "cuda", all[] = "all", second[] = "cuda:1",
            by_uuid[] = "GPU-2", unknown[] = "rocm";

/* A worker is the device that it opens. */
struct fake {
	const struct tk_module *layer;
	uint32_t index;
};

static struct {
	uint32_t gpus, cores;
	int gpu_status[4]; /* of opening each; 0: it works */
	int start_status;
	int alive; /* workers */
} machine;

int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err);
int __wrap_tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err);
int __wrap_tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err);
void __wrap_tk_worker_free(struct tk_worker *w);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err)
{
	struct fake *f = malloc(sizeof *f);

	assert_non_null(f);
	*f = (struct fake){d->layer, d->index};
	machine.alive++;
	*out = (struct tk_worker *)(void *)f;
	return 0;
}

int __wrap_tk_worker_start_open(struct tk_worker *w, const char *backend_path, const char *options,
        double deadline_s, struct tk_error *err)
{
	assert_null(backend_path);
	return machine.start_status ? tk_fail(err, machine.start_status, "stopped") : 0;
}

int __wrap_tk_worker_query_device(struct tk_worker *w, json_t **out, struct tk_error *err)
{
	const struct fake *f = (const struct fake *)(const void *)w;
	const bool is_gpu = strcmp(f->layer->name, "cuda") == 0;
	char uuid[16];

	if (is_gpu && f->index >= machine.gpus)
		return tk_fail(err, TK_ENOTFOUND, "no such device");
	if (is_gpu && machine.gpu_status[f->index])
		return tk_fail(err, machine.gpu_status[f->index], "cannot open");
	snprintf(uuid, sizeof uuid, "GPU-%u", f->index);
	*out = json_pack("{s:s, s:s, s:s, s:i}", "name", "n", "arch", "a", "uuid",
	        is_gpu ? uuid : "", "count", is_gpu ? (int)machine.gpus : 1);
	return 0;
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	machine.alive -= w != NULL;
	free(w);
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	memset(set, 0, size);
	for (uint32_t i = 0; i < machine.cores; i++)
		CPU_SET(2 * i, set); /* every second one */
	return 0;
}

/* ---- a night ---- */

struct rig {
	char *root, *names[3];
	struct tk_config config;
	struct tk_night_options options;
	struct tk_module layers[2];
	struct tk_modules modules;
	struct tk_night night;
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);
	struct tk_error err;

	assert_non_null(r);
	memset(&machine, 0, sizeof machine);
	assert_int_equal(tk_dir_create_temp("/tmp", "tk-probe-", &r->root, &err), 0);
	r->names[0] = all;
	r->config.cache_dir = r->root;
	r->config.devices = r->names;
	r->layers[0].name = cpu_name;
	r->layers[1].name = cuda_name;
	r->modules = (struct tk_modules){.devices = r->layers, .device_count = 2};
	r->night = (struct tk_night){
	        .config = &r->config, .options = &r->options, .modules = &r->modules};
	*state = r;
	return 0;
}

static void close_devices(struct rig *r)
{
	for (size_t i = 0; i < r->night.device_count; i++)
		tk_night_device_close(&r->night.devices[i]);
	free(r->night.devices);
	r->night.devices = NULL;
	r->night.device_count = 0;
	assert_int_equal(machine.alive, 0);
}

static int teardown(void **state)
{
	struct rig *r = *state;

	close_devices(r);
	tk_dir_remove(r->root, NULL);
	free(r->root);
	free(r);
	return 0;
}

/* "slug cores;" of each device. */
static void expect_devices(struct rig *r, const char *expected)
{
	struct tk_error err = {0};
	char text[400] = "";

	close_devices(r);
	if (tk_night_probe(&r->night, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < r->night.device_count; i++) {
		const struct tk_night_device *d = &r->night.devices[i];
		strcat(strcat(strcat(text, d->slug), " "), d->cores);
		strcat(text, ";");
	}
	assert_string_equal(text, expected);
	assert_int_equal(machine.alive, r->night.device_count);
}

static void all_devices_of_a_machine(void **state)
{
	struct rig *r = *state;

	expect_devices(r, "cpu ;");
	machine.gpus = 1;
	expect_devices(r, "cpu ;cuda ;");
	machine.gpus = 3;
	expect_devices(r, "cpu ;cuda-0 ;cuda-1 ;cuda-2 ;");
}

static void devices_are_chosen_by_name_and_uuid(void **state)
{
	struct rig *r = *state;
	char *given[] = {cpu_name, NULL};

	machine.gpus = 3;
	r->names[0] = second;
	expect_devices(r, "cuda-1 ;");
	r->names[1] = by_uuid;
	expect_devices(r, "cuda-1 ;cuda-2 ;");
	r->options.devices = given; /* instead of the configuration */
	expect_devices(r, "cpu ;");
	r->options.devices = NULL;
	r->names[1] = unknown; /* a warning */
	expect_devices(r, "cuda-1 ;");
}

static void a_device_that_cannot_be_opened_is_left_out(void **state)
{
	struct rig *r = *state;

	machine.gpus = 3;
	machine.gpu_status[1] = TK_EIO;
	expect_devices(r, "cpu ;cuda-0 ;cuda-2 ;");
	machine.start_status = TK_EIO; /* recurs when it is asked for, or does not */
	expect_devices(r, "cpu ;cuda-0 ;cuda-2 ;");
}

static void a_request_to_stop_ends_the_stage(void **state)
{
	struct rig *r = *state;
	struct tk_error err = {0};

	machine.gpus = 3;
	machine.gpu_status[2] = TK_ECANCELED;
	assert_int_equal(tk_night_probe(&r->night, &err), TK_ECANCELED);
	assert_string_equal(err.message, "cannot open");
	close_devices(r);
	machine.start_status = TK_ECANCELED;
	assert_int_equal(tk_night_probe(&r->night, &err), TK_ECANCELED);
	assert_string_equal(err.message, "stopped");
	assert_int_equal(machine.alive, 0);
}

static void a_night_without_devices_does_not_begin(void **state)
{
	struct rig *r = *state;
	struct tk_error err = {0};

	r->names[0] = second;
	assert_int_equal(tk_night_probe(&r->night, &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "tracker doctor"));
}

/* Several GPUs share the cores evenly, where each gets two at least. */
static void gpus_share_the_cores(void **state)
{
	struct rig *r = *state;

	machine.gpus = 2;
	machine.cores = 3;
	expect_devices(r, "cpu ;cuda-0 ;cuda-1 ;");
	machine.cores = 4;
	expect_devices(r, "cpu ;cuda-0 0,2;cuda-1 4,6;");
	machine.cores = 5;
	expect_devices(r, "cpu ;cuda-0 0,2;cuda-1 4,6,8;");
	machine.gpus = 1;
	expect_devices(r, "cpu ;cuda ;");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(all_devices_of_a_machine),
	        TEST(devices_are_chosen_by_name_and_uuid),
	        TEST(a_device_that_cannot_be_opened_is_left_out),
	        TEST(a_request_to_stop_ends_the_stage),
	        TEST(a_night_without_devices_does_not_begin),
	        TEST(gpus_share_the_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
