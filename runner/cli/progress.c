/* The live line: [measure] 120/340  35 %  3 min 20 s left  gemm f32 512x512x512 */
#include "cli/commands.h"

#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nightly/nightly.h"

#define LIVE_EVERY_NS 100000000
#define PLAIN_EVERY_NS 5000000000

struct tk_progress {
	struct tk_night_observer observer;
	bool live, shown;
	char stage[32], current[256];
	size_t done, total;
	int64_t stage_ns, last_ns; /* when the stage began; when the line was last drawn */
};

static size_t terminal_width(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

/* No estimate before the second item and the first second: it would be a guess. */
static void compose(const struct tk_progress *p, struct tk_buf *text)
{
	double elapsed_s = (double)(tk_clock_monotonic_ns() - p->stage_ns) * 1e-9,
	       left_s = round(elapsed_s / (double)p->done * (double)(p->total - p->done));
	char left[32];

	tk_buf_add_printf(text, "[%s]", p->stage);
	if (p->total)
		tk_buf_add_printf(
		        text, " %zu/%zu  %zu %%", p->done, p->total, p->done * 100 / p->total);
	if (p->done >= 2 && p->done < p->total && elapsed_s >= 1)
		tk_buf_add_printf(text, "  %s left", tk_duration_format(left_s, left, sizeof left));
	if (*p->current)
		tk_buf_add_printf(text, "  %s", p->current);
	tk_text_sanitize(text->data, "", '?');
}

/* Bytes of the first `columns` characters. Wide characters are rare enough to be ignored. */
static size_t prefix_bytes(const char *s, size_t columns)
{
	size_t i = 0;

	for (; s[i]; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return i;
}

static void wipe(void *arg)
{
	struct tk_progress *p = arg;

	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
	fflush(stderr);
}

static void draw(void *arg)
{
	struct tk_progress *p = arg;
	struct tk_buf line = TK_BUF_INIT;

	if (!*p->stage)
		return;
	compose(p, &line);
	if (p->live) {
		fprintf(stderr, "\r%.*s\033[K",
		        (int)prefix_bytes(tk_buf_cstr(&line), terminal_width() - 1),
		        tk_buf_cstr(&line));
		p->shown = true;
	} else {
		fprintf(stderr, "%s\n", tk_buf_cstr(&line));
	}
	fflush(stderr);
	p->last_ns = tk_clock_monotonic_ns();
	tk_buf_free(&line);
}

static void on_stage(void *arg, const char *stage, const char *detail)
{
	struct tk_progress *p = arg;

	snprintf(p->stage, sizeof p->stage, "%s", stage);
	snprintf(p->current, sizeof p->current, "%s", detail ? detail : "");
	p->done = p->total = 0;
	p->stage_ns = tk_clock_monotonic_ns();
	draw(p);
}

static void on_progress(void *arg, size_t done, size_t total, const char *current)
{
	struct tk_progress *p = arg;
	int64_t since = tk_clock_monotonic_ns() - p->last_ns;

	p->done = done;
	p->total = total;
	snprintf(p->current, sizeof p->current, "%s", current ? current : "");
	if (since >= (p->live ? LIVE_EVERY_NS : PLAIN_EVERY_NS) || (p->live && done == total))
		draw(p);
}

struct tk_progress *tk_progress_new(const struct tk_globals *g)
{
	struct tk_progress *p = g->quiet ? NULL : tk_calloc(1, sizeof *p);
	const char *term = getenv("TERM");

	if (!p)
		return NULL;
	p->live = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
	p->observer = (struct tk_night_observer){p, on_stage, on_progress};
	if (p->live)
		tk_log_set_hooks(wipe, draw, p);
	return p;
}

const struct tk_night_observer *tk_progress_observer(struct tk_progress *p)
{
	return p ? &p->observer : NULL;
}

void tk_progress_free(struct tk_progress *p)
{
	if (!p)
		return;
	if (p->live)
		tk_log_set_hooks(NULL, NULL, NULL);
	wipe(p);
	free(p);
}
