/* The rate of a timing, and its share of the device's peak. */
#ifndef TK_CLI_RATE_H
#define TK_CLI_RATE_H

struct tk_error;
struct tk_store;
struct tk_table;
struct json_t;

struct tk_rate {
	double gflop_per_s; /* NAN: not a time, or of a problem without operations */
	double peak_share;  /* of the peak by the vendor's data sheet; NAN: not known */
};

/* peak_gflop_per_s 0: not known. */
struct tk_rate tk_rate_compute(double flops, double peak_gflop_per_s, double median_ns);
/* problem: as it is stored. device_name NULL: not known. Parses the problem for the peak. */
struct tk_rate tk_rate_from_problem(
        const char *problem, double flops, const char *device_name, double value, const char *unit);
/* The function of SQL peak_gflop_per_s(PROBLEM, DEVICE_NAME), for arithmetic: NULL where it is not
 * known. */
int tk_rate_define_function(struct tk_store *s, struct tk_error *err);

/* The columns RATE and PEAK; empty where the figure is not known. */
void tk_rate_set_cells(struct tk_table *t, const struct tk_rate *r);
/* The members gflop_per_s and peak_share; null where the figure is not known. */
void tk_rate_set_members(struct json_t *object, const struct tk_rate *r);

#endif
