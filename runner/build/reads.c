/* Which files of its work tree a build reads. inotify reports each open of a file, whatever opens
 * it: compilers (also statically linked ones), ccache, CMake, Python, a shell script.
 *
 * The list is the file reads.txt of an artifact: "recipe <hash>", then a path a line, sorted. */
#include "build/build_internal.h"
#include "upstream/repo.h"
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST "reads.txt"
#define HEAD "recipe "
#define LIST_MAX_BYTES ((size_t)64 << 20)
#define DEPTH_MAX 64
#define POLL_MS 50

/* A file that was there before the build began. */
struct file {
	char *path; /* from the top of the work tree */
	bool is_read;
};

struct folder {
	char *path;          /* "" or ends with a slash */
	size_t first, count; /* its files, sorted */
};

struct tk_reads {
	char *dir;
	int fd; /* of inotify */
	struct file *files;
	size_t file_count;
	struct folder *folders; /* by the number that inotify gave it */
	size_t folder_count;
	bool is_incomplete;
	atomic_bool stop;
	pthread_t thread;
};

/* ---- before the build ---- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static void add_file(struct tk_reads *r, const char *folder, const char *name)
{
	r->files = tk_reallocarray(r->files, r->file_count + 1, sizeof *r->files);
	r->files[r->file_count++] = (struct file){.path = tk_sprintf("%s%s", folder, name)};
}

/* inotify numbers folders from 1 on. */
static struct folder *add_folder(struct tk_reads *r, int number, const char *path)
{
	while (r->folder_count <= (size_t)number) {
		r->folders = tk_reallocarray(r->folders, r->folder_count + 1, sizeof *r->folders);
		r->folders[r->folder_count++] = (struct folder){.path = NULL};
	}
	struct folder *f = &r->folders[number];
	f->path = tk_strdup(path);
	f->first = r->file_count;
	return f;
}

/* `path`: of a folder, "" or with a slash at its end. False: not all of it can be watched. */
static bool watch(struct tk_reads *r, const char *path, int depth)
{
	AUTO_TEXT full = tk_path_join(r->dir, path);
	char **names = NULL;
	size_t count = 0;
	const int number = inotify_add_watch(
	        r->fd, full, IN_OPEN | IN_MOVED_FROM | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (number < 0 || depth == DEPTH_MAX || tk_dir_list(full, &names, &count, NULL))
		return false;
	bool *is_folder = tk_calloc(count + 1, sizeof *is_folder);
	struct folder *f = add_folder(r, number, path);
	for (size_t i = 0; i < count; i++) {
		AUTO_TEXT at = tk_path_join(full, names[i]);
		struct stat st;
		if (!strcmp(names[i], ".git") || lstat(at, &st))
			continue;
		is_folder[i] = S_ISDIR(st.st_mode);
		if (S_ISREG(st.st_mode))
			add_file(r, path, names[i]);
	}
	f->count = r->file_count - f->first;
	tk_sort(r->files + f->first, f->count, sizeof *r->files, by_path);
	bool is_whole = true;
	for (size_t i = 0; is_whole && i < count; i++) {
		AUTO_TEXT below = tk_sprintf("%s%s/", path, names[i]);
		is_whole = !is_folder[i] || watch(r, below, depth + 1);
	}
	free(is_folder);
	tk_names_free(names, count);
	return is_whole;
}

/* ---- while it runs ---- */

static struct file *find_file(struct tk_reads *r, const struct inotify_event *e)
{
	const struct folder *f =
	        e->wd > 0 && (size_t)e->wd < r->folder_count && e->len ? &r->folders[e->wd] : NULL;
	if (!f || !f->path || !f->count)
		return NULL;
	AUTO_TEXT path = tk_sprintf("%s%s", f->path, e->name);
	const struct file key = {.path = path};
	return bsearch(&key, r->files + f->first, f->count, sizeof key, by_path);
}

static void note_event(struct tk_reads *r, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW || (e->mask & IN_ISDIR && e->mask & IN_MOVED_FROM))
		r->is_incomplete = true;
	if (e->mask & IN_ISDIR)
		return;
	struct file *f = find_file(r, e);
	if (f)
		f->is_read = true;
}

/* All events that are there. */
static void note_events(struct tk_reads *r)
{
	union {
		struct inotify_event first;
		char bytes[1 << 16];
	} buffer;
	for (ssize_t n; (n = read(r->fd, &buffer, sizeof buffer)) > 0;) {
		const struct inotify_event *e;
		for (const char *at = buffer.bytes; at < buffer.bytes + n;
		        at += sizeof *e + e->len) {
			e = (const void *)at;
			note_event(r, e);
		}
	}
}

static void *record(void *argument)
{
	struct tk_reads *r = argument;
	struct pollfd at = {.fd = r->fd, .events = POLLIN};
	while (!atomic_load(&r->stop))
		if (poll(&at, 1, POLL_MS) > 0)
			note_events(r);
	note_events(r);
	return NULL;
}

