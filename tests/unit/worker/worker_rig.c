/* See worker_rig.h. */
#include "worker_rig.h"
#include "base/buf.h"
#include "base/file.h"
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

char *rig_folder, *rig_program, *rig_log_path;

struct tk_worker *worker_with(struct tk_worker_spec spec)
{
	struct tk_worker *w = NULL;
	struct tk_error err = {0};
	spec.program = spec.program ? spec.program : rig_program;
	spec.device_kind = spec.device_kind ? spec.device_kind : "null";
	spec.device_layer = spec.device_layer ? spec.device_layer : NULL_DEVICE;
	spec.log_path = rig_log_path;
	if (tk_worker_new(&spec, &w, &err))
		fail_msg("%s", err.message);
	return w;
}

struct tk_job_request request(const char *options)
{
	return (struct tk_job_request){.backend_path = NULL_BACKEND,
	        .backend_options = options,
	        .problem = PROBLEM,
	        .mode = "cold",
	        .seed = 1,
	        .deadline_s = 60,
	        .measure_s = 1,
	        .relative_half_width = 0.01,
	        .confidence = 0.95,
	        .min_samples = 10,
	        .max_samples = 20,
	        .verify = true};
}

void run(struct tk_worker *w, const struct tk_job_request *r, const char *outcome,
        const char *message)
{
	struct tk_job_result out;
	struct tk_error err = {0};
	if (tk_worker_measure(w, r, &out, &err))
		fail_msg("%s: %s", r->backend_options, err.message);
	if (strcmp(tk_outcome_name(out.outcome), outcome) != 0 || !strstr(out.message, message))
		fail_msg("%s: %s: \"%s\", expected %s: \"%s\"", r->backend_options,
		        tk_outcome_name(out.outcome), out.message, outcome, message);
	assert_true(tk_outcome_has_timing(out.outcome) ==
	            (out.result && json_object_get(out.result, "median")));
	assert_true(out.wall_s > 0);
	tk_job_result_free(&out);
}

void run_fault(struct tk_worker *w, const char *options, const char *outcome, const char *message)
{
	struct tk_job_request r = request(options);
	run(w, &r, outcome, message);
}

char *fake_worker(const char *name, const char *text)
{
	char *path = tk_path_join(rig_folder, name);
	struct tk_buf b = TK_BUF_INIT;
	tk_buf_add_printf(&b, "#!/bin/sh\n%s\n", text);
	assert_int_equal(tk_file_write(path, b.data, b.len, NULL), 0);
	assert_int_equal(chmod(path, 0755), 0);
	tk_buf_free(&b);
	return path;
}

int rig_set_up(void **state)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n < 0 || tk_dir_create_temp("/tmp", "tracker-worker-test", &rig_folder, NULL))
		return -1;
	exe[n] = 0;
	rig_program = strdup(exe);
	rig_log_path = tk_path_join(rig_folder, "log");
	signal(SIGPIPE, SIG_IGN); /* as the tracker */
	/* crashes shall be crashes, also where this program is built with AddressSanitizer */
	return setenv(
	        "ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0", 1);
}

int rig_tear_down(void **state)
{
	int status = tk_dir_remove(rig_folder, NULL);
	free(rig_folder);
	free(rig_program);
	free(rig_log_path);
	return status;
}
