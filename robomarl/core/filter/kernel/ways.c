/* The rules against deadlock where nothing stands in the way, for one robot, function by function as in
 * robomarl/core/filter/deadlock_rules, and the same in every bit: sums are added up in numpy's order. */
#include "ways.h"

#include <string.h>

/* meeting.Meeting */
typedef struct {
    double near[MOST_MATES], below[MOST_MATES], right[2];
} Meeting;

/* What a crowd is like: mates' places, who is of it, how many, and how many of them are before us around its middle. */
typedef struct {
    double place[MOST_MATES][2];
    int is_in[MOST_MATES], count;
} Crowd;

static double flat_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

static double flat_norm(const double *v) { return sqrt(flat_dot(v, v)); }

/* numpy's: one after the other, and from eight numbers on (up to 128) eight sums side by side. */
static double sum_of(const double *x, int count) {
    double sides[8], sum = 0.0;
    const int whole = count < 8 ? 0 : count - count % 8;
    for (int i = 0; i < whole; i++) sides[i % 8] = i < 8 ? x[i] : sides[i % 8] + x[i];
    if (whole) sum = ((sides[0] + sides[1]) + (sides[2] + sides[3])) + ((sides[4] + sides[5]) + (sides[6] + sides[7]));
    for (int i = whole; i < count; i++) sum += x[i];
    return sum;
}

static double nearness(const RmMeeting *r, const double *offset, const double *closing, const double *forward, double far) {
    const double when = dot(offset, closing) / (dot(closing, closing) + 1e-3), distance = sqrt(dot(offset, offset));
    if (!(when > 0 && flat_dot(offset, forward) > r->front * distance && distance < far + r->beside_m)) return 0.0;
    double closest[3];
    for (int i = 0; i < 3; i++) closest[i] = offset[i] - closing[i] * within(when, 0.0, r->ahead_s);
    const double miss = sqrt(dot(closest, closest));
    return within(1 - miss / r->width_m, 0.0, 1.0) * within(1 - when / r->ahead_s, 0.0, 1.0);
}

/* meeting.meet */
static void meet(const RmWays *w, const Traffic *t, Meeting *m) {
    double way[3], wanted[3], offset[3], closing[3];
    for (int i = 0; i < 3; i++) way[i] = t->goal[i] - t->pos[i];
    const double length = flat_norm(way) + 1e-6, far = sqrt(dot(way, way)) + 1e-6;
    const double pace = smaller(w->speed_m_s * 2 / 3, 1.5 * far), forward[2] = {way[0] / length, way[1] / length};
    for (int i = 0; i < 3; i++) wanted[i] = t->vel[i] + w->meeting.eager * (way[i] / far * pace - t->vel[i]);
    m->right[0] = forward[1], m->right[1] = -forward[0];
    for (int j = 0; j < t->mates; j++) {
        const double *pos = t->mate_pos + 3 * j, *vel = t->mate_vel + 3 * j;
        for (int i = 0; i < 3; i++) {
            offset[i] = pos[i] + vel[i] * t->mate_age[j] - t->pos[i];
            closing[i] = wanted[i] - vel[i];
        }
        m->below[j] = -offset[2];
        m->near[j] = t->mask[j] ? nearness(&w->meeting, offset, closing, forward, length) : 0.0;
    }
}

/* meeting._lift; `share` of each mate. */
static double lift(const RmWays *w, const Traffic *t, const Meeting *m, const double *share) {
    const RmMeeting *r = &w->meeting;
    double parts[MOST_MATES], wanted;
    for (int j = 0; j < t->mates; j++) {
        const double parting = within(1 - fabs(m->below[j]) / r->lift_m, 0.0, 1.0) * share[j];
        parts[j] = parting == 0 ? 0.0 : t->call(t->with, TANH, m->below[j] / r->lift_noise_m, 0.0) * parting;
    }
    wanted = r->lift_m_s * within(sum_of(parts, t->mates), -1.0, 1.0);
    if (w->has_arena) {
        const double low = w->low_m[2] + r->wall_m, high = w->high_m[2] - r->wall_m;
        wanted = within(wanted, smaller(low - t->pos[2], 0.0), larger(high - t->pos[2], 0.0));
    }
    return wanted == 0 ? 0.0 : r->lift_gain_per_s * (wanted - t->vel[2]);
}

