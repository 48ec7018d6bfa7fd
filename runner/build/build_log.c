/* Finding the line of a build log that says why the build failed. */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "build/build_internal.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Phrases of compilers, linkers, make, CMake and the system. */
static const char *const signs[] = {"error:", "CMake Error", "undefined reference",
        "undefined symbol", "cannot find", "cannot open", "Cannot allocate memory",
        "memory exhausted", "out of memory", "No space left", "Permission denied",
        "command not found", ": not found", "No rule to make target", "Segmentation fault", "ERROR",
        NULL};

static bool is_error(const char *line)
{
	for (size_t i = 0; signs[i]; i++) {
		if (strcasestr(line, signs[i]))
			return true;
	}
	return false;
}

/* "CMake Error at FILE:LINE (message):" lacks the message: it is the next line with a compiler's
 * error, else the next line that is not blank. */
static void add_message(FILE *f, char **found)
{
	char *line = NULL, *next = NULL, *both = NULL;
	size_t size = 0;
	const size_t n = *found ? strlen(*found) : 0;
	if (!n || !strstr(*found, "CMake Error at ") || (*found)[n - 1] != ':')
		return;
	for (int left = 40; left > 0 && getline(&line, &size, f) >= 0; left--) {
		const char *text = line + strspn(line, " \t\r\n");
		const bool compiler = strstr(text, " error: ") != NULL;
		if (!*text || (next && !compiler))
			continue;
		free(next);
		next = tk_strndup(text, strcspn(text, "\r\n"));
		if (compiler)
			break;
	}
	if (next && asprintf(&both, "%s %s", *found, next) > 0) {
		free(*found);
		*found = both;
	}
	free(next);
	free(line);
}

/* The first line that matches, else the last one that is not blank. The caller frees *out, which
 * may be NULL. */
static void find_line(FILE *f, char **out)
{
	char *line = NULL, *last = NULL;
	size_t size = 0;
	while (getline(&line, &size, f) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[strspn(line, " \t")])
			continue;
		if (is_error(line)) {
			free(last);
			last = tk_strdup(line);
			add_message(f, &last);
			break;
		}
		free(last);
		last = tk_strdup(line);
	}
	free(line);
	*out = last;
}

/* An adapter without a sandbox may have replaced the log. */
static FILE *open_log(const char *path)
{
	int fd = tk_file_open_regular(AT_FDCWD, path, NULL);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

char *tk_build_log_find_error(const char *log_path)
{
	char clean[400] = "";
	char *line = NULL;
	FILE *f = open_log(log_path);
	if (f) {
		find_line(f, &line);
		fclose(f);
	}
	if (line)
		tk_text_copy_line(clean, sizeof(clean), line + strspn(line, " \t"));
	free(line);
	return tk_strdup(clean);
}

static bool is_disk_full(const char *line)
{
	return strstr(line, "No space left on device") || strstr(line, "Disk quota exceeded");
}

/* As make, gcc, clang, nvcc, collect2 and ninja print it. A shell prints only "Killed" at the end
 * of a line. */
static bool is_killed_tool(const char *line)
{
	static const char *const phrases[] = {"Killed signal terminated program",
	        "terminated with signal 9", "died due to signal 9",
	        "unable to execute command: Killed", "virtual memory exhausted",
	        "Cannot allocate memory", "out of memory allocating", "LLVM ERROR: out of memory",
	        "c++: fatal error: Killed", "std::bad_alloc"};
	const size_t len = strcspn(line, "\r\n");

	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (strstr(line, phrases[i]))
			return true;
	return len >= 6 && !strncmp(line + len - 6, "Killed", 6);
}

static bool has_line(const char *log_path, bool (*is_match)(const char *line))
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f = open_log(log_path);
	while (f && !found && getline(&line, &size, f) >= 0)
		found = is_match(line);
	if (f)
		fclose(f);
	free(line);
	return found;
}

bool tk_build_log_has_disk_full(const char *log_path)
{
	return has_line(log_path, is_disk_full);
}

bool tk_build_log_has_killed_tool(const char *log_path)
{
	return has_line(log_path, is_killed_tool);
}
