/* Data files: groups of series with their points, and the lists of what pages name. */
#include <math.h>
#include <time.h>

#include "base/base.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/tone.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/output.h"
#include "site_gen/render/value.h"

#define SERIES_IN_GROUP 8       /* a page loads its group: about 20 kB */
#define PAGE_DAYS 180           /* loaded with a page, before the newest point of the series */
#define FEW_POINTS 60           /* a series of no more is loaded and shown whole */
#define SAMPLED_NIGHTS 8        /* newest nights whose samples are stored */
#define SAMPLED_SERIES_MAX 1000 /* with more series, only those with a change */
#define YEARS 64
#define DAY_S 86400

/* ---- names of files ---- */

/* "data/03f.KIND.js" or "data/03f.js", with three or more hexadecimal digits. A page names dozens
 * of such files: printf would take as long as the rest of it. */
static void set_path(char path[TK_DATA_PATH_SIZE], size_t number, const char *kind)
{
	size_t digits = 3;
	while (digits < 2 * sizeof number && number >> 4 * digits)
		digits++;
	char *at = stpcpy(path, "data/");
	for (size_t i = digits; i-- > 0;)
		*at++ = "0123456789abcdef"[number >> 4 * i & 15];
	if (*kind)
		*at++ = '.';
	stpcpy(stpcpy(at, kind), ".js");
}

static void set_year_path(char path[TK_DATA_PATH_SIZE], size_t group, int bit)
{
	char year[TK_FORMAT_INT + 1];
	year[tk_format_int(year, TK_CHART_DATA_FIRST_YEAR + bit)] = 0;
	set_path(path, group, year);
}

static size_t find_group(const struct tk_chart_data *d, const struct tk_site_series *s)
{
	return d->group_of[s - d->model->series];
}

void tk_chart_data_page_file(
        const struct tk_chart_data *d, const struct tk_site_series *s, char path[TK_DATA_PATH_SIZE])
{
	set_path(path, find_group(d, s), "");
}

void tk_chart_data_add_older_files(
        const struct tk_chart_data *d, struct tk_buf *out, const struct tk_site_series *s)
{
	size_t group = find_group(d, s), before = out->len;
	char path[TK_DATA_PATH_SIZE];
	for (int bit = 0; bit < YEARS; bit++)
		if (d->years[group] >> bit & 1) {
			set_year_path(path, group, bit);
			tk_buf_add_str(out, out->len > before ? " " : "");
			tk_buf_add_str(out, path);
		}
}

/* The files of a group as an array of [year, path]; the year is 0 for the newest months. */
static void add_files_json(const struct tk_chart_data *d, struct tk_buf *out, size_t group)
{
	char path[TK_DATA_PATH_SIZE];
	tk_buf_add_char(out, '[');
	for (int bit = 0; bit < YEARS; bit++)
		if (d->years[group] >> bit & 1) {
			set_year_path(path, group, bit);
			tk_buf_add_printf(
			        out, "[%d,\"%s\"],", TK_CHART_DATA_FIRST_YEAR + bit, path);
		}
	set_path(path, group, "");
	tk_buf_add_printf(out, "[0,\"%s\"]]", path);
}

/* ---- points ---- */

struct member {
	struct tk_site_series *series;
	struct tk_rows points;
	size_t older, written; /* points before the newest months; of these in a file */
};

static const struct tk_point *point_at(const struct member *m, size_t i)
{
	return TK_ROWS_AT(&m->points, struct tk_point, i);
}

static int year_bit(int64_t t_s)
{
	struct tm tm;
	time_t t = (time_t)t_s;
	int year = gmtime_r(&t, &tm) ? tm.tm_year + 1900 : TK_CHART_DATA_FIRST_YEAR,
	    bit = year - TK_CHART_DATA_FIRST_YEAR;
	return bit < 0 ? 0 : bit >= YEARS ? YEARS - 1 : bit;
}

static int64_t year_end_s(int bit)
{
	struct tm tm = {.tm_year = TK_CHART_DATA_FIRST_YEAR + bit + 1 - 1900, .tm_mday = 1};
	return bit + 1 < YEARS ? timegm(&tm) : INT64_MAX;
}

static void fill_sparkline(struct tk_site_series *s, const struct member *m)
{
	struct tk_sparkline *line = &s->sparkline;
	size_t count = m->points.count,
	       skip = count > TK_SITE_WINDOW_POINTS ? count - TK_SITE_WINDOW_POINTS : 0;
	for (size_t i = skip; i < count; i++) {
		const struct tk_point *p = point_at(m, i);
		int64_t at_s = p->as_of_s < 0            ? 0
		               : p->as_of_s > UINT32_MAX ? UINT32_MAX
		                                         : p->as_of_s;
		bool known = tk_point_has_interval(p);
		line->at[line->count++] = (struct tk_sparkline_point){(uint32_t)at_s,
		        (float)p->value, known ? (float)p->lo : NAN, known ? (float)p->hi : NAN};
	}
}

/* Points of past years are not read whole. */
static int keep_listed_points(struct tk_chart_data *d, const struct member *m, struct tk_error *err)
{
	struct tk_rows *kept = &m->series->points;
	const size_t most = TK_SITE_LISTED_POINTS + 1, count = m->points.count;
	if (m->older && count - m->older < most)
		return tk_store_list_points(
		        d->model->store, m->series->row->id, INT64_MIN, most, kept, err);
	kept->count = count < most ? count : most;
	kept->rows = tk_malloc((kept->count + 1) * sizeof(struct tk_point));
	if (count)
		memcpy(kept->rows, point_at(m, count - kept->count),
		        kept->count * sizeof(struct tk_point));
	return 0;
}