static void free_reads(struct tk_reads *r)
{
	for (size_t i = 0; i < r->file_count; i++)
		free(r->files[i].path);
	for (size_t i = 0; i < r->folder_count; i++)
		free(r->folders[i].path);
	free(r->files);
	free(r->folders);
	free(r->dir);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

struct tk_reads *tk_reads_start(const char *dir)
{
	struct tk_reads *r = tk_calloc(1, sizeof *r);
	r->dir = tk_strdup(dir);
	r->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (r->fd < 0 || !watch(r, "", 0) || pthread_create(&r->thread, NULL, record, r)) {
		tk_log(TK_LOG_DEBUG, "reads_unknown", NULL,
		        "what builds read is not recorded: %s cannot be watched", dir);
		free_reads(r);
		return NULL;
	}
	return r;
}

/* ---- after it ---- */

/* Other names of a file are not watched. */
static bool has_other_names(const struct tk_reads *r, const struct file *f)
{
	AUTO_TEXT path = tk_path_join(r->dir, f->path);
	struct stat st;
	return !lstat(path, &st) && st.st_nlink > 1;
}

int tk_reads_finish(struct tk_reads *r, const char *recipe, const char *path, struct tk_error *err)
{
	size_t count = 0;
	if (!r)
		return TK_OK;
	atomic_store(&r->stop, true);
	pthread_join(r->thread, NULL);
	const char **names = tk_calloc(r->file_count + 1, sizeof *names);
	for (size_t i = 0; i < r->file_count; i++)
		if (r->files[i].is_read || has_other_names(r, &r->files[i])) {
			names[count++] = r->files[i].path;
			r->is_incomplete |= strchr(r->files[i].path, '\n') != NULL;
		}
	tk_names_sort(names, count);
	AUTO(tk_buf) text = TK_BUF_INIT;
	tk_buf_add_printf(&text, HEAD "%s\n", recipe ? recipe : "");
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(&text, "%s\n", names[i]);
	free(names);
	const bool is_known = path && count && !r->is_incomplete;
	free_reads(r);
	return is_known ? tk_file_write_nosync(path, text.data, text.len, err) : TK_OK;
}

/* ---- which changes count ---- */

char *tk_reads_path(const char *artifact_dir)
{
	return tk_path_join(artifact_dir, LIST);
}

bool tk_reads_has_recipe(const char *path, const char *recipe)
{
	char line[sizeof HEAD + TK_HASH_HEX_SIZE] = "";
	FILE *f = fopen(path, "re");
	const bool is_read = f && fgets(line, sizeof line, f);
	if (f)
		fclose(f);
	return is_read && !strncmp(line, HEAD, strlen(HEAD)) &&
	       !strncmp(line + strlen(HEAD), recipe, TK_HASH_HEX_SIZE - 1);
}

/* The part after the last slash. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static const char *extension(const char *path)
{
	const char *dot = strrchr(base_name(path), '.');
	return dot ? dot : "";
}

/* Whether it is one of `paths`, which have : between them, or below one. */
static bool is_within(const char *read, const char *paths)
{
	for (size_t len; *paths; paths += len + (paths[len] == ':')) {
		len = strcspn(paths, ":");
		const size_t n = len && paths[len - 1] == '/' ? len - 1 : len;
		if (n && !strncmp(read, paths, n) && (!read[n] || read[n] == '/'))
			return true;
	}
	return false;
}

size_t tk_reads_count_outside(const char *path, const char *paths, char first[TK_CHANGED_SIZE])
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	size_t count = 0;
	if (!tk_file_exists(path) || tk_file_read(path, LIST_MAX_BYTES, &text, NULL))
		return 0;
	char *rest = text.data;
	strsep(&rest, "\n"); /* the recipe */
	for (const char *read; (read = strsep(&rest, "\n")) && *read;)
		if (!is_within(read, paths) && !count++)
			snprintf(first, TK_CHANGED_SIZE, "%s", read);
	return count;
}

/* A new file may be found in place of one that was read (the first of several folders, one of
 * several names), or beside it (a pattern). */
static bool may_be_read_instead(const char *added, const char *read)
{
	const size_t top = strcspn(added, "/");
	return !strcmp(base_name(added), base_name(read)) ||
	       (strcspn(read, "/") == top && !strncmp(added, read, added[top] ? top + 1 : 0) &&
	               !added[top] == !read[top] && !strcmp(extension(added), extension(read)));
}

static bool counts(const struct tk_change *c, const char *read)
{
	const size_t len = strlen(c->path);
	switch (c->kind) {
	case TK_CHANGE_SUBMODULE:
		return !strncmp(read, c->path, len) && read[len] == '/';
	case TK_CHANGE_ADDED:
		return may_be_read_instead(c->path, read);
	default:
		return !strcmp(c->path, read);
	}
}

/* Links are followed and never opened themselves; attributes decide what a checkout makes of
 * files. */
static bool counts_always(const struct tk_change *c)
{
	return c->kind == TK_CHANGE_LINK || !strcmp(base_name(c->path), ".gitattributes") ||
	       !strcmp(c->path, ".gitmodules");
}

int tk_reads_find_change(const char *path, const struct tk_changes *changes,
        const struct tk_change **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read(path, LIST_MAX_BYTES, &text, err));
	*out = NULL;
	for (size_t i = 0; !*out && i < changes->count; i++)
		if (counts_always(&changes->list[i]))
			*out = &changes->list[i];
	char *rest = text.data;
	strsep(&rest, "\n"); /* the recipe */
	for (const char *read; !*out && (read = strsep(&rest, "\n")) && *read;)
		for (size_t i = 0; !*out && i < changes->count; i++)
			if (counts(&changes->list[i], read))
				*out = &changes->list[i];
	return TK_OK;
}
