/* See past.h. */
#include "nightly/past.h"
#include "build/build.h"
#include "config/config.h"
#include "nightly/stages/upstream_build.h"
#include "store/store.h"
#include <math.h>

const char *const tk_past_state_words[] = {
        [TK_PAST_OPEN] = "open",
        [TK_PAST_MEASURED] = "measured",
        [TK_PAST_SAME_CODE] = "same code",
        [TK_PAST_BETWEEN] = "between equal ends",
        [TK_PAST_OUTSIDE] = "outside of path",
};

void tk_past_list_free(struct tk_past_list *list)
{
	free(list->items);
	*list = (struct tk_past_list){0};
}

static void add(
        struct tk_past_list *list, const struct tk_upstream_config *u, const struct tk_revision *r)
{
	list->items = tk_reallocarray(list->items, list->count + 1, sizeof *list->items);
	list->items[list->count++] = (struct tk_past){.upstream = u, .revision = *r};
}

/* ---- from repositories ---- */

/* TK_EUSAGE: it is not configured, or it is not built from a repository. */
static int find_upstream(const struct tk_config *config, const char *name,
        const struct tk_upstream_config **out, struct tk_error *err)
{
	const struct tk_upstream_config *u = tk_config_find_upstream(config, name);
	char hint[TK_SUGGEST_HINT_SIZE];
	if (!u)
		return tk_fail(err, TK_EUSAGE, "unknown upstream \"%s\"%s", name,
		        tk_config_suggest_upstream(config, name, NULL, NULL, hint));
	if (!tk_upstream_kind_is_built(u->kind))
		return tk_fail(err, TK_EUSAGE,
		        "upstream \"%s\" has no past revisions; only the kinds git, package and "
		        "self have",
		        u->name);
	*out = u;
	return TK_OK;
}

/* Names the parts of `path` that each revision touches; those that touch none do not count. */
static int mark_touched(const struct tk_repo *s, const struct tk_backfill_options *o,
        struct tk_past *items, size_t count, struct tk_error *err)
{
	for (size_t i = 0; s->path && i < count; i++)
		items[i].state = TK_PAST_OUTSIDE;
	for (const char *part = s->path; part && *part;) {
		const size_t len = strcspn(part, ":");
		AUTO_TEXT name = tk_strndup(part, len);
		struct tk_repo one = *s;
		struct tk_revision *list = NULL;
		size_t n = 0;
		one.path = name;
		TRY(tk_repo_list_revisions(&one, 0, o->since_s, &list, &n, err));
		for (size_t i = 0, k = 0; i < count; i++) {
			while (k < n && list[k].position > items[i].revision.position)
				k++;
			if (k == n || strcmp(list[k].id, items[i].revision.id) != 0)
				continue;
			const size_t used = strlen(items[i].touched);
			snprintf(items[i].touched + used, sizeof items[i].touched - used, "%s%s",
			        used ? " " : "", name);
			items[i].state = TK_PAST_OPEN;
		}
		free(list);
		part += len + (part[len] == ':');
	}
	return TK_OK;
}

/* The time of a bound, which may be the name of a revision. */
static int find_time(const struct tk_repo *repo, const char *rev, int64_t time_s, int64_t *out,
        struct tk_error *err)
{
	struct tk_revision found;
	*out = time_s;
	if (!rev)
		return TK_OK;
	const int status = tk_repo_find_revision(repo, rev, &found, err);
	if (status == TK_ENOTFOUND)
		return tk_fail(err, TK_EUSAGE,
		        "\"%.80s\" is not a duration, date or revision of %s", rev, repo->name);
	TRY(status);
	*out = found.commit_time_s;
	return TK_OK;
}

/* Newest first. */
static int read_upstream(const struct tk_config *config, const struct tk_upstream_config *u,
        const struct tk_backfill_options *o, struct tk_past_list *out, struct tk_error *err)
{
	struct tk_repo repo;
	struct tk_revision *list = NULL;
	int64_t since_s, until_s, last_s = INT64_MAX;
	size_t count = 0, kept = 0, seen = 0;
	TRY(tk_upstream_check_adapter(config, u, err));
	tk_upstream_init_repo(config, u, &repo);
	TRY(find_time(&repo, o->since_rev, o->since_s, &since_s, err));
	TRY(find_time(&repo, o->until_rev, o->until_s, &until_s, err));
	const bool filtered = until_s || o->every_s || o->every > 1;
	const struct tk_repo counted = repo;
	if (o->with_outside)
		repo.path = NULL;
	TRY(o->tags ? tk_repo_list_tags(&repo, o->tags, since_s, &list, &count, err)
	            : tk_repo_list_revisions(
	                      &repo, filtered ? 0 : o->commits, since_s, &list, &count, err));
	for (size_t i = 0; i < count && (!o->commits || kept < o->commits); i++) {
		if (until_s && list[i].commit_time_s > until_s)
			continue;
		if (o->every_s && last_s != INT64_MAX &&
		        list[i].commit_time_s > last_s - o->every_s)
			continue;
		if (seen++ % (o->every ? o->every : 1))
			continue;
		last_s = list[i].commit_time_s;
		add(out, u, &list[i]);
		kept++;
	}
	free(list);
	return o->with_outside && kept
	               ? mark_touched(&counted, o, out->items + out->count - kept, kept, err)
	               : TK_OK;
}

