/* The rows of the filter: robomarl/safety/{motion,separation,barriers,look_ahead}.py, function by function. */
#ifndef ROBOMARL_ROWS_H
#define ROBOMARL_ROWS_H

#include "kernel.h"

#include <math.h>

#define RM_TINY 1e-12
#define RM_SPECK 1e-18
#define RM_LARGE 1e6

/* Position and velocity. */
typedef struct {
    double pos[3], vel[3];
} Motion;

/* barriers.Predicted, its keep -INFINITY where the policy asks for none. */
typedef struct {
    Motion motion;
    double error_m, error_m_s, keep;
} Predicted;

/* Commands on their way, oldest first; each so many numbers after the last. */
typedef struct {
    const double *first;
    int stride;
} Queue;

/* barriers.Body */
typedef struct {
    Motion motion;
    double wait_s, since_s, blind;
    const RmShape *shape;
} Body;

/* As Python's: the first where they are equal or not comparable. */
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double within(double x, double low, double high) { return smaller(larger(x, low), high); }
static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double rm_direction(const double *vector, double *unit);
void rm_predict(const RmConstants *c, const Motion *own, const Queue *queue, const double *drift, Predicted *out);
Motion rm_point_of(const Motion *centre, const double *quat, double yaw_rate, double ahead);
Body rm_mate_of(const RmConstants *c, const Motion *state, const Motion *plan, double since);
/* The row (normal, bound) of a body; returns the gap. `tail` is our line, or NULL. */
double rm_pair(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
               double *row);
/* Largest acceleration towards a plane; infinity where it certainly cannot bind. */
double rm_wall(const RmConstants *c, const Predicted *own, double gap, double speed);
void rm_speed_limit(const RmConstants *c, const Predicted *own, double *row);

#endif
