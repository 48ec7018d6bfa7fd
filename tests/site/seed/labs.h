/* The machines of the demo history. */
#ifndef TK_SEED_LABS_H
#define TK_SEED_LABS_H
#include <stddef.h>
#include <stdint.h>

#define SERIES_MAX 64

struct step {
	int night;
	double factor;
};

struct seed_series_plan {
	int64_t series;
	size_t upstream;
	double value, noise;
	struct step steps[3];
	int fails_from, fails_to; /* nights; 0: never */
	const char *outcome, *message;
};

struct seed_source {
	int64_t id;
	const char *name;
	int every; /* nights between two commits */
	int64_t builds[100], revisions[100];
	char revs[100][41];
};

struct seed_lab {
	const char *mode; /* of the series that are added next */
	int64_t machine, device, environments[2];
	int environment_changes; /* night; 0: never */
	double environment_factor;
	struct seed_source sources[4];
	size_t source_count;
	struct seed_series_plan all[SERIES_MAX];
	size_t count;
};

void make_cpu_lab(struct seed_lab *lab, int nights);
void make_gpu_lab(struct seed_lab *lab, int nights);
void make_hostile_lab(struct seed_lab *lab, int nights);

/* Traces and a profile of one of its series. */
void put_kernel_reports(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s);
void put_hostile_kernel_reports(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s);

/* Results of `tracker tune` for the products of the GPU lab. */
void put_tunings(const struct seed_lab *lab, int64_t at_s);
void put_hostile_tunings(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s);

#endif
