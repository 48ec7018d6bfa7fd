/* The worker's side of the referee: see referee.h. */
#include "base/base.h"
#include "core/problem.h"
#include "worker/job.h"
#include "worker/referee.h"
#include <sys/socket.h>
#include <unistd.h>

struct bursts {
	struct tk_worker_state *s;
	struct tk_problem_spec problem;
	struct tk_referee_memory layout;
	int socket;
	char *memory;
	struct tk_plan *plan;
	void *stream, *graph; /* graph: one launch on each set; NULL: none */
	struct tk_abi_error abi;
	enum tk_outcome *outcome;
	struct tk_error *err;
};

static int check(struct bursts *b, int status, const char *what)
{
	return status == TK_ABI_OK ? TK_OK
	                           : tk_job_fail_status(status, &b->abi, what, b->outcome, b->err);
}

static int receive_memory(struct bursts *b)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec part = {&b->layout, sizeof b->layout};
	struct msghdr message = {.msg_iov = &part,
	        .msg_iovlen = 1,
	        .msg_control = &control,
	        .msg_controllen = sizeof control};
	ssize_t n = recvmsg(b->socket, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int fd;
	if (n != sizeof b->layout || !c || c->cmsg_type != SCM_RIGHTS)
		return tk_fail(b->err, TK_EDATA, "the referee sent no memory");
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	void *memory = NULL;
	int status = b->s->ops->attach ? b->s->ops->attach(b->s->device, fd, b->layout.bytes,
	                                         &memory, &b->abi)
	                               : TK_ABI_UNSUPPORTED;
	close(fd);
	b->memory = memory;
	return check(b, status, "the referee's memory");
}

static int bind_sets(struct bursts *b)
{
	struct tk_tensor t[TK_T_MAX];
	uint32_t count = 0;
	TRY(tk_problem_list_tensors(&b->problem, t, &count, b->err));
	for (uint32_t set = 0; set < b->layout.sets; set++) {
		for (uint32_t i = 0; i < count; i++)
			t[i].data = b->memory + set * b->layout.stride + b->layout.offsets[i];
		TRY(check(b, b->s->backend.bind(b->plan, set, t, count, &b->abi), "bind"));
	}
	return TK_OK;
}

static int launch_all(struct bursts *b)
{
	for (uint32_t set = 0; set < b->layout.sets; set++)
		TRY(check(b, b->s->backend.launch(b->plan, b->stream, set, &b->abi), "launch"));
	return TK_OK;
}

/* Like the launches that were timed: where the kernel may be captured, the host is out of them. */
static int capture(struct bursts *b)
{
	const struct tk_device_ops *o = b->s->ops;
	TRY(check(b, o->graph_begin(b->s->device, b->stream, &b->abi), "graph capture"));
	int status = launch_all(b);
	int ended = o->graph_end(b->s->device, b->stream, &b->graph, &b->abi);
	return status ? status : check(b, ended, "graph capture");
}

static int prepare(struct bursts *b, const json_t *request)
{
	const struct tk_device_ops *o = b->s->ops;
	struct tk_plan_info info = {.size = sizeof info};
	const char *config = json_string_value(json_object_get(request, "config"));
	TRY(receive_memory(b));
	TRY(check(b, o->stream_new(b->s->device, &b->stream, &b->abi), "stream"));
	TRY(check(b,
	        b->s->backend.plan(b->s->ctx, &b->problem.abi, config, b->layout.sets, &b->plan,
	                &info, &b->abi),
	        "plan"));
	TRY(bind_sets(b));
	if (info.capturable && o->graph_begin && o->graph_end && o->graph_launch && o->graph_free) {
		TRY(launch_all(b)); /* what is compiled or loaded first cannot be captured */
		TRY(check(b, o->synchronize(b->s->device, b->stream, &b->abi), "synchronize"));
		TRY(capture(b));
	}
	return TK_OK;
}

static int run_command(struct bursts *b, char command)
{
	const struct tk_device_ops *o = b->s->ops;
	if (command == TK_REFEREE_BURST)
		TRY(b->graph ? check(b, o->graph_launch(b->s->device, b->graph, b->stream, &b->abi),
		                       "graph launch")
		             : launch_all(b));
	for (uint32_t set = 0;
	        command == TK_REFEREE_FETCH && b->s->backend.fetch && set < b->layout.sets; set++)
		TRY(check(b, b->s->backend.fetch(b->plan, set, &b->abi), "fetch"));
	return check(b, o->synchronize(b->s->device, b->stream, &b->abi), "synchronize");
}

static int serve(struct bursts *b, const json_t *request)
{
	char command = TK_REFEREE_READY;
	TRY(prepare(b, request));
	while (command != TK_REFEREE_END) {
		if (send(b->socket, &command, 1, MSG_NOSIGNAL) != 1 ||
		        recv(b->socket, &command, 1, 0) != 1)
			return tk_fail(b->err, TK_EIO, "the referee is gone");
		TRY(run_command(b, command));
	}
	return TK_OK;
}

static void release(struct bursts *b)
{
	const struct tk_device_ops *o = b->s->ops;
	if (b->graph)
		o->graph_free(b->s->device, b->graph);
	if (b->plan)
		b->s->backend.unplan(b->plan);
	if (b->stream)
		o->stream_free(b->s->device, b->stream);
	if (b->memory)
		o->detach(b->s->device, b->memory, b->layout.bytes);
}

int tk_job_serve_bursts(struct tk_worker_state *s, const json_t *request, json_t **result,
        enum tk_outcome *outcome, struct tk_error *err)
{
	struct bursts b = {.s = s,
	        .socket = (int)json_integer_value(json_object_get(request, "socket")),
	        .abi = {.size = sizeof b.abi},
	        .outcome = outcome,
	        .err = err};
	const char *text = json_string_value(json_object_get(request, "problem"));
	int status = tk_problem_parse(&b.problem, text ? text : "", err);
	if (!status)
		status = serve(&b, request);
	release(&b);
	if (status) /* the referee waits for an answer */
		shutdown(b.socket, SHUT_RDWR);
	else
		*result = json_object();
	return status;
}
