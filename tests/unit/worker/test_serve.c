/* The worker's side of the wire, request by request, as docs/reference/worker-protocol.md describes
 * it: a process that serves, and raw lines. */
#include "base/buf.h"
#include "base/file.h"
#include "core/trace_file.h"
#include "worker/wire.h"
#include "worker_rig.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct peer {
	pid_t pid;
	int requests;
	FILE *answers;
};

static char *quote(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A request with single quotes in place of double ones. */
static char *quote(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	assert_true(vasprintf(&text, fmt, ap) > 0);
	va_end(ap);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return text;
}

/* A process that serves; what it prints goes to the log, which starts empty. */
static struct peer start_peer(void)
{
	struct peer p;
	int in[2], out[2];
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	int log = open(rig_log_path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0644);
	assert_true(log >= 0);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (p.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(log, 2);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl(rig_program, rig_program, "worker", (char *)NULL);
		_exit(99);
	}
	close(in[0]);
	close(out[1]);
	close(log);
	p.requests = in[1];
	p.answers = fdopen(out[0], "r");
	return p;
}

static void send_text(const struct peer *p, const char *text, size_t len)
{
	assert_int_equal(write(p->requests, text, len), len);
}

/* The next line, a new reference; NULL: there are no more. */
static json_t *next_line(const struct peer *p)
{
	char *line = NULL;
	size_t size = 0;
	json_t *out = NULL;
	ssize_t len = getline(&line, &size, p->answers);
	if (len > 0) {
		assert_int_equal(line[len - 1], '\n');
		assert_int_equal(tk_wire_parse(line, (size_t)len - 1, &out, NULL), 0);
	}
	free(line);
	return out;
}

static void skip_hello(const struct peer *p)
{
	json_t *hello = next_line(p);
	assert_string_equal(json_string_value(json_object_get(hello, "hello")), "tracker-worker");
	json_decref(hello);
}

/* The exit code, or minus the signal. No more lines come. */
static int end_peer(struct peer *p)
{
	int status;
	if (p->requests >= 0)
		close(p->requests);
	assert_null(next_line(p));
	fclose(p->answers);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void assert_logged(const char *phrase)
{
	struct tk_buf text = TK_BUF_INIT;
	assert_int_equal(tk_file_read(rig_log_path, 4 << 20, &text, NULL), 0);
	if (!memmem(text.data, text.len, phrase, strlen(phrase)))
		fail_msg("\"%s\" is not in the log: %.200s", phrase, tk_buf_cstr(&text));
	tk_buf_free(&text);
}

/* Sends the members of a request, with single quotes. */
static json_t *ask_peer(const struct peer *p, int id, const char *members)
{
	char *line = quote("{'id':%d,%s}\n", id, members);
	send_text(p, line, strlen(line));
	free(line);
	json_t *answer = next_line(p);
	assert_non_null(answer);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), id);
	return answer;
}

/* outcome NULL: the answer is ok. */
static void check_answer(
        const struct peer *p, const char *members, const char *outcome, const char *message)
{
	static int id;
	json_t *a = ask_peer(p, ++id, members);
	const char *got = json_string_value(json_object_get(a, "outcome"));
	const char *text = json_string_value(json_object_get(a, "message"));
	if (!outcome && !json_is_true(json_object_get(a, "ok")))
		fail_msg("%s: %s \"%s\"", members, got, text);
	if (outcome && (!got || strcmp(got, outcome) != 0 || !strstr(text, message)))
		fail_msg("%s: %s \"%s\", expected %s \"%s\"", members, got ? got : "ok",
		        text ? text : "", outcome, message);
	assert_true(json_is_object(json_object_get(a, "result")) == !outcome);
	json_decref(a);
}

#define LAYER "'device_layer':'" NULL_DEVICE "'"
#define DEVICE "'cmd':'device'," LAYER
#define MEASURE_WITH(backend) "'cmd':'measure'," LAYER ",'backend':'" backend "'"
#define MEASURE MEASURE_WITH(NULL_BACKEND) ",'problem':'" PROBLEM "'"
#define REFERENCE TK_MODULES "/tk_backend_reference.so"

/* ---- lines ---- */

