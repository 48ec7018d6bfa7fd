/* Compression and archives. An archive may come from an untrusted source: it is read twice, first
 * to check every entry, then to write. */
#include "base/base.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ENTRIES_MAX 200000
#define DEPTH_MAX 64
/* A small archive may be all zeros; a large one of this ratio is made to fill the disk. */
#define RATIO_MAX 1000
#define RATIO_FROM_BYTES ((size_t)256 << 20)

/* ---- blobs ---- */

int tk_zstd_compress(const void *data, size_t len, struct tk_buf *out, struct tk_error *err)
{
	size_t bound = ZSTD_compressBound(len), n;
	char *room = tk_buf_reserve(out, bound);
	ZSTD_CCtx *c;

	if (!room)
		return tk_buf_status(out, err);
	c = tk_check_memory(ZSTD_createCCtx());
	/* four bytes: the format alone cannot distinguish valid stored data from damaged data */
	n = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	if (!ZSTD_isError(n))
		n = ZSTD_compress2(c, room, bound, data, len);
	ZSTD_freeCCtx(c);
	if (ZSTD_isError(n))
		return tk_fail(err, TK_EINTERNAL, "zstd: %s", ZSTD_getErrorName(n));
	tk_buf_commit(out, n);
	return TK_OK;
}

int tk_zstd_decompress(
        const void *data, size_t len, size_t max_bytes, struct tk_buf *out, struct tk_error *err)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, len, 0};
	char block[65536];
	size_t left = 1, start = out->len;
	int status = TK_OK;

	while (left > 0 && !status) {
		ZSTD_outBuffer o = {block, sizeof block, 0};
		size_t before = in.pos;

		left = ZSTD_decompressStream(stream, &o, &in);
		if (ZSTD_isError(left))
			status = tk_fail(err, TK_EDATA, "zstd: %s", ZSTD_getErrorName(left));
		else if (max_bytes && out->len - start + o.pos > max_bytes)
			status =
			        tk_fail(err, TK_EDATA, "unpacks to more than %zu bytes", max_bytes);
		else if (left > 0 && o.pos == 0 && in.pos == before)
			status = tk_fail(err, TK_EDATA, "zstd: truncated");
		else
			tk_buf_add(out, block, o.pos);
	}
	if (!status && in.pos != in.size)
		status = tk_fail(
		        err, TK_EDATA, "zstd: %zu extra bytes after the end", in.size - in.pos);
	ZSTD_freeDStream(stream);
	return status ? status : tk_buf_status(out, err);
}

/* ---- writing ---- */

struct writer {
	struct archive *a;
	const char *dir, *below; /* what is walked, and its name in the archive; "": the top */
};

static int fail_archive(struct tk_error *err, struct archive *a, const char *what)
{
	const char *reason = archive_error_string(a);
	int e = archive_errno(a);

	return tk_fail(err, e == ENOSPC || e == EDQUOT ? TK_ENOSPC : TK_EDATA, "%s: %s", what,
	        reason ? reason : "not readable");
}

static int write_content(struct archive *a, const char *path, struct tk_error *err)
{
	char block[65536];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), status = TK_OK;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f)
		return tk_fail_errno(err, "%s", path);
	for (size_t n; !status && (n = fread(block, 1, sizeof block, f)) > 0;)
		if (archive_write_data(a, block, n) != (la_ssize_t)n)
			status = fail_archive(err, a, path);
	if (!status && ferror(f))
		status = tk_fail_errno(err, "%s", path);
	fclose(f);
	return status;
}

