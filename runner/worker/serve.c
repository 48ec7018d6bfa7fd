/* The worker process: reads requests, runs them, answers. */
#include "base/error.h"
#include "base/try.h"
#include "measure/measure.h"
#include "worker/job.h"
#include "worker/loader.h"
#include "worker/wire.h"
#include "worker/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The answers' descriptor, closed in a process that a backend forks and that goes on here. */
static int answers_fd = -1;

static void close_answers(void)
{
	close(answers_fd);
}

struct serve {
	int in, out;
	struct tk_worker_state state;
};

/* {"id":N,"ok":false,"outcome":"...","message":"..."} */
static json_t *new_refusal(json_int_t id, enum tk_outcome outcome, const char *message)
{
	json_t *answer = json_object();
	json_object_set_new(answer, "id", json_integer(id));
	json_object_set_new(answer, "ok", json_false());
	json_object_set_new(answer, "outcome", json_string(tk_outcome_name(outcome)));
	json_object_set_new(answer, "message", tk_wire_json_string(message, 1000));
	return answer;
}

static json_t *run_request(struct serve *s, const json_t *request)
{
	static const struct {
		const char *name;
		int (*run)(struct tk_worker_state *state, const json_t *request, json_t **result,
		        enum tk_outcome *outcome, struct tk_error *err);
	} commands[] = {{"device", tk_job_describe_device}, {"backend", tk_job_describe_backend},
	        {"open", tk_job_open_backend}, {"configs", tk_job_list_configs},
	        {"measure", tk_job_measure}};
	const char *name = json_string_value(json_object_get(request, "cmd"));
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
		struct tk_error err = {0};
		enum tk_outcome outcome = TK_OUTCOME_FAILED;
		json_t *result = NULL;
		if (strcmp(commands[i].name, name) != 0)
			continue;
		int status = commands[i].run(&s->state, request, &result, &outcome, &err);
		if (status)
			return new_refusal(id,
			        status == TK_ENOMEM ? TK_OUTCOME_OUT_OF_MEMORY : outcome,
			        err.message);
		json_t *answer = json_object();
		json_object_set_new(answer, "id", json_integer(id));
		json_object_set_new(answer, "ok", json_true());
		json_object_set_new(answer, "result", result);
		return answer;
	}
	return new_refusal(id, TK_OUTCOME_PROTOCOL, "unknown cmd");
}

static int send_hello(struct serve *s, struct tk_error *err)
{
	json_auto_t *hello = json_object();
	json_object_set_new(hello, "hello", json_string("tracker-worker"));
	json_object_set_new(hello, "protocol", json_integer(TK_WIRE_PROTOCOL));
	json_object_set_new(hello, "abi", json_integer(TK_ABI_MAJOR));
	return tk_wire_write(s->out, hello, err);
}

/* The wire moves to descriptors of its own; output of libraries by printf goes to stderr, which is
 * the log. */
static int move_wire(struct serve *s, int in_fd, int out_fd, struct tk_error *err)
{
	s->in = fcntl(in_fd, F_DUPFD_CLOEXEC, 3);
	s->out = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
	if (s->in < 0 || s->out < 0)
		return tk_fail_errno(err, "descriptors of the wire");
	answers_fd = s->out;
	pthread_atfork(NULL, NULL, close_answers);
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in_fd == STDIN_FILENO && null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	if (out_fd == STDOUT_FILENO)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (null_fd >= 0)
		close(null_fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return TK_OK;
}

static int serve_requests(struct serve *s, struct tk_error *err)
{
	AUTO(tk_wire_reader) reader = {.fd = s->in};
	enum tk_wire_read what = TK_WIRE_READ_MORE;
	int status = send_hello(s, err);
	while (!status) {
		json_t *request = NULL;
		status = tk_wire_next_line(&reader, &what, &request, err);
		if (!status && what == TK_WIRE_READ_LINE) {
			json_t *answer = run_request(s, request);
			json_decref(request);
			status = tk_wire_write(s->out, answer, err);
			json_decref(answer);
			continue;
		}
		if (!status && !(status = tk_wire_read_more(&reader, &what, err)) &&
		        what == TK_WIRE_READ_END)
			break;
	}
	return status;
}

int tk_worker_serve(int in_fd, int out_fd)
{
	struct serve s = {.in = -1, .out = -1};
	struct tk_error err = {0};
	signal(SIGPIPE, SIG_IGN);
	int status = move_wire(&s, in_fd, out_fd, &err);
	if (!status)
		status = serve_requests(&s, &err);
	tk_worker_state_close(&s.state);
	if (s.in >= 0)
		close(s.in);
	if (s.out >= 0)
		close(s.out);
	if (status)
		dprintf(STDERR_FILENO, "tracker worker: %s\n", err.message);
	return status ? 4 : 0;
}
