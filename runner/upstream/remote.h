/* A place for histories of several machines: a bucket of a server that speaks the S3 protocol, or
 * any server that takes a PUT. An object is one packed history (NAME.tar.zst), written whole or not
 * at all. */
#ifndef TK_UPSTREAM_REMOTE_H
#define TK_UPSTREAM_REMOTE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_remote;

#define TK_REMOTE_SUFFIX ".tar.zst"
#define TK_REMOTE_NAME_MAX 128

/* "s3://BUCKET[/FOLDER]", with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and perhaps
 * AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL in the environment; or "https://HOST/FOLDER",
 * with credentials in ~/.netrc. A URL that ends in .tar.zst names one object. TK_EUSAGE: anything
 * else; TK_ECONFIG: a variable is missing. Close with tk_remote_close. */
int tk_remote_open(const char *url, struct tk_remote **out, struct tk_error *err);
void tk_remote_close(struct tk_remote *r);
static inline void tk_remote_free_at(struct tk_remote **at) /* AUTO_PTR(tk_remote) */
{
	tk_remote_close(*at);
}
bool tk_remote_is_object(const struct tk_remote *r); /* the URL names one */

/* Names of objects without the suffix, sorted; free with tk_names_free. TK_EUSAGE: the server
 * cannot list, and the URL names no object. Names of other forms are left out. */
int tk_remote_list(struct tk_remote *r, char ***names, size_t *count, struct tk_error *err);

/* Writes the object `name`, or the one of the URL, and replaces one that is there. */
int tk_remote_put(struct tk_remote *r, const char *name, const char *file, struct tk_error *err);

/* Reads it into the new file. TK_EDATA: it has more than max_bytes. */
int tk_remote_get(struct tk_remote *r, const char *name, const char *file, int64_t max_bytes,
        struct tk_error *err);

#endif
