/* A robot that does not hear the others: robomarl/core/filter/model/hold.py, function by function. */
#include "read.h"

#define SILENT_BOXES 4.0
#define OPEN_SIDE 4.0
#define REMEMBERED_BOXES 2.0

Hold rm_hold(const RmConstants *c, const double *before, const Predicted *own) {
    const int rests = sane(before); /* in all its parts */
    const int slow = dot(own->motion.vel, own->motion.vel) <= c->slow_m_s * c->slow_m_s;
    Hold hold = {rests || slow, {RM_NOWHERE_M, RM_NOWHERE_M, RM_NOWHERE_M}, {0}, {{0}}};
    for (int i = 0; i < 3 && hold.on; i++) {
        const double x = own->motion.pos[i], half = c->hold_m[i] + c->mates.error_m;
        hold.place[i] = rests ? within(before[i], x - half, x + half) : x;
    }
    return hold;
}

int rm_is_near(const RmConstants *c, const double *place, const Predicted *own) {
    for (int i = 0; i < 3; i++)
        if (!(fabs(place[i] - own->motion.pos[i]) <= REMEMBERED_BOXES * c->hold_m[i])) return 0;
    return 1;
}

void rm_away(const RmConstants *c, const Body *mate, int silent, Hold *hold) {
    double offset[3], n[3];
    const double speed = rm_direction(mate->motion.vel, n), way = speed * speed / (2 * c->brake_m_s2);
    for (int i = 0; i < 3; i++) {
        offset[i] = hold->place[i] - mate->motion.pos[i] - n[i] * way;
        if (i == 2) offset[i] *= c->mates.squash;
    }
    const Facing f = rm_facing(&c->mates, mate, 0, offset);
    const double boxes = SILENT_BOXES * along_axes(f.n, c->hold_m);
    const double near = within((c->mates.separation_m + boxes - f.distance) / boxes, 0.0, 1.0) * f.per_lean;
    for (int i = 0; i < 3; i++) {
        if (silent) hold->away[i] += near * f.n[i];
        if (!silent) hold->near[f.n[i] < 0][i] += near * fabs(f.n[i]);
    }
}

void rm_room(const RmConstants *c, const Hold *hold, double low[3], double high[3]) {
    for (int i = 0; i < 3; i++) {
        low[i] = c->has_arena ? c->arena[0][i] : -RM_LARGE;
        high[i] = c->has_arena ? c->arena[1][i] : RM_LARGE;
        if (!hold->on || (c->planar && i == 2)) continue;
        const double away = within(hold->away[i], -1.0, 1.0), up = larger(away, 0.0), down = larger(-away, 0.0);
        const double half = c->hold_m[i], least = low[i], most = high[i];
        const double below = half * (1 + OPEN_SIDE * down - smaller(up + hold->near[0][i], 1.0));
        const double above = half * (1 + OPEN_SIDE * up - smaller(down + hold->near[1][i], 1.0));
        /* The arena does not give way: between it and the box there is room to rest. */
        low[i] = larger(smaller(hold->place[i] - below, most - 2 * half), least);
        high[i] = smaller(larger(hold->place[i] + above, least + 2 * half), most);
    }
}