static int write_entry(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	struct writer *w = arg;
	AUTO_TEXT path = tk_path_join(w->dir, relative);
	AUTO_TEXT name = tk_path_join(w->below, relative);
	char link[PATH_MAX];
	int status = TK_OK;

	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode))
		return TK_OK;
	struct archive_entry *e = archive_entry_new();
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, st->st_mode & S_IFMT);
	archive_entry_set_perm(e, st->st_mode & 0111 ? 0755 : 0644);
	archive_entry_set_mtime(e, 0, 0);
	if (S_ISREG(st->st_mode))
		archive_entry_set_size(e, st->st_size);
	if (S_ISLNK(st->st_mode)) {
		ssize_t n = readlink(path, link, sizeof link - 1);

		link[n > 0 ? n : 0] = '\0';
		archive_entry_set_symlink(e, link);
	}
	if (archive_write_header(w->a, e) != ARCHIVE_OK)
		status = fail_archive(err, w->a, name);
	else if (S_ISREG(st->st_mode))
		status = write_content(w->a, path, err);
	archive_entry_free(e);
	return status;
}

int tk_archive_write(
        const char *archive_path, const char *dir, const char *const *names, struct tk_error *err)
{
	static const char *const whole[] = {"", NULL};
	AUTO_TEXT temp = tk_sprintf("%s.tmp%ld", archive_path, (long)getpid());
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666),
	    status = TK_OK;

	if (fd < 0)
		return tk_fail_errno(err, "writing %s", archive_path);
	struct archive *a = archive_write_new();
	/* Names are bytes: they are restored unchanged in every locale. */
	if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
	        archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
	        archive_write_set_options(a, "pax:hdrcharset=BINARY") != ARCHIVE_OK ||
	        archive_write_open_fd(a, fd) != ARCHIVE_OK)
		status = fail_archive(err, a, archive_path);
	for (const char *const *name = names ? names : whole; !status && *name; name++) {
		AUTO_TEXT folder = tk_path_join(dir, *name);
		status = tk_dir_walk(folder, write_entry, &(struct writer){a, folder, *name}, err);
	}
	if (archive_write_close(a) != ARCHIVE_OK && !status)
		status = fail_archive(err, a, archive_path);
	archive_write_free(a);
	if ((close(fd) != 0 || (!status && rename(temp, archive_path) != 0)) && !status)
		status = tk_fail_errno(err, "writing %s", archive_path);
	if (status)
		unlink(temp);
	return status;
}

/* ---- reading ---- */

/* Depth of the end of `path`, which begins at `depth`; -1 if it is absolute or leaves the start
 * folder on the way. */
static int depth_below(const char *path, int depth)
{
	if (*path == '/' || !*path)
		return -1;
	while (*path && depth >= 0) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (n > 0 && !(n == 1 && path[0] == '.'))
			depth++;
		path += n + (path[n] == '/');
	}
	return depth;
}

static bool has_dotdot(const char *path)
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/')
		if (path[0] == '.' && path[1] == '.' && (path[2] == '/' || !path[2]))
			return true;
	return false;
}

/* NULL if the entry may be written, else the reason why not. */
static const char *objection(struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e), *target = archive_entry_symlink(e);
	mode_t type = archive_entry_filetype(e);

	if (!name || !*name)
		return "has no name";
	if (*name == '/')
		return "has an absolute name";
	if (has_dotdot(name))
		return "leaves the folder";
	if (depth_below(name, 0) > DEPTH_MAX)
		return "lies in too many folders";
	if (archive_entry_hardlink(e))
		return "is a hard link";
	if (type == AE_IFLNK)
		return target && depth_below(name, 0) > 0 &&
		                       depth_below(target, depth_below(name, 0) - 1) >= 0
		               ? NULL
		               : "is a link to the outside";
	return type == AE_IFREG || type == AE_IFDIR ? NULL : "is not a file, folder or link";
}

/* Calls `visit` for each entry of the archive. */
static int read_entries(int fd,
        int (*visit)(void *arg, struct archive *a, struct archive_entry *e, struct tk_error *err),
        void *arg, struct tk_error *err)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	int status = TK_OK, r;

	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (lseek(fd, 0, SEEK_SET) != 0 || archive_read_open_fd(a, fd, 65536) != ARCHIVE_OK)
		status = fail_archive(err, a, "archive");
	while (!status && (r = archive_read_next_header(a, &e)) != ARCHIVE_EOF)
		status = r == ARCHIVE_OK ? visit(arg, a, e, err) : fail_archive(err, a, "entry");
	archive_read_free(a);
	return status;
}

