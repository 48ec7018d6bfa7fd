/* Stage "resolve": asks every upstream for its newest revision. One that does not answer keeps its
 * last known revision.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "nightly/night.h"
#include "nightly/stages/recipe.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_words[] = {[TK_UPSTREAM_SELF] = "self",
        [TK_UPSTREAM_GIT] = "git",
        [TK_UPSTREAM_SYSTEM] = "system",
        [TK_UPSTREAM_BUILTIN] = "builtin"};

/* Where the history says that an upstream is, so that pages can link to its commits: for `self`,
 * what stands before /commit/ in site.commit_url, which the configuration has seen to. */
static void url_of(
        const struct tk_night *n, const struct tk_upstream_config *u, char *out, size_t size)
{
	const char *commit = u->kind == TK_UPSTREAM_SELF ? n->config->commit_url : NULL,
	           *end = commit ? strstr(commit, "/commit/") : NULL;
	char forge[1024];
	if (!end) {
		tk_repo_redact_url(u->url ? u->url : "", out, size);
		return;
	}
	if (end - commit > 2 && strncmp(end - 2, "/-", 2) == 0) /* GitLab */
		end -= 2;
	snprintf(forge, sizeof forge, "%.*s", (int)(end - commit), commit);
	tk_repo_redact_url(forge, out, size);
}

static int put_upstream(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	char url[4200];
	url_of(n, p->config, url, sizeof url);
	struct tk_upstream_row row = {
	        .name = p->config->name, .kind = kind_words[p->config->kind], .url = url};
	return tk_store_put_upstream(n->store, &row, &p->upstream_id, err);
}

static int put_revision(struct tk_night *n, struct tk_likelihood_product *p,
        const struct tk_revision *r, struct tk_error *err)
{
	struct tk_revision_row row = {.upstream_id = p->upstream_id,
	        .rev = r->id,
	        .parent = r->parent,
	        .position = r->position,
	        .author_time_s = r->author_time_s,
	        .commit_time_s = r->commit_time_s,
	        .author = r->author,
	        .subject = r->subject};
	snprintf(p->rev, sizeof p->rev, "%s", r->id);
	return tk_store_put_revision(n->store, &row, &p->revision_id, err);
}

int tk_night_put_revision(struct tk_night *n, struct tk_likelihood_product *p,
        const struct tk_revision *r, struct tk_error *err)
{
	int status = put_upstream(n, p, err);
	return status == TK_OK ? put_revision(n, p, r, err) : status;
}

/* The newest revision of this upstream that the history knows, into p->rev; false where there is
 * none. */
static bool last_known(struct tk_night *n, struct tk_likelihood_product *p)
{
	struct tk_rows nights = {0};
	bool found = false;
	if (tk_store_list_nights(n->store, &nights, NULL) != TK_OK)
		return false;
	for (size_t i = 0; i < nights.count && !found; i++) {
		const struct tk_night_row *night = TK_ROWS_AT(&nights, struct tk_night_row, i);
		struct tk_rows answers = {0};
		if (night->id == n->night_id || night->kind != TK_NIGHT_NIGHTLY ||
		        tk_store_list_resolutions(n->store, night->id, &answers, NULL) != TK_OK)
			continue;
		for (size_t k = 0; k < answers.count && !found; k++) {
			const struct tk_resolution_row *a =
			        TK_ROWS_AT(&answers, struct tk_resolution_row, k);
			if (a->upstream_id == p->upstream_id && a->revision_id != 0) {
				p->revision_id = a->revision_id;
				found = true;
			}
		}
		tk_rows_free(&answers);
	}
	tk_rows_free(&nights);
	return found;
}

static void name_revision(struct tk_night *n, struct tk_likelihood_product *p)
{
	struct tk_rows revisions = {0};
	if (tk_store_list_revisions(n->store, &revisions, NULL) != TK_OK)
		return;
	for (size_t i = 0; i < revisions.count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(&revisions, struct tk_revision_row, i);
		if (r->id == p->revision_id)
			snprintf(p->rev, sizeof p->rev, "%s", r->rev);
	}
	tk_rows_free(&revisions);
}

/* A library's or a module's revision is the version that it reports. */
static int resolve_module(struct tk_night *n, struct tk_likelihood_product *p,
        struct tk_revision *out, struct tk_error *err)
{
	const char *name = p->config->adapter ? p->config->adapter : p->config->name;
	const struct tk_module *m = tk_modules_find_backend(n->modules, name);
	if (p->config->kind ==
	        TK_UPSTREAM_BUILTIN) { /* several modules of one version: the tracker's own */
		snprintf(out->id, sizeof out->id, "%s", TK_VERSION);
		return TK_OK;
	}
	if (!m)
		return tk_fail(err, TK_ENOTFOUND,
		        "there is no backend `%s` in %s: was its library installed when the "
		        "tracker was built?",
		        name, n->modules->dir);
	json_t *info = NULL;
	int status = tk_worker_query_backend(n->devices[0].worker, m->path, &info, err);
	if (status == TK_OK) {
		const char *version = json_string_value(json_object_get(info, "version"));
		snprintf(out->id, sizeof out->id, "%s", version && *version ? version : "unknown");
	}
	json_decref(info);
	return status;
}

/* Asks the upstream, unless the caller has chosen a revision already (p->rev: a past one). */
static int ask(struct tk_night *n, struct tk_likelihood_product *p, struct tk_revision *out,
        struct tk_error *err)
{
	if (p->config->kind == TK_UPSTREAM_SYSTEM || p->config->kind == TK_UPSTREAM_BUILTIN)
		return resolve_module(n, p, out, err);
	if (n->options->import_file) { /* the bundle knows the commit, an old one only its name */
		*out = p->artifacts[0]->commit;
		snprintf(out->id, sizeof out->id, "%s", p->artifacts[0]->revision);
		return TK_OK;
	}
	struct tk_repo source;
	int status = tk_recipe_check_adapter(
	        n->config, p->config, err); /* before the minutes of a fetch */
	if (status)
		return status;
	tk_recipe_init_source(n->config, p->config, &source);
	if (*p->rev)
		return tk_repo_find_revision(&source, p->rev, out, err);
	return tk_repo_find_newest(&source, out, err);
}