/* ---- from bundles ---- */

/* Of two builds of one revision, the first is measured. */
static int add_build(const struct tk_config *config, const struct tk_backfill_options *o,
        const char *key, struct tk_past_list *out, struct tk_error *err)
{
	AUTO_PTR(tk_artifact) a = NULL;
	bool is_wanted = !o->upstreams || !o->upstreams[0];
	TRY(tk_artifact_load(config->cache_dir, key, &a, err));
	const struct tk_upstream_config *u = tk_config_find_upstream(config, a->upstream);
	for (char *const *name = o->upstreams; !is_wanted && name && *name; name++)
		is_wanted = strcmp(*name, a->upstream) == 0;
	if (!is_wanted)
		return TK_OK;
	if (!u) {
		tk_log(TK_LOG_WARN, "import", NULL,
		        "build %.12s ignored: upstream %s is not configured", key, a->upstream);
		return TK_OK;
	}
	if (!*a->commit.id)
		return tk_fail(err, TK_EDATA,
		        "the build of %s at %.12s lacks the time of its commit; build it again "
		        "with this version",
		        a->upstream, a->revision);
	for (size_t i = 0; i < out->count; i++)
		if (out->items[i].upstream == u &&
		        strcmp(out->items[i].revision.id, a->commit.id) == 0)
			return TK_OK;
	add(out, u, &a->commit);
	memcpy(out->items[out->count - 1].key, key, TK_HASH_HEX_SIZE);
	return TK_OK;
}

static int read_bundles(const struct tk_config *config, const struct tk_backfill_options *o,
        struct tk_past_list *out, struct tk_error *err)
{
	for (char *const *file = o->import_files; *file; file++) {
		char **keys = NULL;
		size_t count = 0;
		int status = tk_upstream_import_bundle(config, *file, &keys, &count, err);
		for (size_t i = 0; !status && i < count; i++)
			status = add_build(config, o, keys[i], out, err);
		tk_names_free(keys, count);
		TRY(status);
	}
	for (char *const *name = o->upstreams; name && *name; name++) {
		bool found = false;
		for (size_t i = 0; i < out->count; i++)
			found |= strcmp(out->items[i].upstream->name, *name) == 0;
		if (!found)
			return tk_fail(err, TK_ENOTFOUND, "%s%s has no build of %s",
			        o->import_files[0], o->import_files[1] ? " and the others" : "",
			        *name);
	}
	return TK_OK;
}

/* ---- both ---- */

/* Oldest first; commits of the same second by upstream and position. */
static int compare_age(const void *a, const void *b)
{
	const struct tk_past *x = a, *y = b;
	if (x->revision.commit_time_s != y->revision.commit_time_s)
		return x->revision.commit_time_s < y->revision.commit_time_s ? -1 : 1;
	if (x->upstream != y->upstream)
		return x->upstream < y->upstream ? -1 : 1;
	if (x->revision.position != y->revision.position)
		return x->revision.position < y->revision.position ? -1 : 1;
	return strcmp(x->revision.id, y->revision.id);
}

/* Its state and code, from a night of this machine that ended. Of a night that was stopped and
 * never resumed, the jobs that are left were not run. */
static int find_measured(
        struct tk_store *store, const char *machine, struct tk_past *p, struct tk_error *err)
{
	static const char sql[] =
	        "SELECT ifnull(group_concat(k.backend || char(10) || k.code_hash, char(10)), '')"
	        " AS code FROM (SELECT r.build_id FROM resolution_v r JOIN night_v n"
	        " ON n.id=r.night_id WHERE n.machine=?1 AND r.upstream=?2 AND r.rev=?3"
	        " AND r.build_id IS NOT NULL AND ifnull(n.finished_s, 0)<>0 AND n.status<>'failed'"
	        " AND NOT (json_valid(n.summary) AND ifnull(n.summary ->> '$.abandoned', 0))"
	        " ORDER BY n.id DESC LIMIT 1) b"
	        " LEFT JOIN (SELECT * FROM kernel WHERE name='' ORDER BY backend) k"
	        " ON k.build_id=b.build_id GROUP BY b.build_id";
	struct found {
		const char *code;
	};
	static const struct tk_db_column columns[] = {TK_MEMBER(struct found, code)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct found, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(store, sql, TK_ARGS(machine, p->upstream->name, p->revision.id), &type,
	        &rows, err));
	if (!rows.count)
		return TK_OK;
	const char *code = TK_ROWS_AT(&rows, struct found, 0)->code;
	p->state = TK_PAST_MEASURED;
	if (*code)
		tk_hash_bytes(code, strlen(code), p->code);
	return TK_OK;
}

