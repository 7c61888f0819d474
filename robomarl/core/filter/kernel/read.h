/* What a decision reads, checked. */
#ifndef ROBOMARL_READ_H
#define ROBOMARL_READ_H

#include "rows.h"

#include <string.h>

/* Where what lies in `in`. */
typedef struct {
    const double *pos, *vel, *age, *quat, *omega, *nominal, *gain, *bias, *place, *commands;
    const double *mate_pos, *mate_vel, *mate_age, *plan_pos, *plan_vel, *plan_stop, *other_pos, *other_vel, *other_age;
    const unsigned char *mask, *seen;
} Given;

/* What may be used of it. */
typedef struct {
    Motion own;
    int own_ok, has_vel, has_nominal, finite, stale, count;
    double since, nominal[4];
    Bias bias;
    Queue queue;
} Checked;

/* The mates that are known of, and where all are now, x, y and z apart: no number where that is not known. */
typedef struct {
    int count;
    Body *body;
    double *place[3];
} Mates;

/* The memory is bias, place and commands, in what goes in as in what comes out. */
enum { BIAS = 16, PLAN_OUT = 9, MEMORY_IN = 19, MEMORY_OUT = 18, HEAD_IN = MEMORY_IN + BIAS + 3, HEAD_OUT = MEMORY_OUT + BIAS + 3 };

static inline int sane(const double *v) { return fabs(v[0]) < RM_LARGE && fabs(v[1]) < RM_LARGE && fabs(v[2]) < RM_LARGE; }

static inline int sane4(const double *v) { return sane(v) && fabs(v[3]) < RM_LARGE; }

static inline int sane_state(const double *pos, const double *vel, double age) {
    return age < RM_LARGE && sane(pos) && sane(vel);
}

static inline void copy(double *to, const double *from, int count) { memcpy(to, from, count * sizeof(double)); }

extern const double RM_NOTHING[4];

Given rm_lay_out(const RmSizes *s, const double *in);
/* The own state, of a differential drive that of its look-ahead point. */
void rm_check_own(const RmConstants *c, const Given *g, Checked *k);
/* Whether a body may be used; notes what is wrong with it. */
int rm_usable(const double *pos, const double *vel, double age, double max_age, Checked *k);
/* The memory; one that holds what is no number, or less than is on its way, is as good as none, and a fault. */
void rm_remember(const RmConstants *c, const RmSizes *s, const Given *g, Checked *k);
void rm_write_bias(const Bias *b, double *out);
/* A mate, so long after its stamp. */
Body rm_mate(const RmConstants *c, const Given *g, int j, double since);
void rm_read_mates(const RmConstants *c, const RmSizes *s, const Given *g, Checked *k, Mates *m);

#endif
