/* Courses of certified robots, and the rule by which two of them keep clear. */
#ifndef ROBOMARL_COURSE_H
#define ROBOMARL_COURSE_H

#include "read.h"

#include <stdint.h>

/* course.CommittedCourse */
typedef struct {
    double pos[3], vel[3], at, brake, room;
} Course;

/* The same of every teammate, as it lies in memory. */
typedef struct {
    double *pos, *vel, *at, *brake, *room;
} Courses;

/* rule.Pair of every teammate */
typedef struct {
    Courses mine, theirs;
} Anchors;

/* Times at which courses are compared: reference.times_of. */
typedef struct {
    int count;
    double at[RM_MOST_TIMES];
} Times;

/* reference.path_of one course: places in the world, and in the metric of the downwash; how far from the first one it
 * gets in that metric. */
typedef struct {
    double place[3][RM_MOST_TIMES], squashed[3][RM_MOST_TIMES], way;
} Path;

/* state_box.StateBox, as it lies in memory. */
typedef struct {
    double *low, *high, *low_v, *high_v, *at, *commands, *may, *must;
    int64_t *misfits;
} StateBox;

static inline int rm_kept_commands(const RmCertificate *c) { return c->tracker->num_acting + c->more_commands; }

/* Whether robots carry a load together. */
static inline int is_carrier(const RmCertificate *c) { return c->tether.apart_m > 0; }

/* state_box.narrowed by a state that was seen at a time; by none; middle_of; commanded. */
void rm_narrow(const RmCertificate *c, StateBox *box, const Bias *bias, const Motion *seen, double at);
void rm_lose(StateBox *box, double at);
Motion rm_middle(const StateBox *box);
void rm_command(const RmCertificate *c, StateBox *box, const double *command, double now);

Course rm_course(const Courses *from, int k);
void rm_keep_course(const Course *course, const Courses *to, int k);
double rm_speed(const RmCertificate *c, const double *vel);
/* From when on the reference rests. */
double rm_rests(const RmCertificate *c, const Course *course);
/* Where the reference is at a time, and its velocity. */
void rm_state(const RmCertificate *c, const Course *course, double time, double *pos, double *vel);
void rm_stop(const RmCertificate *c, const Course *course, double *pos);
/* The course of a robot that rests and does not know its bias. */
Course rm_resting(const RmCertificate *c, const double *pos, double at);
Times rm_times(const RmCertificate *c, double at);
Path rm_path(const RmCertificate *c, const double *start, const Course *course, const Times *times);
/* Whether a path keeps clear by a pair of anchors, and within reach of a load: Certificate._keeps. */
int rm_clears(const RmCertificate *c, const Path *path, const Course *mine, const Course *theirs, const Times *times);
/* How far a path stays away from what obstacles keep free: solids.room_left. */
double rm_room_left(const RmConstants *front, int count, const double place[3][RM_MOST_TIMES]);
/* How much a way to go from a state leaves to where a stranger may be, who was seen so long before now:
 * strangers.least_left. */
double rm_left_to_stranger(const RmCertificate *c, const Course *start, const Course *way, const Motion *seen, double age,
                           double now);

#endif