static void the_hello_comes_first_and_unasked(void **state)
{
	struct peer p = start_peer();
	json_t *hello = next_line(&p);
	assert_string_equal(json_string_value(json_object_get(hello, "hello")), "tracker-worker");
	assert_int_equal(json_integer_value(json_object_get(hello, "protocol")), TK_WIRE_PROTOCOL);
	assert_int_equal(json_integer_value(json_object_get(hello, "abi")), TK_ABI_MAJOR);
	assert_int_equal(json_object_size(hello), 3);
	json_decref(hello);
	assert_int_equal(end_peer(&p), 0);
}

static void requests_are_answered_in_order(void **state)
{
	struct peer p = start_peer();
	char *first = quote("{'id':7," DEVICE "}\n{'id':9007199254740993,'cmd':'x'}\n{'id':3,"),
	     *rest = quote(DEVICE "}\n");
	json_int_t expected[] = {7, 9007199254740993, 3};
	skip_hello(&p);
	send_text(&p, first, strlen(first));
	for (size_t i = 0; rest[i]; i++)
		send_text(&p, rest + i, 1);
	for (size_t i = 0; i < 3; i++) {
		json_t *a = next_line(&p);
		assert_true(json_integer_value(json_object_get(a, "id")) == expected[i]);
		assert_true(json_is_true(json_object_get(a, "ok")) == (i != 1));
		json_decref(a);
	}
	free(first);
	free(rest);
	assert_int_equal(end_peer(&p), 0);
}

static void unknown_commands_are_refused_and_survived(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, "'cmd':'Device'", "protocol", "unknown cmd");
	check_answer(&p, "'cmd':''", "protocol", "unknown cmd");
	check_answer(&p, "'cmd':7", "protocol", "unknown cmd");
	check_answer(&p, "'command':'device'", "protocol", "unknown cmd");
	check_answer(&p, DEVICE, NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
}

static void lines_that_are_no_requests_end_the_worker(void **state)
{
	static const char *const cases[][2] = {{"device\n", "invalid JSON"},
	        {"[]\n", "expected a JSON object"}, {"\n", "invalid JSON"},
	        {"{\"id\":1,\"id\":2}\n", "duplicate object key"},
	        {"{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}\n", "nested deeper than 16 levels"},
	        {"{\"id\":NaN}\n", "invalid JSON"}, {"{\"\xff\":1}\n", "invalid JSON"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peer p = start_peer();
		skip_hello(&p);
		send_text(&p, cases[i][0], strlen(cases[i][0]));
		assert_int_equal(end_peer(&p), 4);
		assert_logged("tracker worker: ");
		assert_logged(cases[i][1]);
	}
}

/* A parent that is killed leaves half a request: it is not served. */
static void half_a_request_is_not_served(void **state)
{
	struct peer p = start_peer();
	char *half = quote("{'id':1," DEVICE "}");
	skip_hello(&p);
	send_text(&p, half, strlen(half));
	assert_int_equal(end_peer(&p), 0);
	free(half);
}

static void a_parent_that_does_not_listen_ends_the_worker(void **state)
{
	struct peer p = start_peer();
	char *line = quote("{'id':1," DEVICE "}\n");
	int status;
	skip_hello(&p);
	fclose(p.answers);
	send_text(&p, line, strlen(line));
	assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 4);
	assert_logged("writing to the wire");
	close(p.requests);
	free(line);
}

/* ---- devices ---- */