int tk_past_list_read(const struct tk_config *config, struct tk_store *store,
        const struct tk_backfill_options *o, struct tk_past_list *out, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	int64_t last_s = INT64_MIN;
	for (char *const *name = o->upstreams; name && *name; name++) {
		TRY(find_upstream(config, *name, &u, err));
		if (!o->import_files && read_upstream(config, u, o, out, err))
			return tk_error_add_context(err, "%s", u->name);
	}
	if (o->import_files)
		TRY(read_bundles(config, o, out, err));
	tk_sort(out->items, out->count, sizeof *out->items, compare_age);
	for (size_t i = 0; i < out->count; i++) {
		struct tk_past *p = &out->items[i];
		const int64_t commit_s = p->revision.commit_time_s;
		p->as_of_s = last_s = commit_s > last_s ? commit_s : last_s + 1;
		if (store && p->state == TK_PAST_OPEN)
			TRY(find_measured(store, config->machine, p, err));
	}
	return TK_OK;
}

/* As find_measured() has it of the history. */
static void hash_code(const struct tk_artifact *a, char out[TK_HASH_HEX_SIZE])
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	for (size_t i = 0; i < a->backend_count; i++)
		tk_buf_add_printf(&text, "%s%s\n%s", i ? "\n" : "", a->backends[i].name,
		        a->backends[i].code_hash);
	if (text.len)
		tk_hash_bytes(text.data, text.len, out);
}

int tk_past_load_build(const struct tk_config *config, struct tk_past *p, const char *arch,
        bool may_build, struct tk_artifact **out, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	if (*p->key)
		TRY(tk_artifact_load(config->cache_dir, p->key, &a, err));
	else if (may_build)
		TRY(tk_upstream_build(config, p->upstream, p->revision.id, arch, &a, err));
	else
		TRY(tk_upstream_find_build(
		        config, p->upstream, p->revision.id, arch, p->touched, &a, err));
	p->build_failed = !tk_build_status_is_usable(a->status);
	p->build_s = a->wall_s;
	if (!p->build_failed)
		hash_code(a, p->code);
	*out = a;
	return TK_OK;
}

void tk_past_list_mark_same(struct tk_past_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct tk_past *p = &list->items[i];
		size_t k = i;
		while (*p->code && k-- > 0) {
			const struct tk_past *before = &list->items[k];
			if (before->upstream != p->upstream || !*before->code)
				continue;
			if (p->state == TK_PAST_OPEN && strcmp(before->code, p->code) == 0) {
				p->state = TK_PAST_SAME_CODE;
				p->same_as =
				        before->state == TK_PAST_SAME_CODE ? before->same_as : k;
			}
			break;
		}
	}
}

size_t tk_past_list_count_open(const struct tk_past_list *list)
{
	size_t open = 0;
	for (size_t i = 0; i < list->count; i++)
		open += list->items[i].state == TK_PAST_OPEN;
	return open;
}

/* ---- what it takes ---- */

static int select_mean(struct tk_store *store, const char *sql, const struct tk_arg *args,
        double *out, struct tk_error *err)
{
	int64_t ms;
	TRY(tk_store_select_int(store, sql, args, -1, &ms, err));
	if (ms >= 0)
		*out = (double)ms * 1e-3;
	return TK_OK;
}

int tk_past_estimate(struct tk_store *store, const char *machine, const char *upstream,
        struct tk_past_cost *out, struct tk_error *err)
{
	*out = (struct tk_past_cost){NAN, NAN};
	if (!store)
		return TK_OK;
	TRY(select_mean(store,
	        "SELECT CAST(1000 * avg(wall_s) AS INTEGER) FROM (SELECT wall_s FROM build_v"
	        " WHERE upstream=?1 AND status='ok' AND wall_s>0 ORDER BY built_s DESC LIMIT 10)",
	        TK_ARGS(upstream), &out->build_s, err));
	/* of its backfills; else what its jobs took in the newest night */
	TRY(select_mean(store,
	        "SELECT CAST(1000 * sum(r.wall_s) AS INTEGER) FROM run r JOIN series_v s"
	        " ON s.id=r.series_id WHERE s.upstream=?2 AND r.night_id=(SELECT max(id) FROM "
	        "night_v"
	        " WHERE machine=?1 AND kind='nightly' AND status<>'running')",
	        TK_ARGS(machine, upstream), &out->night_s, err));
	return select_mean(store,
	        "SELECT CAST(1000 * avg(n.finished_s - n.started_s) AS INTEGER) FROM"
	        " (SELECT v.* FROM night_v v JOIN resolution_v r ON r.night_id=v.id"
	        " WHERE v.machine=?1 AND r.upstream=?2 AND v.kind='backfill' AND v.finished_s>0"
	        " AND v.status IN ('complete', 'incomplete') ORDER BY v.started_s DESC LIMIT 5) n",
	        TK_ARGS(machine, upstream), &out->night_s, err);
}
