/* The safety filter in C: see robomarl/core/filter/kernel/__init__.py. Double precision, SI units, no allocation, no state. */
#ifndef ROBOMARL_KERNEL_H
#define ROBOMARL_KERNEL_H

#include <stddef.h>

/* Values of robomarl.core.filter.memory.Reason. */
enum { RM_OK = 0, RM_INFEASIBLE = 1, RM_STALE = 2, RM_NON_FINITE = 3, RM_SOLVER = 4, RM_MISSING = 5 };

/* Largest violation of a row that still counts as holding: robomarl.core.filter.qp.projection.TOLERANCE. */
#define RM_TOLERANCE 1e-9

/* min |u - point|^2 subject to n . u <= b for m rows (n, b), n a unit vector.
 * u is the point itself unless the status is RM_OK; residual is max(n . u - b), at most RM_TOLERANCE then. */
int rm_project(int m, const double *rows, const double *point, double *u, double *residual);

/* The same for `count` problems of m rows each, one after the other in memory. */
void rm_project_many(long count, int m, const double *rows, const double *points, double *u, double *residual,
                     int *status);

/* robomarl.core.filter.model.body_kinds.Shape */
typedef struct {
    int has_line, has_box;
    double line[3], box[3];
} RmShape;

/* robomarl.core.filter.model.body_kinds.Kind */
typedef struct {
    double separation_m, squash, error_m, error_m_s, drift_m_s2, bias_m_s2[3], reach_m_s2[3], speed_m_s;
    int yields, evade;
    double brake_share, lost_share, max_age_s, keep, slope_per_s;
} RmKind;

/* robomarl.core.filter.model.body_kinds.Solid */
typedef struct {
    double place_m[3];
    RmShape shape;
    RmKind kind;
    int has_tail_kind;
    RmKind tail_kind;
} RmSolid;

/* robomarl.core.filter.model.constants.Constants, mode qp; has_X where X may be None there, queue_X is queue.X. */
typedef struct {
    RmKind mates, tail_mates, strangers, tail_strangers;
    int has_tail_mates, has_strangers, has_tail_strangers, num_solids;
    const RmSolid *solids;
    int planar;
    double tail_m[3], look_ahead_m, blind_m_s, brake_m_s2, gain_per_s, step_s, keep, slope_per_s, horizon_s;
    double own_error_m, own_error_m_s, plan_reach_m, plan_reach_m_s, speed_m_s, velocity_error_m_s, accel_error_m_s2;
    double reach_m_s2[3], bias_m_s2[3], forget_m_s2[3], sudden_keep, sudden_share, spend_per_s, spread_s, half_s, half_way_s2;
    int next_count;
    double floor_m_s2, loose_m_s2, clear_m_s, settle_share, hold_m[3], slow_m_s, max_own_age_s;
    int min_mates, has_arena;
    double arena[2][3], low[3], high[3], yaw_rate_rad_s, brake_gain_per_s, period_s;
    int num_acting;
    int num_stretches;
    const double *queue_oldest, *queue_newest, *queue_speed_s, *queue_way_s2;
} RmConstants;

/* How many there are of what one robot reads, and so how its numbers lie in memory. */
typedef struct {
    int queue, mates, strangers, has_gain;
} RmSizes;

/* One decision of one robot: robomarl.core.filter.decision.filter_batch.
 * in: position, velocity, age, attitude wxyz, body rates; nominal 4, gain; of the bias estimate, doubt, anchor, made,
 *     unsure, since; place; commands [queue, 4]; of the mates position, velocity, age, planned position, velocity and
 *     stop; of the strangers position, velocity, age: array after array. Then, a byte each, the masks of the mates and of
 *     the strangers, up to a whole number.
 * out: command 4, slack, gap, active, reason, misfit; plan's position, velocity, stop; the memory as it goes in: bias,
 *     place, commands.
 * room: for `rm_room_size` numbers, whatever they are.
 * A queue that is shorter than the delay is a fault: RM_NON_FINITE. */
void rm_decide(const RmConstants *c, const RmSizes *sizes, const double *in, double *out, double *room);

/* The same for `count` robots, one after the other in memory. */
void rm_decide_many(long count, const RmConstants *c, const RmSizes *sizes, const double *in, double *out,
                    double *room);

/* How many numbers `in` and `out` are of one robot, and how many a decision needs room for. */
int rm_in_size(const RmSizes *sizes);
int rm_out_size(const RmSizes *sizes);
int rm_room_size(const RmConstants *c, const RmSizes *sizes);

/* The constants of the same names in robomarl/core/filter/deadlock_rules: of meeting.py, */
typedef struct {
    double ahead_s, width_m, full_at, eager, beside_m, front, side_gain_per_s, lift_m, lift_m_s, lift_gain_per_s;
    double lift_noise_m, wall_m;
} RmMeeting;

/* of roundabout.py, with the bearing of its EAST, */
typedef struct {
    double crowd, holds[4], room_m, meets, edge, behind_m, beyond_m, wall_m, remember_s, free_s, near_goal_m, inward;
    double most_rad, gain_per_s, east_rad;
} RmRoundabout;

/* and of detours.py. */
typedef struct {
    double slow_m_s, far_m, patience_s, detour_s, calm_s, angles_rad[4];
} RmDetours;

/* What the rules against deadlock have to know: those, and what of SafetyParams they read. */
typedef struct {
    RmMeeting meeting;
    RmRoundabout around;
    RmDetours detours;
    double speed_m_s, period_s, lane_m, low_m[3], high_m[3];
    int planar, has_arena;
} RmWays;

/* Functions of Python, each a decision of one robot from Python's objects: KernelFilter.plain and KernelWays.plain. Their
 * addresses, as new references. */
size_t rm_plain(void);
size_t rm_plain_ways(void);

#endif