/* A device that was the last one has a lower index when another one is gone. */
static void devices_are_found_by_index_and_uuid(void **state)
{
	static const struct {
		const char *members, *uuid;
	} cases[] = {{DEVICE, "null-0"}, {DEVICE ",'device_index':1", "null-1"},
	        {DEVICE ",'device_index':0,'device_uuid':'null-1'", "null-1"},
	        {DEVICE ",'device_index':1,'device_uuid':'null-0'", "null-0"},
	        {DEVICE ",'device_index':9,'device_uuid':'null-1'", "null-1"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peer p = start_peer();
		skip_hello(&p);
		json_t *a = ask_peer(&p, 1, cases[i].members);
		const json_t *result = json_object_get(a, "result");
		const char *uuid = json_string_value(json_object_get(result, "uuid"));
		if (!uuid || strcmp(uuid, cases[i].uuid) != 0)
			fail_msg("%s: found %s", cases[i].members, uuid ? uuid : "none");
		assert_int_equal(json_integer_value(json_object_get(result, "count")), 2);
		json_decref(a);
		assert_int_equal(end_peer(&p), 0);
	}
}

static void devices_that_are_not_there(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, "'cmd':'device'", "failed", "the request has no \"device_layer\"");
	check_answer(&p, "'cmd':'device','device_layer':'/no/such.so'", "no_device", "cannot load");
	check_answer(&p, "'cmd':'device','device_layer':'" NULL_BACKEND "'", "no_device",
	        "is not a device layer");
	check_answer(&p, DEVICE ",'device_index':2", "no_device", "no device 2 of kind null");
	check_answer(&p, DEVICE ",'device_index':-1", "no_device", "found 2");
	check_answer(&p, DEVICE ",'device_uuid':'GPU-1'", "no_device",
	        "no device with UUID GPU-1: found 2 of kind null");
	check_answer(&p, DEVICE ",'device_uuid':'null-1'", NULL, NULL);
	check_answer(&p, "'cmd':'device','device_layer':'" TK_MODULES "/tk_device_cpu.so'",
	        "failed", "cannot open a second device layer");
	check_answer(&p, DEVICE, NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
}

/* ---- backends ---- */

static void one_backend_a_process(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, "'cmd':'backend'", "failed", "the request has no \"backend\"");
	check_answer(&p, "'cmd':'backend','backend':'/no/such.so'", "failed", "cannot load");
	json_t *a = ask_peer(&p, 1, "'cmd':'backend','backend':'" NULL_BACKEND "'");
	const json_t *result = json_object_get(a, "result"),
	             *operations = json_object_get(result, "operations");
	assert_string_equal(json_string_value(json_object_get(result, "name")), "null");
	assert_int_equal(json_integer_value(json_array_get(json_object_get(result, "abi"), 0)),
	        TK_ABI_MAJOR);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(result, "abi"), 1)),
	        TK_ABI_MINOR);
	/* a flag of the contract that is no operation is not listed */
	assert_string_equal(json_string_value(json_array_get(operations, 0)), "gemm");
	json_decref(a);
	check_answer(&p, "'cmd':'backend','backend':'" NULL_BACKEND "'", NULL, NULL);
	check_answer(&p, "'cmd':'backend','backend':'" REFERENCE "'", "failed",
	        "must not load a second backend");
	check_answer(&p, "'cmd':'open','backend':'" NULL_BACKEND "'", "failed", "device_layer");
	check_answer(&p, "'cmd':'open'," LAYER, "failed", "the request has no \"backend\"");
	check_answer(&p, "'cmd':'open'," LAYER ",'backend':'" NULL_BACKEND "'", NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
}

/* Other options open the backend again; a failure leaves it closed, and the next request opens
 * it. */
static void options_open_the_backend_again(void **state)
{
#define OPEN "'cmd':'open'," LAYER ",'backend':'" NULL_BACKEND "','options':"
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, OPEN "'seed=1'", NULL, NULL);
	check_answer(&p, OPEN "'no_such=1'", "failed", "there is no option");
	check_answer(&p, OPEN "'fail=no_memory,at=open'", "out_of_memory", "open: ");
	check_answer(&p, OPEN "'fail=unsupported,at=open'", "unsupported", "open: ");
	check_answer(&p, OPEN "'seed=2'", NULL, NULL);
	check_answer(&p, MEASURE ",'options':'seed=2'", NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
}

/* What a backend prints is in the log, and not between the answers. */
static void output_of_backends_is_logged(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, MEASURE ",'options':'fail=print'", NULL, NULL);
	check_answer(&p, DEVICE, NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
	struct tk_buf log = TK_BUF_INIT;
	assert_int_equal(tk_file_read(rig_log_path, 8 << 20, &log, NULL), 0);
	assert_true(log.len >= 2 << 20);
	tk_buf_free(&log);
}