static int resolve_one(struct tk_night *n, struct tk_likelihood_product *p, struct tk_error *err)
{
	struct tk_revision revision = {0};
	struct tk_error why = {0};
	int status = put_upstream(n, p, err);
	if (status != TK_OK)
		return status;
	bool known = last_known(n, p);
	int64_t known_id = p->revision_id;
	status = ask(n, p, &revision, &why);
	if (status == TK_ECANCELED || status == TK_ENOMEM || status == TK_ENOSPC)
		return tk_fail(err, status, "%s", why.message);
	if (status == TK_OK) {
		if ((status = put_revision(n, p, &revision, err)) != TK_OK)
			return status;
		p->status = known && known_id == p->revision_id ? TK_RESOLUTION_UNCHANGED
		                                                : TK_RESOLUTION_NEW;
		if (revision.dirty)
			tk_log(TK_LOG_WARN, "dirty", NULL,
			        "%s: the work tree has uncommitted changes; what is measured is "
			        "the commit %.12s",
			        p->config->name, revision.id);
	} else {
		p->status = TK_RESOLUTION_UNREACHABLE;
		snprintf(p->message, sizeof p->message, "%.*s", (int)sizeof p->message - 1,
		        why.message);
		n->report->upstreams_unreachable++;
		if (known)
			name_revision(n, p);
		tk_log(TK_LOG_WARN, "unreachable", NULL, "upstream %s: %s%s%.12s", p->config->name,
		        why.message, known ? "; its last known revision is measured: " : "",
		        known ? p->rev : "");
	}
	struct tk_resolution_row row = {.night_id = n->night_id,
	        .upstream_id = p->upstream_id,
	        .revision_id = p->revision_id,
	        .status = p->status,
	        .message = p->message};
	return tk_store_put_resolution(n->store, &row, err);
}

/* The control and the ceilings come with the tracker: they need no line in the configuration. */
static char builtin_name[] = "builtin";
static const struct tk_upstream_config builtin = {
        .name = builtin_name, .kind = TK_UPSTREAM_BUILTIN, .enabled = true};

/* The products of this night: what the configuration enables, narrowed to what the command line
 * asked for. */
/* A product for each artifact of the bundle whose upstream is configured: that is what says how it
 * is measured. */
static int take_artifact(struct tk_night *n, const char *key, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	int status = tk_artifact_load(n->config->cache_dir, key, &a, err);
	for (size_t i = 0; status == TK_OK && i < n->product_count; i++) {
		struct tk_likelihood_product *p = &n->products[i];
		if (p->artifact_count || strcmp(p->config->name, a->upstream) != 0)
			continue;
		if (n->options->backfill_revision &&
		        strcmp(n->options->backfill_revision, a->revision) != 0)
			break; /* of another night of the same bundle */
		p->artifacts[p->artifact_count++] = a;
		return TK_OK;
	}
	if (status == TK_OK && !n->options->backfill_revision)
		tk_log(TK_LOG_WARN, "import", NULL,
		        "the build %.12s is of upstream %s, which is not configured or has another "
		        "build in the bundle",
		        key, a->upstream);
	tk_artifact_free(a);
	return status;
}

static bool is_built(const struct tk_likelihood_product *p)
{
	return p->config->kind == TK_UPSTREAM_GIT || p->config->kind == TK_UPSTREAM_SELF;
}

/* Upstreams that would have to be built and are not in the bundle have no part in this night. */
static int import_products(struct tk_night *n, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0, imported = 0, kept = 0;
	int status = tk_artifact_import_keys(
	        n->config->cache_dir, n->options->import_file, &imported, &keys, &count, err);
	for (size_t i = 0; status == TK_OK && i < count; i++)
		status = take_artifact(n, keys[i], err);
	for (size_t i = 0; status == TK_OK && i < n->product_count; i++)
		if (!is_built(&n->products[i]) || n->products[i].artifact_count)
			n->products[kept++] = n->products[i];
	if (status == TK_OK)
		n->product_count = kept;
	tk_names_free(keys, count);
	return status;
}

static int list_products(struct tk_night *n, struct tk_error *err)
{
	n->products = calloc(n->config->upstream_count + 1, sizeof *n->products);
	if (!n->products)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	n->products[n->product_count++].config = &builtin;
	for (size_t i = 0; i < n->config->upstream_count; i++) {
		const struct tk_upstream_config *u = &n->config->upstreams[i];
		const char *only = n->options->only_upstream;
		if (!u->enabled || u->kind == TK_UPSTREAM_BUILTIN ||
		        (only && strcmp(only, u->name) != 0))
			continue;
		struct tk_likelihood_product *p = &n->products[n->product_count++];
		p->config = u;
		if (n->options->backfill_revision && only && strcmp(only, u->name) == 0)
			snprintf(p->rev, sizeof p->rev, "%s", n->options->backfill_revision);
	}
	return TK_OK;
}

int tk_night_resolve(struct tk_night *n, struct tk_error *err)
{
	int status = list_products(n, err);
	if (status == TK_OK && n->options->import_file)
		status = import_products(n, err);
	for (size_t i = 0; status == TK_OK && i < n->product_count; i++) {
		tk_night_announce_stage(n, "resolve", n->products[i].config->name);
		status = resolve_one(n, &n->products[i], err);
	}
	return status;
}