/* meeting.keep_right */
static void keep_right(const RmWays *w, const Traffic *t, const Meeting *m, double *out) {
    double share[MOST_MATES], most = 0.0;
    for (int j = 0; j < t->mates; j++) {
        share[j] = within(m->near[j] / w->meeting.full_at, 0.0, 1.0);
        most = larger(most, share[j]);
    }
    const double missing = w->speed_m_s * most - larger(flat_dot(t->vel, m->right), 0.0);
    const double push = w->meeting.side_gain_per_s * (most > 0 ? larger(missing, 0.0) : 0.0);
    memcpy(out, t->nominal, t->size * sizeof(double));
    for (int i = 0; i < 2; i++) out[i] += push * m->right[i];
    out[2] += w->planar ? t->nominal[2] * 0 : lift(w, t, m, share);
}

/* roundabout._blocks */
static int blocks(const double *centre, double radius, const Traffic *t) {
    const double way[2] = {t->goal[0] - t->pos[0], t->goal[1] - t->pos[1]}, far = flat_norm(way) + 1e-6;
    const double inward[2] = {centre[0] - t->pos[0], centre[1] - t->pos[1]};
    const double forward[2] = {way[0] / far, way[1] / far}, right[2] = {forward[1], -forward[0]};
    const double ahead = flat_dot(inward, forward);
    return -flat_dot(inward, right) < radius && ahead > 0 && ahead < far;
}

/* roundabout._bearing of a place about the centre */
static double bearing(const RmWays *w, const Traffic *t, const double *place, const double *centre) {
    const double whole = 2 * M_PI, angle = t->call(t->with, ARCTAN2, place[1] - centre[1], place[0] - centre[0]);
    const double rest = fmod(angle - w->around.east_rad, whole);
    return rest < 0 ? rest + whole : rest;
}

/* roundabout.ring_of */
static int ring_of(const RmRoundabout *r, int rank, int count) {
    int ring = 1;
    for (int i = 0; i < 4; i++) ring += (count > r->holds[i]) - (rank % (2 << i) == 0);
    return ring < 1 ? 1 : ring;
}

/* roundabout._to_walls */
static double to_walls(const RmWays *w, const double *centre) {
    double room = INFINITY;
    if (!w->has_arena) return room;
    for (int i = 0; i < 2; i++)
        room = smaller(room, smaller(centre[i] - (float)w->low_m[i], (float)w->high_m[i] - centre[i]));
    return larger(room - w->around.wall_m, 0.0);
}

/* Who is of the crowd, and its middle. */
static void gather(const RmWays *w, const Traffic *t, Crowd *crowd, double *centre) {
    const double way[2] = {t->goal[0] - t->pos[0], t->goal[1] - t->pos[1]};
    const double reach = flat_norm(way) + w->around.behind_m;
    centre[0] = centre[1] = 0.0, crowd->count = 0;
    for (int j = 0; j < t->mates; j++) {
        double *place = crowd->place[j], offset[2];
        for (int i = 0; i < 2; i++) {
            place[i] = t->mate_pos[3 * j + i] + t->mate_vel[3 * j + i] * t->mate_age[j];
            offset[i] = place[i] - t->pos[i];
        }
        crowd->is_in[j] = t->mask[j] && flat_norm(offset) < reach;
        crowd->count += crowd->is_in[j];
        for (int i = 0; i < 2; i++) centre[i] += place[i] * crowd->is_in[j];
    }
    for (int i = 0; i < 2; i++) centre[i] = (t->pos[i] + centre[i]) / (crowd->count + 1);
}

static double apart(const double *a, const double *b) {
    const double offset[2] = {a[0] - b[0], a[1] - b[1]};
    return flat_norm(offset);
}

/* Our own ring about the centre. */
static double radius_of(const RmWays *w, const Traffic *t, const Crowd *crowd, const double *centre) {
    const double own = bearing(w, t, t->pos, centre);
    int before = 0;
    for (int j = 0; j < t->mates; j++) before += crowd->is_in[j] && bearing(w, t, crowd->place[j], centre) < own;
    const double ring = w->lanes_m[crowd->count + 1 > w->around.holds[1]] * ring_of(&w->around, before, crowd->count + 1);
    return smaller(smaller(ring, apart(t->goal, centre) + w->around.beyond_m), to_walls(w, centre));
}