static void configurations_are_listed(void **state)
{
#define CONFIGS "'cmd':'configs'," LAYER ",'backend':'" NULL_BACKEND "'"
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, CONFIGS, "failed", "the request has no \"problem\"");
	check_answer(&p, CONFIGS ",'problem':'gemm:m=0,n=1,k=1'", "failed", "m");
	check_answer(
	        &p, CONFIGS ",'problem':'gemm:m=8192,n=8192,k=8192'", "unsupported", "supports: ");
	json_t *a = ask_peer(&p, 1, CONFIGS ",'problem':'" PROBLEM "'");
	const json_t *r = json_object_get(a, "result");
	assert_int_equal(json_array_size(json_object_get(r, "configs")), 3);
	assert_true(json_is_false(json_object_get(r, "space")));
	json_decref(a);
	a = ask_peer(&p, 2, CONFIGS ",'problem':'" PROBLEM "','options':'space=1'");
	r = json_object_get(a, "result");
	const json_t *list = json_object_get(r, "configs");
	assert_true(json_is_true(json_object_get(r, "space")));
	assert_int_equal(json_array_size(list), 186);
	const char *best = json_string_value(json_array_get(list, 0));
	for (size_t i = 1; i < 186; i++) { /* each once */
		const char *text = json_string_value(json_array_get(list, i));
		assert_string_not_equal(text, best);
		assert_string_not_equal(text, json_string_value(json_array_get(list, i - 1)));
	}
	json_decref(a);
	assert_int_equal(end_peer(&p), 0);
}

/* ---- measurements ---- */

static void requests_that_cannot_be_measured(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, MEASURE_WITH(NULL_BACKEND), "failed", "the request has no \"problem\"");
	check_answer(&p, MEASURE ",'mode':'warm'", "failed", "unknown mode \"warm\"");
	check_answer(&p, MEASURE ",'text':{'tokens':'00a7'}", "failed", "text: missing \"name\"");
	check_answer(&p, MEASURE ",'text':{'name':'x'}", "failed", "text:x has no tokens");
	check_answer(&p, MEASURE ",'text':{'name':'x','tokens':'00a'}", "failed",
	        "four hexadecimal digits");
	check_answer(&p, MEASURE ",'text':{'name':'x','tokens':'00a7 b71'}", "failed",
	        "four hexadecimal digits");
	check_answer(&p, MEASURE ",'text':{'name':'x','tokens':'00a7ffff'}", NULL, NULL);
	check_answer(&p, MEASURE ",'trace':{'fd':2,'launches':1}", "failed",
	        "trace: invalid descriptor");
	check_answer(&p, MEASURE ",'trace':{'fd':5,'launches':0}", "failed", "number of launches");
	check_answer(&p, MEASURE ",'trace':{'fd':5,'launches':65}", "failed", "number of launches");
	check_answer(&p, MEASURE ",'trace':{'fd':5,'launches':64}", "unsupported",
	        "was not built to record regions");
	check_answer(&p, MEASURE ",'mode':'sequence','device_token':0", "failed",
	        "cannot alternate in mode sequence");
	check_answer(&p, MEASURE, NULL, NULL);
	check_answer(&p, MEASURE ",'device_token':2", "failed", ""); /* no socket, and closed */
	assert_int_equal(end_peer(&p), 0);
	assert_int_equal(TK_TRACE_LAUNCHES_MAX, 64);
}

static json_int_t count_of(const json_t *answer, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(answer, "result"), name));
}

/* A request that names the problem alone is measured by the documented defaults. */
static void a_request_may_leave_everything_to_the_defaults(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	json_t *a = ask_peer(&p, 1, MEASURE), *r = json_object_get(a, "result");
	assert_string_equal(json_string_value(json_object_get(r, "outcome")), "ok");
	assert_string_equal(json_string_value(json_object_get(r, "mode")), "cold");
	assert_true(json_number_value(json_object_get(r, "confidence")) >= 0.95);
	assert_true(count_of(a, "n") >= 10);
	assert_int_equal(json_array_size(json_object_get(r, "samples")), count_of(a, "n"));
	assert_true(json_is_true(json_object_get(json_object_get(r, "verify"), "done")));
	assert_true(count_of(a, "sets") > 1); /* as many as keep the cache cold */
	json_decref(a);
	a = ask_peer(&p, 2, MEASURE ",'sets':7");
	assert_int_equal(count_of(a, "sets"), 7);
	json_decref(a);
	a = ask_peer(&p, 3, MEASURE ",'verify':false,'mode':'hot'");
	r = json_object_get(a, "result");
	assert_int_equal(count_of(a, "sets"), 1);
	assert_false(json_is_true(json_object_get(json_object_get(r, "verify"), "done")));
	assert_string_equal(json_string_value(json_object_get(r, "mode")), "hot");
	json_decref(a);
	assert_int_equal(end_peer(&p), 0);
}

