/* A backend that attacks when it is loaded; it is never a valid one. WHAT is one of the functions
 * below, PORT and FILE its targets. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

void kills(void);
void stops(void);
void traces(void);
void plants(void);
void calls(void);
void reads_memory(void);
void forks(void);
const void *tk_backend_entry(void);

void kills(void)
{
	kill(getppid(), SIGKILL);
}

void stops(void)
{
	kill(getppid(), SIGSTOP);
}

void traces(void)
{
	ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

void plants(void)
{
	close(open(FILE_TO_PLANT, O_CREAT | O_WRONLY, 0644));
}

void calls(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	connect(fd, (const struct sockaddr *)&to, sizeof to);
}

/* By the memory file of the parent, which no filter of system calls can tell from another file. */
void reads_memory(void)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
	if (open(path, O_RDWR) >= 0)
		plants();
}

/* A few more processes than a worker may have; they end by themselves. */
void forks(void)
{
	if (system(FORK_BOMB " 1500 40 wait") != 0)
		_exit(1);
}

const void *tk_backend_entry(void)
{
	WHAT();
	return NULL;
}
