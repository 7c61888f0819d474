/* The rows of the filter: robomarl/core/filter/model/{motion,separation,barriers,look_ahead}.py, function by function. */
#ifndef ROBOMARL_ROWS_H
#define ROBOMARL_ROWS_H

#include "kernel.h"

#include <math.h>

#define RM_TINY 1e-12
#define RM_SPECK 1e-18
#define RM_LARGE 1e6
#define RM_UNKNOWN_M_S 2e6
#define RM_NOWHERE_M 2e6

/* Position and velocity. */
typedef struct {
    double pos[3], vel[3];
} Motion;

/* motion.Predicted, its keep -INFINITY where the policy asks for none. */
typedef struct {
    Motion motion;
    double unsure_m[3], unsure_m_s[3], bias[3], doubt[3], last[3], keep;
} Predicted;

/* hold.Hold */
typedef struct {
    int on;
    double place[3], away[3], near[2][3];
} Hold;

/* barriers.Bound */
typedef struct {
    double most, floor;
} Bound;

/* bias.Bias */
typedef struct {
    double estimate[3], doubt[3], anchor[3], made[3], unsure[3], since;
    int misfit;
} Bias;

/* Commands on their way, oldest first; each so many numbers after the last. */
typedef struct {
    const double *first;
    int stride;
} Queue;

/* barriers.Body */
typedef struct {
    Motion motion;
    double wait_s, since_s, blind, late_m, early_s;
    const RmShape *shape;
} Body;

/* As Python's: the first where they are equal or not comparable. */
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double within(double x, double low, double high) { return smaller(larger(x, low), high); }
static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
/* Bounds along the axes, along a normal. */
static inline double along_axes(const double *n, const double *bounds) {
    return fabs(n[0]) * bounds[0] + fabs(n[1]) * bounds[1] + fabs(n[2]) * bounds[2];
}

static inline double rm_direction(const double *vector, double *unit) {
    const double length = sqrt(dot(vector, vector) + RM_TINY), scale = 1 / length;
    for (int i = 0; i < 3; i++) unit[i] = vector[i] * scale;
    return length;
}

void rm_predict(const RmConstants *c, const Motion *own, const Queue *queue, const Bias *bias, Predicted *out);
/* What the velocity says of the bias; `known` says whether it may be used. */
void rm_learn(const RmConstants *c, Bias *bias, const double *vel, double age, int known);
/* The bias at the end of the period; `command` is the new one. */
void rm_expect(const RmConstants *c, Bias *bias, const Queue *queue, const double *command);
/* Where a robot stays; `before` is the place in its memory. */
Hold rm_hold(const RmConstants *c, const double *before, const Predicted *own);
/* Whether a robot that flies on remembers the place where it stayed. */
int rm_is_near(const RmConstants *c, const double *place, const Predicted *own);
/* Adds what a mate near the place makes of the box. */
void rm_away(const RmConstants *c, const Body *mate, int silent, Hold *hold);
/* Corners of the arena, cut by the box about the place of a robot that stays; +-RM_LARGE where there is no side. */
void rm_room(const RmConstants *c, const Hold *hold, double low[3], double high[3]);
/* The plan that goes with a command: position, velocity, stop. */
void rm_committed(const RmConstants *c, const Predicted *own, const double *command, double *plan);
Motion rm_point_of(const Motion *centre, const double *quat, double yaw_rate, double ahead);
Body rm_mate_of(const RmConstants *c, const Motion *state, const Motion *plan, const double *stop, double since);
/* Where the nearest points are from each other, z scaled: distance d, S n, its length, and one over both. */
typedef struct {
    double distance, per_distance, n[3], lean, per_lean;
} Facing;
/* At an offset; `tail` is our line, or NULL. */
Facing rm_facing(const RmKind *kind, const Body *body, const double *tail, const double *offset);
/* Normal and bound of a body's row; returns the gap. `tail` is our line, or NULL. */
double rm_pair(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
               double *normal, Bound *bound);
/* Normal of a mate's row where the rows are at odds; returns the largest command along it. */
double rm_likely(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
                 double *normal);
/* Bound of the command towards a plane across an axis, sign 1 or -1. */
Bound rm_plane(const RmConstants *c, const Predicted *own, int axis, double sign, double gap);
/* The same; infinity where it certainly cannot bind. */
Bound rm_wall(const RmConstants *c, const Predicted *own, int axis, double sign, double gap);
double rm_likely_speed_limit(const RmConstants *c, const Predicted *own, const double *normal);
void rm_speed_limit(const RmConstants *c, const Predicted *own, double *normal, Bound *bound);

#endif