/* Numbers outside of their range are limited, and never a failure. */
static void extreme_numbers_are_limited(void **state)
{
	static const struct {
		const char *members;
		json_int_t min, max; /* samples */
	} cases[] = {{"'max_samples':1,'min_samples':1", 1, 1},
	        {"'max_samples':12,'min_samples':12,'relative_half_width':0", 12, 12},
	        {"'max_samples':0,'min_samples':5", 5, 1000000},
	        {"'max_samples':-3,'min_samples':-3", 1, 1000000},
	        {"'max_samples':1e300,'min_samples':20", 20, 1000000},
	        {"'max_samples':'x','min_samples':null", 10, 1000},
	        {"'idle_gap_s':-1,'sets':-5", 1, 1000}, {"'sets':1e9", 1, 1000},
	        {"'measure_s':1e-9,'min_samples':3", 1, 3}};
	struct peer p = start_peer();
	skip_hello(&p);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *members = NULL;
		assert_true(asprintf(&members, "%s,%s", MEASURE, cases[i].members) > 0);
		json_t *a = ask_peer(&p, (int)i, members);
		if (count_of(a, "n") < cases[i].min || count_of(a, "n") > cases[i].max)
			fail_msg("%s: %lld samples, expected %lld to %lld", cases[i].members,
			        (long long)count_of(a, "n"), (long long)cases[i].min,
			        (long long)cases[i].max);
		assert_in_range(count_of(a, "sets"), 1, 4096);
		json_decref(a);
		free(members);
	}
	assert_int_equal(end_peer(&p), 0);
}

/* ---- mode sequence ---- */

#define SEQUENCE(members) MEASURE ",'mode':'sequence','sequence':{" members "}"

static void sequences_that_cannot_be_launched(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	check_answer(&p, MEASURE ",'mode':'sequence'", "failed", "expected 1 to 256 kernels");
	check_answer(&p, SEQUENCE("'kernels':[]"), "failed", "expected 1 to 256 kernels");
	check_answer(&p, SEQUENCE("'kernels':[7]"), "failed", "");
	check_answer(&p, SEQUENCE("'kernels':['gemm:q=1']"), "failed", "unknown key");
	check_answer(&p, SEQUENCE("'kernels':['gemm:m=8192,n=8192,k=8192']"), "unsupported",
	        "no backend here does gemm:");
	check_answer(&p, SEQUENCE("'kernels':['gemm:m=8192,n=8192,k=8192'],'backends':[7]"),
	        "failed", "a backend is no path");
	check_answer(&p,
	        SEQUENCE("'kernels':['gemm:m=8192,n=8192,k=8192'],'backends':['/no/such.so']"),
	        "failed", "cannot load /no/such.so");
	check_answer(&p,
	        SEQUENCE("'kernels':['gemm:m=8192,n=8192,k=8192'],'backends':['" REFERENCE "']"),
	        "failed", "backend reference is not for devices of kind null");
	check_answer(&p, SEQUENCE("'kernels':['" PROBLEM "','gemm:m=32,n=16,k=16']"), NULL, NULL);
	assert_int_equal(end_peer(&p), 0);
}

/* The measured kernel is launched in its own place, another one where it has none. */
static void other_kernels_of_a_sequence_are_counted(void **state)
{
	static const struct {
		const char *kernels;
		json_int_t others;
	} cases[] = {{"'" PROBLEM "','gemm:m=32,n=16,k=16'", 1},
	        {"'gemm:m=32,n=16,k=16','" PROBLEM "','copy:bytes=4096'", 2},
	        {"'" PROBLEM "','" PROBLEM "'", 1}, {"'gemm:m=32,n=16,k=16'", 1}};
	struct peer p = start_peer();
	skip_hello(&p);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *members = NULL;
		assert_true(asprintf(&members, SEQUENCE("'kernels':[%s]"), cases[i].kernels) > 0);
		json_t *a = ask_peer(&p, (int)i, members);
		if (count_of(a, "sequence_kernels") != cases[i].others)
			fail_msg("%s: %lld others", cases[i].kernels,
			        (long long)count_of(a, "sequence_kernels"));
		json_decref(a);
		free(members);
	}
	assert_int_equal(end_peer(&p), 0);
}

