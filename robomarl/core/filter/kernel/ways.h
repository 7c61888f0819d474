/* The rules against deadlock of one robot: robomarl/core/filter/deadlock_rules/{meeting,roundabout,detours}.py. */
#ifndef ROBOMARL_WAYS_H
#define ROBOMARL_WAYS_H

#include "rows.h"

enum { MOST_MATES = 128 };

/* Functions of numpy's: the last bit of what they return depends on numpy's build. */
enum { TANH, ARCTAN2, COS, SIN };
typedef double (*Function)(void *with, int which, double x, double y);

/* What a robot knows of itself, its mates and its goal; `size` numbers are its nominal command. */
typedef struct {
    const double *pos, *vel, *goal, *nominal, *mate_pos, *mate_vel, *mate_age;
    const unsigned char *mask;
    int size, mates;
    Function call;
    void *with;
} Traffic;

/* memory.WayCarry without passages, its roundabout last. */
typedef struct {
    int active;
    double stuck_s, detour_s, tries, centre[2], radius_m, known_s;
} Way;

/* One decision: GiveWay.__call__; the command goes to `out` [size], and the memory is the next one then. */
void rm_give_way(const RmWays *w, const Traffic *t, Way *way, double *out);

#endif
