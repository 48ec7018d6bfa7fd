/* A small real HTTP server in a child process. It gives fixed answers, and keeps what it was
 * asked. */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SERVER_OK(body, length) \
	"HTTP/1.1 200 OK\r\nContent-Length: " length "\r\nConnection: close\r\n\r\n" body
#define SERVER_BUSY "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

struct server {
	pid_t pid;
	char url[64], origin[64]; /* origin: "http://127.0.0.1:PORT" */
	int requests;             /* a pipe with all requests, one after the other */
};

static size_t read_request(int fd, char *data, size_t size)
{
	size_t n = 0;
	const char *body = NULL;
	while (n + 1 < size) {
		const ssize_t got = read(fd, data + n, size - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
		data[n] = '\0';
		const char *length = strcasestr(data, "content-length:");
		body = strstr(data, "\r\n\r\n");
		if (body && (!length || n >= (size_t)(body + 4 - data) +
		                                        strtoul(length + 15, NULL, 10)))
			break;
	}
	return n;
}

/* Gives the answers in turn, the last one for ever; "echo" is 200 where the body is {"a":1} and 400
 * otherwise, "hang" never answers. */
static void serve(int listener, int requests, const char *const *answers)
{
	char data[65536];
	for (size_t i = 0;; i += answers[i + 1] != NULL) {
		const int fd = accept(listener, NULL, NULL);
		const char *answer = answers[i];
		if (!read_request(fd, data, sizeof(data))) {
			close(fd);
			continue;
		}
		if (write(requests, data, strlen(data)) < 0)
			_exit(1);
		if (!strcmp(answer, "hang"))
			pause();
		if (!strcmp(answer, "echo")) {
			const bool good = strstr(data, "\r\n\r\n{\"a\":1}") &&
			                  strcasestr(data, "content-type: application/json") &&
			                  strstr(data, "X-Key: 7");
			answer = good ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: "
			                "close\r\n\r\n"
			              : "HTTP/1.1 400 Bad\r\nContent-Length: 5\r\nConnection: "
			                "close\r\n\r\nwrong";
		}
		if (write(fd, answer, strlen(answer)) < 0)
			_exit(1);
		close(fd);
	}
}

static struct server start(const char *const *answers)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	struct server s = {0};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d/hook/SECRET", ntohs(at.sin_port));
	snprintf(s.origin, sizeof(s.origin), "http://127.0.0.1:%d", ntohs(at.sin_port));
	s.requests = ends[0];
	s.pid = fork();
	assert_true(s.pid >= 0);
	if (!s.pid)
		serve(fd, ends[1], answers);
	close(fd);
	close(ends[1]);
	return s;
}

static void stop(const struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->requests);
}

#endif