/* A kernel that the measured backend does not do is launched by the first one that does; there are
 * at most six beside it, each opened once. */
static void other_backends_do_what_the_measured_one_does_not(void **state)
{
	char *paths[7];
	struct tk_buf all = TK_BUF_INIT;
	for (size_t i = 0; i < 7; i++) {
		char name[16];
		snprintf(name, sizeof name, "%zu.so", i);
		paths[i] = tk_path_join(rig_folder, name);
		assert_int_equal(
		        link(NULL_BACKEND, paths[i]) && symlink(NULL_BACKEND, paths[i]), 0);
		tk_buf_add_printf(&all, "%s'%s'", i ? "," : "", paths[i]);
	}
#define OTHER "gemm:m=32,n=16,k=16"
#define LARGE "gemm:m=8192,n=8192,k=8192"
#define WITHOUT "'options':'fail=unsupported,at=supports,only=m=32'"
	struct peer p = start_peer();
	char *one = NULL, *none = NULL, *many = NULL;
	assert_true(
	        asprintf(&one, SEQUENCE("'kernels':['" OTHER "'],'backends':['%s']") "," WITHOUT,
	                paths[0]) > 0);
	assert_true(asprintf(&none, "%s", SEQUENCE("'kernels':['" OTHER "']") "," WITHOUT) > 0);
	assert_true(asprintf(&many, SEQUENCE("'kernels':['" LARGE "'],'backends':[%s]") "," WITHOUT,
	                    tk_buf_cstr(&all)) > 0);
	skip_hello(&p);
	check_answer(&p, none, "unsupported", "no backend here does gemm:");
	for (int i = 0; i < 8; i++) /* opened once, not eight times */
		check_answer(&p, one, NULL, NULL);
	check_answer(&p, many, "failed", "sequence: more than 6 backends");
	assert_int_equal(end_peer(&p), 0);
	for (size_t i = 0; i < 7; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
	tk_buf_free(&all);
	free(one);
	free(none);
	free(many);
}

static void a_sequence_has_at_most_256_kernels(void **state)
{
	struct peer p = start_peer();
	skip_hello(&p);
	for (int count = 256; count <= 257; count++) {
		struct tk_buf b = TK_BUF_INIT;
		tk_buf_add_str(&b, MEASURE ",'mode':'sequence','measure_s':0.01,'sequence':{"
		                           "'kernels':['" PROBLEM "'");
		for (int i = 1; i < count; i++)
			tk_buf_add_str(&b, ",'gemm:m=8,n=8,k=8'");
		tk_buf_add_str(&b, "]}");
		check_answer(&p, tk_buf_cstr(&b), count == 256 ? NULL : "failed",
		        "expected 1 to 256 kernels");
		tk_buf_free(&b);
	}
	assert_int_equal(end_peer(&p), 0);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hello_comes_first_and_unasked),
        cmocka_unit_test(requests_are_answered_in_order),
        cmocka_unit_test(unknown_commands_are_refused_and_survived),
        cmocka_unit_test(lines_that_are_no_requests_end_the_worker),
        cmocka_unit_test(half_a_request_is_not_served),
        cmocka_unit_test(a_parent_that_does_not_listen_ends_the_worker),
        cmocka_unit_test(devices_are_found_by_index_and_uuid),
        cmocka_unit_test(devices_that_are_not_there),
        cmocka_unit_test(one_backend_a_process),
        cmocka_unit_test(options_open_the_backend_again),
        cmocka_unit_test(output_of_backends_is_logged),
        cmocka_unit_test(configurations_are_listed),
        cmocka_unit_test(requests_that_cannot_be_measured),
        cmocka_unit_test(a_request_may_leave_everything_to_the_defaults),
        cmocka_unit_test(extreme_numbers_are_limited),
        cmocka_unit_test(sequences_that_cannot_be_launched),
        cmocka_unit_test(other_kernels_of_a_sequence_are_counted),
        cmocka_unit_test(other_backends_do_what_the_measured_one_does_not),
        cmocka_unit_test(a_sequence_has_at_most_256_kernels),
};

RIG_MAIN(tests)