/* roundabout._found, and the test that it is in the way */
static int found(const RmWays *w, const Traffic *t, const Meeting *m, double *centre, double *radius) {
    Crowd crowd;
    double around[MOST_MATES] = {0};
    int meets = 0;
    for (int j = 0; j < t->mates; j++) meets += m->near[j] > 0;
    if (meets < w->around.meets) return 0;
    gather(w, t, &crowd, centre);
    if (crowd.count + 1 < w->around.crowd) return 0;
    for (int j = 0; j < t->mates; j++) around[j] = crowd.is_in[j] ? apart(crowd.place[j], centre) : 0.0;
    const double edge = w->around.edge * sum_of(around, t->mates) / (crowd.count < 1 ? 1 : crowd.count);
    if (!(apart(t->goal, centre) > edge && apart(t->pos, centre) > edge)) return 0;
    *radius = radius_of(w, t, &crowd, centre);
    return blocks(centre, *radius, t);
}

/* roundabout.update: whether it is in the way. */
static int go_around(const RmWays *w, const Traffic *t, const Meeting *m, Way *way) {
    double centre[2], radius;
    way->known_s = larger(way->known_s - w->period_s, 0.0);
    if (way->known_s <= 0 && found(w, t, m, centre, &radius)) {
        memcpy(way->centre, centre, sizeof centre);
        way->radius_m = radius, way->known_s = w->around.remember_s;
    }
    if (way->known_s > 0 && blocks(way->centre, way->radius_m, t) && apart(t->goal, t->pos) > w->around.near_goal_m) return 1;
    way->known_s = smaller(way->known_s, w->around.free_s);
    return 0;
}

/* roundabout.steer */
static void steer(const RmWays *w, const Traffic *t, const Way *way, double *out) {
    const RmRoundabout *r = &w->around;
    const double inward[2] = {way->centre[0] - t->pos[0], way->centre[1] - t->pos[1]}, far = flat_norm(inward) + 1e-6;
    const double ahead[2] = {inward[0] / far, inward[1] / far}, aside[2] = {ahead[1], -ahead[0]};
    const double most = sqrt(2) * w->accel_m_s2, bend_m = larger(far, r->least_m);
    const double speed = smaller(w->speed_m_s, sqrt(r->bends * most * bend_m));
    const double back = within(sqrt(most / r->back_m) * (far - way->radius_m), -r->across * speed, r->across * speed);
    const double around = flat_dot(t->vel, aside), along = sqrt(speed * speed - back * back), spun = larger(around, 0.0);
    const double asked = r->gain_per_s * (back - flat_dot(t->vel, ahead)) + spun * spun / bend_m;
    const double bend = within(asked, -most, most), left = sqrt(most * most - bend * bend);
    const double faster = within(r->gain_per_s * (along - around), -left, left);
    for (int i = 0; i < 2; i++) out[i] = bend * ahead[i] + faster * aside[i];
}

/* detours.turn_right */
static void turn_right(const RmWays *w, const Traffic *t, Way *way, double *out) {
    const RmDetours *r = &w->detours;
    const double goal[3] = {t->goal[0] - t->pos[0], t->goal[1] - t->pos[1], t->goal[2] - t->pos[2]};
    const int slow = sqrt(dot(t->vel, t->vel)) < r->slow_m_s, far = sqrt(dot(goal, goal)) > r->far_m;
    const double stuck = slow && far && way->active && way->detour_s <= 0 ? way->stuck_s + w->period_s : 0.0;
    const int begins = stuck > r->patience_s;
    way->stuck_s = begins ? 0.0 : stuck;
    way->detour_s = begins ? r->detour_s : larger(way->detour_s - w->period_s, -r->calm_s);
    way->tries = begins ? way->tries + 1 : way->detour_s > -r->calm_s ? way->tries : 0.0;
    const double angle = r->angles_rad[((int)way->tries + 3) % 4], x = out[0], y = out[1];
    const int turns = way->detour_s > 0;
    const double cosine = turns ? t->call(t->with, COS, angle, 0.0) : 1.0;
    const double sine = turns ? t->call(t->with, SIN, angle, 0.0) : 0.0;
    out[0] = cosine * x - sine * y, out[1] = sine * x + cosine * y;
}

void rm_give_way(const RmWays *w, const Traffic *t, Way *way, double *out) {
    Meeting m;
    meet(w, t, &m);
    const int in_crowd = t->mates + 1 >= w->around.crowd, around = in_crowd && go_around(w, t, &m, way);
    if (in_crowd && way->known_s > 0)
        memcpy(out, t->nominal, t->size * sizeof(double));
    else
        keep_right(w, t, &m, out);
    if (around) steer(w, t, way, out);
    turn_right(w, t, way, out);
}
