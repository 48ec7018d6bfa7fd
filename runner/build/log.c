/* What the log of a failed build says: its first diagnostic, and whether the system ended it. */
#include "base/base.h"
#include "build/build_internal.h"
#include <fcntl.h>
#include <regex.h>
#include <stddef.h>

#define MESSAGE_BYTES 400

static const char *const disk_full_signs[] = {
        "No space left on device", "Disk quota exceeded", NULL};
/* As make, gcc, clang, nvcc, collect2 and ninja print it. A shell prints only "Killed" at the end
 * of a line. Then what ccache and the sandbox print. */
static const char *const system_signs[] = {"Killed signal terminated program",
        "terminated with signal 9", "died due to signal 9", "unable to execute command: Killed",
        "virtual memory exhausted", "Cannot allocate memory", "out of memory allocating",
        "LLVM ERROR: out of memory", "c++: fatal error: Killed", "std::bad_alloc", "Killed\n",
        "ccache: error: ", "bwrap: ", "Read-only file system", NULL};

/* An adapter without a sandbox may have replaced the log. NULL: there is none. */
static FILE *open_log(const char *path)
{
	int fd = tk_file_open_regular(AT_FDCWD, path, NULL);
	return fd < 0 ? NULL : tk_check_memory(fdopen(fd, "r"));
}

/* The first line with one of the signs; "": there is none. */
static char *find_line(const char *log_path, const char *const *signs)
{
	AUTO_TEXT line = NULL;
	char found[MESSAGE_BYTES] = "";
	size_t size = 0;
	FILE *f = open_log(log_path);
	while (f && !*found && getline(&line, &size, f) >= 0)
		for (const char *const *s = signs; *s && !*found; s++)
			if (strstr(line, *s))
				tk_text_copy_line(found, sizeof found, line);
	if (f)
		fclose(f);
	return tk_strdup(found);
}

bool tk_build_log_has_disk_full(const char *log_path)
{
	AUTO_TEXT line = find_line(log_path, disk_full_signs);
	return *line;
}

char *tk_build_log_find_system_failure(const char *log_path)
{
	return find_line(log_path, system_signs);
}

/* ---- the first diagnostic ---- */

enum rank {
	OTHER,    /* a command, progress, a warning */
	FOLLOWUP, /* says that something failed, not why */
	WEAK,     /* may be the answer to a question of a script: "sh: 1: perl: not found" */
	REAL
};

/* What a line is: the first pattern that it matches says so; letters in either case. */
static const struct sign {
	enum rank rank;
	const char *pattern;
} signs[] = {
        {FOLLOWUP, "^FAILED: "},
        {OTHER, "^(\\+ |\\[ *[0-9]+[/%]|echo |if |-- )| -o [^ ]|"
                "(^|: )((cmake )?(deprecation )?warning|note|remark)( #[0-9]| \\(|:| at )"},
        {FOLLOWUP, "ld returned [0-9]|linker command failed|build stopped|Configuring incomplete|"
                   "errors? generated|compilation terminated|\\*\\*\\* (\\[|Waiting)|"
                   "aborted due to err|treated as errors|subprocess-exited-with-error|"
                   "metadata-generation-failed|ERROR: (Failed|Could not) build|"
                   "error: command .* failed|^failed to build|failed to execute:|"
                   "final link failed|CalledProcessError|SystemExit|errors? detected"},
        /* gcc, clang, hipcc, gas, meson; nvcc's front end; its other programs */
        {REAL, ":[0-9]+(:[0-9]+)?: ((fatal|internal compiler) )?error:"},
        {REAL, "\\([0-9]+\\) ?: ((catastrophic|internal) )?error( #[0-9]+(-D)?)?:|"
               "\", line [0-9]+: ((catastrophic|fatal) )?error"},
        {REAL, "^(nvcc|nvlink|ptxas|fatbinary|cudafe[+][+]|cicc)( .*[;,])? +(error|fatal) *:"},
        /* linkers */
        {REAL, "undefined reference to|undefined symbol|multiple definition of|cannot find -l|"
               "^[^ ]*(ld|lld|gold|mold)(\\.[a-z]+)?: .*(cannot |undefined|relocation|"
               "not recognized|no such file|unrecognized|unknown)"},
        /* any program; CMake; make; scripts; cargo */
        {REAL, "^[^ ]+: ((fatal|internal compiler) )?error:|^ninja: fatal:|^CMake Error"},
        {REAL, "\\*\\*\\* .*\\. +Stop\\.$"},
        {REAL, "^(fatal )?error(\\[[A-Z0-9]+\\])?:|^fatal:"},
        {REAL, "^[a-z_][a-z0-9_.]*(Error|Exception)(:|$)|assertion .* failed"},
        {WEAK, "error:|error |: (command )?not found|no such file|permission denied|cannot |"
               "can't |could not |unable to |unsupported|not supported|segmentation fault|"
               "illegal instruction|bus error|terminate called|syntax error|out of memory|"
               "no space left|memory exhausted|not set$|unbound variable|no module named"},
};
#define SIGNS (sizeof signs / sizeof *signs)

