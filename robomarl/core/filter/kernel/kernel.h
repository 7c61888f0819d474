/* The safety filter in C: see robomarl/core/filter/kernel/__init__.py. Double precision, SI units, no allocation, no state. */
#ifndef ROBOMARL_KERNEL_H
#define ROBOMARL_KERNEL_H

#include <stddef.h>

#include "constants.h"

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
    double crowd, holds[4], room_m, meets, edge, behind_m, beyond_m, wall_m, remember_s, free_s, near_goal_m, back_m;
    double across, bends, least_m, gain_per_s, east_rad;
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
    double speed_m_s, accel_m_s2, period_s, lanes_m[2], low_m[3], high_m[3];
    int planar, has_arena;
} RmWays;

/* robomarl.core.certificate.figures.Tube */
typedef struct {
    double half_m[3], radius_m, room_m;
} RmTube;

/* What is told of strangers: robomarl.core.filter.model.bodies.Strangers. */
typedef struct {
    double speed_m_s, velocity_error_m_s, accel_m_s2;
} RmTold;

/* robomarl.core.certificate.tether.Tether; all 0: robots carry nothing together. */
typedef struct {
    double apart_m, height_m, accel_m_s2, speed_m_s, stop_s;
} RmTether;

/* robomarl.core.certificate.figures.CertificateFigures, and the constants of the same names in that folder; `queue` is how
 * many commands are on their way. */
typedef struct {
    const RmConstants *tracker, *front;
    RmTube learned, unlearned;
    RmTold told;
    RmTether tether;
    double period_s, lead_s, ahead_s, accel_m_s2[3], speed_m_s, squash[3], learned_m_s2, stop_s, span_s, bend_m;
    double low_m[3], high_m[3], stranger_m, settles_s, position_error_m;
    int smooth_count, segments, queue;
    int more_commands;
    double instant_s, rounding_box, diagonal, shares[4], part_m_s, part_per_s, early_share, rounding, last_digits_s;
    double speed_floor_m_s, speck_m2, place_per_s2, speed_per_s;
} RmCertificate;

/* More times than these are not compared. */
#define RM_MOST_TIMES 32

/* One decision of each of `count` certified robots with so many teammates, rows for so many strangers, and a gain in the
 * nominal command or none: robomarl.core.certificate.Certificate.step.
 * memory: `CertifiedCarry`; becomes the next one. given: `DecisionInputs` with `Own` in place of the view, then `Strangers`. found:
 * `Certified`, less what is in the memory. Each is a record a robot, its arrays in the order of Python's fields, each
 * aligned to its numbers: doubles, whole numbers of 64 bits, bytes for bools.
 * room: for `rm_certify_room` numbers, whatever they are. */
typedef struct {
    int mates, strangers, has_gain;
} RmAround;
void rm_certify(long count, const RmCertificate *c, const RmAround *around, char *memory, const char *given, char *found,
                double *room);
int rm_certify_room(const RmCertificate *c, const RmAround *around);

/* Functions of Python, each a decision of one robot from Python's objects: KernelFilter.plain, KernelWays.plain and of
 * KernelCertificate. Their addresses, as new references. */
size_t rm_plain(void);
size_t rm_plain_ways(void);
size_t rm_plain_certificate(void);

#endif