struct check {
	size_t max_bytes, bytes, entries;
};

static int check_content(struct archive *a, struct check *c, struct tk_error *err)
{
	char block[65536];
	la_ssize_t n;

	while ((n = archive_read_data(a, block, sizeof block)) > 0) {
		c->bytes += (size_t)n;
		if (c->max_bytes && c->bytes > c->max_bytes)
			return tk_fail(
			        err, TK_EDATA, "unpacks to more than %zu bytes", c->max_bytes);
		if (c->bytes > RATIO_FROM_BYTES &&
		        c->bytes / RATIO_MAX > (size_t)archive_filter_bytes(a, -1))
			return tk_fail(
			        err, TK_EDATA, "unpacks to more than %d times its size", RATIO_MAX);
	}
	return n < 0 ? fail_archive(err, a, "content") : TK_OK;
}

static int check_entry(void *arg, struct archive *a, struct archive_entry *e, struct tk_error *err)
{
	struct check *c = arg;
	const char *why = objection(e), *name = archive_entry_pathname(e);

	if (++c->entries > ENTRIES_MAX)
		return tk_fail(err, TK_EDATA, "more than %d entries", ENTRIES_MAX);
	if (why)
		return tk_fail(
		        err, TK_EDATA, "entry \"%.200s\" %s: refused", name ? name : "", why);
	/* A sparse file takes no space in the archive but its whole size on the disk. */
	if (c->max_bytes && archive_entry_size(e) > 0 &&
	        (uint64_t)archive_entry_size(e) > c->max_bytes)
		return tk_fail(err, TK_EDATA, "unpacks to more than %zu bytes", c->max_bytes);
	return check_content(a, c, err);
}

struct target {
	const char *root;
	struct archive *disk;
};

static int extract_entry(
        void *arg, struct archive *a, struct archive_entry *e, struct tk_error *err)
{
	struct target *t = arg;
	AUTO_TEXT path = tk_path_join(t->root, archive_entry_pathname(e));

	archive_entry_set_pathname(e, path);
	archive_entry_set_perm(e, (archive_entry_perm(e) & 0777) |
	                                  (archive_entry_filetype(e) == AE_IFDIR ? 0700 : 0600));
	return archive_read_extract2(a, e, t->disk) == ARCHIVE_OK ? TK_OK
	                                                          : fail_archive(err, a, path);
}

static int extract_all(int fd, const char *dir, struct tk_error *err)
{
	char root[PATH_MAX];
	struct target t = {root, NULL};
	TRY(tk_dir_create(dir, err));
	if (!realpath(dir, root))
		return tk_fail_errno(err, "%s", dir);
	/* The names are checked and `root` has no links: what libarchive refuses now is a link that
	 * an earlier entry made. */
	t.disk = archive_write_disk_new();
	archive_write_disk_set_options(
	        t.disk, ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT);
	int status = read_entries(fd, extract_entry, &t, err);
	if (archive_write_close(t.disk) != ARCHIVE_OK && !status)
		status = fail_archive(err, t.disk, root);
	archive_write_free(t.disk);
	return status;
}

int tk_archive_extract(
        const char *archive_path, const char *dir, size_t max_bytes, struct tk_error *err)
{
	struct check c = {.max_bytes = max_bytes};
	int fd = open(archive_path, O_RDONLY | O_CLOEXEC), status;

	if (fd < 0)
		return tk_fail_errno(err, "%s", archive_path);
	status = read_entries(fd, check_entry, &c, err);
	if (!status)
		status = extract_all(fd, dir, err);
	close(fd);
	if (status)
		tk_error_add_context(err, "%s", archive_path);
	return status;
}