/* One pass over a log. */
struct scan {
	FILE *f;
	regex_t patterns[SIGNS];
	char *line;
	size_t size;
	char *text, *real, *weak, *last; /* text: the line without blanks around it and colours */
	bool has_failed;                 /* a line of ninja or make said so */
};

/* Colours are "ESC [ ... m" and "ESC [ K". */
static void remove_colors(char *line)
{
	char *out = line;
	for (const char *in = line; *in;) {
		if (in[0] == '\033' && in[1] == '[') {
			in += 2 + strspn(in + 2, "0123456789;");
			in += *in != '\0';
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
}

static bool read_line(struct scan *s)
{
	if (getline(&s->line, &s->size, s->f) < 0)
		return false;
	remove_colors(s->line);
	s->text = s->line + strspn(s->line, " \t\r\n");
	for (size_t n = strlen(s->text); n && strchr(" \t\r\n", s->text[n - 1]); n--)
		s->text[n - 1] = '\0';
	return true;
}

static enum rank find_rank(const struct scan *s, const char *text)
{
	for (size_t i = 0; i < SIGNS; i++)
		if (!regexec(&s->patterns[i], text, 0, NULL, 0))
			return signs[i].rank;
	return OTHER;
}

/* Of "configure: " and "collect2:" nothing is left to print. */
static bool says_nothing(const char *text)
{
	return text[strcspn(text, " ")] == '\0' && *text && text[strlen(text) - 1] == ':';
}

static void set(char **to, const char *text)
{
	free(*to);
	*to = tk_strdup(text);
}

/* "CMake Error at FILE:LINE (message):" lacks the message: it is the next line with a compiler's
 * error, else the next paragraph. */
static void add_message_of_cmake(struct scan *s)
{
	AUTO(tk_buf) paragraph = TK_BUF_INIT;
	AUTO_TEXT head = tk_strdup(s->text);
	bool is_over = false;
	for (int left = 40; left > 0 && read_line(s) && strncmp(s->text, "Call Stack", 10);
	        left--) {
		if (find_rank(s, s->text) == REAL) {
			tk_buf_clear(&paragraph);
			tk_buf_add_str(&paragraph, s->text);
			break;
		}
		is_over |= paragraph.len && !*s->text;
		if (!is_over && *s->text)
			tk_buf_add_printf(&paragraph, "%s%s", paragraph.len ? " " : "", s->text);
	}
	free(s->real);
	s->real = tk_sprintf("%s %s", head, tk_buf_cstr(&paragraph));
}

/* Of the exception that ends a traceback. */
static void add_exception(struct scan *s)
{
	const ptrdiff_t indent = s->text - s->line;
	while (read_line(s) && (!*s->text || s->text - s->line > indent))
		;
	set(find_rank(s, s->text) == FOLLOWUP ? &s->weak : &s->real, s->text);
}

static void add_real(struct scan *s)
{
	const size_t len = strlen(s->text);
	if (!strncmp(s->text, "CMake Error", 11) && s->text[len - 1] == ':') {
		add_message_of_cmake(s);
		return;
	}
	set(&s->real, s->text);
	/* "configure: error: in `/folder':" and then the error */
	if (len > 2 && !strcmp(s->text + len - 2, "':") && read_line(s) &&
	        find_rank(s, s->text) == REAL)
		set(&s->real, s->text);
}

/* What ninja prints before its first "FAILED:" are other commands, which succeeded. */
static void add_followup(struct scan *s)
{
	if (!s->has_failed && !strncmp(s->text, "FAILED: ", 8)) {
		free(s->real);
		s->real = NULL;
	}
	s->has_failed = true;
}

static void scan_line(struct scan *s)
{
	if (!*s->text || says_nothing(s->text))
		return;
	set(&s->last, s->text);
	if (!s->real && !strncmp(s->text, "Traceback (most recent", 22)) {
		add_exception(s);
		return;
	}
	switch (find_rank(s, s->text)) {
	case REAL:
		if (!s->real)
			add_real(s);
		break;
	case WEAK: /* the last one before the build failed */
		if (!s->has_failed)
			set(&s->weak, s->text);
		break;
	case FOLLOWUP:
		add_followup(s);
		break;
	case OTHER:
		break;
	}
}

/* Else the last of the weak ones, else the last line that is not blank. */
char *tk_build_log_find_error(const char *log_path)
{
	struct scan s = {.f = open_log(log_path)};
	char clean[MESSAGE_BYTES] = "";
	if (!s.f)
		return tk_strdup("");
	for (size_t i = 0; i < SIGNS; i++)
		regcomp(&s.patterns[i], signs[i].pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	while (read_line(&s))
		scan_line(&s);
	const char *found = s.real ? s.real : s.weak ? s.weak : s.last;
	tk_text_copy_line(clean, sizeof clean, found ? found : "");
	for (size_t i = 0; i < SIGNS; i++)
		regfree(&s.patterns[i]);
	fclose(s.f);
	free(s.line);
	free(s.real);
	free(s.weak);
	free(s.last);
	return tk_strdup(clean);
}
