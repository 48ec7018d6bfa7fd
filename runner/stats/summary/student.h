/* Student's t distribution, for levels whose noise is estimated from few nights. */
#ifndef TK_STATS_STUDENT_H
#define TK_STATS_STUDENT_H

double tk_student_p(
        double t, double df); /* two-sided; df > 0, need not be whole; accurate far into the tail */
double tk_student_t(double p, double df); /* the t that a two-sided p in (0, 1) belongs to */

#endif