static int read_member(struct tk_chart_data *d, struct member *m, struct tk_error *err)
{
	struct tk_site_series *s = m->series;
	const struct tk_point *last = tk_series_last_point(s);
	int64_t from_s = last ? last->as_of_s - (int64_t)PAGE_DAYS * DAY_S : 0;
	TRY(tk_store_list_all_points(d->model->store, s->row->id, from_s, &m->points, err));
	if (m->points.count && m->points.count <= FEW_POINTS && point_at(m, 0)->as_of_s < from_s) {
		from_s = INT64_MIN;
		tk_rows_free(&m->points);
		TRY(tk_store_list_all_points(d->model->store, s->row->id, from_s, &m->points, err));
	}
	while (m->older < m->points.count && point_at(m, m->older)->as_of_s < from_s)
		m->older++;
	TRY(keep_listed_points(d, m, err));
	fill_sparkline(s, m);
	tk_totals_add_points(
	        d->totals, (size_t)(s - d->model->series), m->points.rows, m->points.count);
	return 0;
}

static bool is_sampled(const struct tk_chart_data *d, const struct tk_site_series *s)
{
	return tk_series_tone(s) != TK_TONE_QUIET || d->model->series_count <= SAMPLED_SERIES_MAX;
}

static int write_page_file(struct tk_chart_data *d, struct member *members, size_t count,
        size_t group, struct tk_error *err)
{
	char path[TK_DATA_PATH_SIZE];
	tk_buf_clear(&d->text);
	for (size_t i = 0; i < count; i++) {
		const struct member *m = &members[i];
		size_t all = m->points.count, recent = all - m->older,
		       sampled = recent < SAMPLED_NIGHTS ? recent : SAMPLED_NIGHTS;
		tk_data_add_about(&d->text, d->model, m->series);
		if (recent)
			tk_data_add_points(
			        &d->text, d->model, m->series, point_at(m, m->older), recent, true);
		if (sampled && is_sampled(d, m->series))
			TRY(tk_data_add_samples(&d->text, d->model, m->series,
			        point_at(m, all - sampled), sampled, err));
	}
	set_path(path, group, "");
	return tk_output_put(d->out, path, &d->text, err);
}

/* Writes the first year whose points are in no file yet; *any false: there is none. */
static int write_next_year(struct tk_chart_data *d, struct member *members, size_t count,
        size_t group, bool *any, struct tk_error *err)
{
	char path[TK_DATA_PATH_SIZE];
	int year = YEARS;
	for (size_t i = 0; i < count; i++)
		if (members[i].written < members[i].older) {
			int next = year_bit(point_at(&members[i], members[i].written)->as_of_s);
			year = next < year ? next : year;
		}
	*any = year < YEARS;
	if (!*any)
		return 0;
	tk_buf_clear(&d->text);
	const int64_t end_s = year_end_s(year);
	for (size_t i = 0; i < count; i++) {
		struct member *m = &members[i];
		size_t first = m->written;
		while (m->written < m->older && point_at(m, m->written)->as_of_s < end_s)
			m->written++;
		if (m->written > first)
			tk_data_add_points(&d->text, d->model, m->series, point_at(m, first),
			        m->written - first, false);
	}
	d->years[group] |= UINT64_C(1) << year;
	set_year_path(path, group, year);
	return tk_output_put(d->out, path, &d->text, err);
}

static int write_group(struct tk_chart_data *d, struct member *members, size_t count, size_t group,
        struct tk_error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(read_member(d, &members[i], err));
	TRY(write_page_file(d, members, count, group, err));
	for (bool any = true; any;)
		TRY(write_next_year(d, members, count, group, &any, err));
	return 0;
}

int tk_chart_data_write(struct tk_chart_data *d, struct tk_error *err)
{
	struct tk_model *m = d->model;
	d->group_count = (m->series_count + SERIES_IN_GROUP - 1) / SERIES_IN_GROUP;
	d->group_count = d->group_count ? d->group_count : 1;
	d->group_of = tk_calloc(m->series_count + 1, sizeof *d->group_of);
	d->years = tk_calloc(d->group_count, sizeof *d->years);
	/* By id: a new series changes the last group only. */
	for (size_t first = 0; first < m->series_count; first += SERIES_IN_GROUP) {
		struct member members[SERIES_IN_GROUP] = {0};
		size_t group = first / SERIES_IN_GROUP, count = 0;
		for (size_t i = first; i < m->series_count && count < SERIES_IN_GROUP; i++) {
			const struct tk_site_series *s = m->series_by_id.entries[i].row;
			members[count++].series = &m->series[s - m->series];
			d->group_of[s - m->series] = group;
		}
		TRY(write_group(d, members, count, group, err));
		for (size_t i = 0; i < count; i++)
			tk_rows_free(&members[i].points);
	}
	return TK_OK;
}

void tk_chart_data_free(struct tk_chart_data *d)
{
	free(d->group_of);
	free(d->years);
	tk_buf_free(&d->text);
	*d = (struct tk_chart_data){0};
}

#define NAME_BYTES 60

void tk_data_add_manifest(struct tk_buf *out, const struct tk_chart_data *data)
{
	const struct tk_model *m = data->model;
	tk_data_begin(out, "manifest");
	tk_buf_add_str(out, "\"format\":5,\"groups\":[");
	for (size_t i = 0; i < data->group_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_files_json(data, out, i);
	}
	tk_buf_add_str(out, "],\"series\":[");
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		tk_buf_add_str(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		tk_data_add_text(out, s->row->slug, 200);
		tk_buf_add_printf(out, ",\"page\":\"series/%s.html\",\"group\":%zu}", s->file,
		        data->group_of[i]);
	}
	tk_buf_add_str(out, "]});\n");
}
