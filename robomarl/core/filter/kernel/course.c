/* Courses: robomarl/core/certificate/{course,reference,rule,solids,strangers}.py, function by function. */
#include "course.h"

/* By how much a teammate has to be farther than it needs to be before its pair is not looked at [m]: beyond rounding. */
#define SURELY_M 1e-3

Course rm_course(const Courses *from, int k) {
    Course course = {{0}, {0}, from->at[k], from->brake[k], from->room[k]};
    copy(course.pos, from->pos + 3 * k, 3), copy(course.vel, from->vel + 3 * k, 3);
    return course;
}

void rm_keep_course(const Course *course, const Courses *to, int k) {
    copy(to->pos + 3 * k, course->pos, 3), copy(to->vel + 3 * k, course->vel, 3);
    to->at[k] = course->at, to->brake[k] = course->brake, to->room[k] = course->room;
}

double rm_speed(const RmCertificate *c, const double *vel) {
    return sqrt(dot(vel, vel) + c->speed_floor_m_s * c->speed_floor_m_s);
}

double rm_rests(const RmCertificate *c, const Course *course) {
    return course->at + rm_speed(c, course->vel) / course->brake;
}

/* How long the reference would have to go on at its first speed to get as far as it is: `speed` is that speed. */
static inline double way_at(const Course *course, double speed, double time) {
    const double after = time - course->at, braked = smaller(larger(after, 0.0), speed / course->brake);
    return braked - course->brake * braked * braked / (2 * speed) + smaller(after, 0.0);
}

void rm_state(const RmCertificate *c, const Course *course, double time, double *pos, double *vel) {
    const double speed = rm_speed(c, course->vel), way = way_at(course, speed, time);
    const double left = larger(1 - course->brake * larger(time - course->at, 0.0) / speed, 0.0);
    for (int i = 0; i < 3; i++) {
        pos[i] = course->pos[i] + course->vel[i] * way;
        vel[i] = course->vel[i] * left;
    }
}

void rm_stop(const RmCertificate *c, const Course *course, double *pos) {
    const double way = rm_speed(c, course->vel) / (2 * course->brake);
    for (int i = 0; i < 3; i++) pos[i] = course->pos[i] + course->vel[i] * way;
}

Course rm_resting(const RmCertificate *c, const double *pos, double at) {
    Course course = {{pos[0], pos[1], pos[2]}, {0}, at, 0.0, c->unlearned.room_m};
    for (int i = 0; i < 3; i++) course.brake = larger(course.brake, c->accel_m_s2[i]);
    return course;
}

Times rm_times(const RmCertificate *c, double at) {
    Times times = {c->segments + 2, {at}};
    const double step = (c->span_s - c->period_s) / c->segments;
    for (int i = 0; i <= c->segments; i++) times.at[i + 1] = at + (c->period_s + step * i);
    return times;
}

/* Places of a reference at all times but the first `from`, in the metric of the downwash and in the world's. */
static void places(const RmCertificate *c, const Course *course, const Times *times, int from,
                   double to[3][RM_MOST_TIMES]) {
    double way[RM_MOST_TIMES];
    const double speed = rm_speed(c, course->vel);
    for (int m = from; m < times->count; m++) way[m] = way_at(course, speed, times->at[m]);
    for (int i = 0; i < 3; i++)
        for (int m = from; m < times->count; m++) to[i][m] = course->pos[i] + course->vel[i] * way[m];
}

static double squashed_length(const RmCertificate *c, const double *v) {
    const double scaled[3] = {v[0] * c->squash[0], v[1] * c->squash[1], v[2] * c->squash[2]};
    return sqrt(dot(scaled, scaled));
}

/* How far the reference still gets after a time, in the metric of the downwash. */
static double left_after(const RmCertificate *c, const Course *course, double time) {
    const double speed = rm_speed(c, course->vel), whole = speed / (2 * course->brake);
    return squashed_length(c, course->vel) * (whole - way_at(course, speed, time));
}

Path rm_path(const RmCertificate *c, const double *start, const Course *course, const Times *times) {
    Path path;
    double first[3];
    for (int i = 0; i < 3; i++) path.place[i][0] = start[i];
    places(c, course, times, 1, path.place);
    for (int i = 0; i < 3; i++) {
        for (int m = 0; m < times->count; m++) path.squashed[i][m] = path.place[i][m] * c->squash[i];
        first[i] = path.place[i][1] - start[i];
    }
    path.way = squashed_length(c, first) + left_after(c, course, times->at[1]);
    return path;
}

/* Whether the path keeps clear wherever courses are within their ways from where they are at the first time: the distance
 * to the teammate's anchor, along a direction of the other end of a chord, is at least its first less twice the ways. */
static int is_far(const RmCertificate *c, const Path *path, const Course *mine, const Course *theirs, double first,
                  double kept) {
    double near[3], far[3];
    for (int i = 0; i < 3; i++) {
        const double place = path->place[i][0];
        near[i] = place - (mine->pos[i] + mine->vel[i] * way_at(mine, rm_speed(c, mine->vel), first));
        far[i] = place - (theirs->pos[i] + theirs->vel[i] * way_at(theirs, rm_speed(c, theirs->vel), first));
    }
    const double away = squashed_length(c, far) - 2 * (path->way + left_after(c, theirs, first));
    const double moved = squashed_length(c, near) + path->way + left_after(c, mine, first);
    return away - moved >= kept + SURELY_M;
}

/* tether.Tether.left_m: whether the path stays within half of the tether of the middle of both anchors. */
static int is_tied(const RmCertificate *c, const Path *path, const Course *mine, const Course *theirs, const Times *times) {
    const double stretch = c->tether.apart_m / c->tether.height_m;
    const double most = c->tether.apart_m / 2 - c->bend_m * larger(stretch, 1.0);
    double own[3][RM_MOST_TIMES], mate[3][RM_MOST_TIMES], off[3];
    places(c, mine, times, 0, own), places(c, theirs, times, 0, mate);
    for (int m = 0; m < times->count; m++) {
        for (int i = 0; i < 3; i++) off[i] = path->place[i][m] - (own[i][m] + mate[i][m]) / 2;
        off[2] *= stretch;
        if (!(most - sqrt(dot(off, off)) >= 0)) return 0;
    }
    return 1;
}

int rm_clears(const RmCertificate *c, const Path *path, const Course *mine, const Course *theirs, const Times *times) {
    const double kept = mine->room + theirs->room + c->bend_m, end = times->at[times->count - 1];
    double away[3][RM_MOST_TIMES], moved[3][RM_MOST_TIMES], changed[RM_MOST_TIMES];
    int near = 0;
    if (!(rm_rests(c, mine) <= end && rm_rests(c, theirs) <= end)) return 0;
    if (is_carrier(c) && !is_tied(c, path, mine, theirs, times)) return 0;
    if (is_far(c, path, mine, theirs, times->at[0], kept)) return 1;
    places(c, mine, times, 0, moved), places(c, theirs, times, 0, away);
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < times->count; m++) {
            moved[i][m] = path->squashed[i][m] - moved[i][m] * c->squash[i];
            away[i][m] = path->squashed[i][m] - away[i][m] * c->squash[i];
        }
    for (int m = 0; m < times->count; m++)
        changed[m] = sqrt(moved[0][m] * moved[0][m] + moved[1][m] * moved[1][m] + moved[2][m] * moved[2][m] + c->speck_m2);
    for (int m = 0; m + 1 < times->count; m++) {
        const double x = away[0][m + 1] + away[0][m], y = away[1][m + 1] + away[1][m], z = away[2][m + 1] + away[2][m];
        const double length = sqrt(x * x + y * y + z * z + c->speck_m2);
        const double first = (x * away[0][m] + y * away[1][m] + z * away[2][m]) / length - changed[m];
        const double last = (x * away[0][m + 1] + y * away[1][m + 1] + z * away[2][m + 1]) / length - changed[m + 1];
        near |= !(first - kept >= 0) | !(last - kept >= 0);
    }
    return !near;
}

/* solids.room_left, along one chord: a bound of a convex distance, from both ends. */
static double between_tangents(const Facing *first, const Facing *last, const double *step) {
    const double leaves = dot(first->n, step), meets = dot(last->n, step);
    if (leaves >= 0) return first->distance;
    if (meets <= 0) return last->distance;
    return (meets * first->distance - leaves * last->distance + leaves * meets) / (meets - leaves);
}

double rm_room_left(const RmConstants *front, int count, const double place[3][RM_MOST_TIMES]) {
    double least = INFINITY;
    for (int j = 0; j < front->num_solids; j++) {
        const RmSolid *solid = front->solids + j;
        const Body body = {{{0}, {0}}, 0.0, 0.0, 0.0, 0.0, 0.0, &solid->shape};
        Facing before = {0};
        for (int m = 0; m < count; m++) {
            double offset[3], step[3];
            for (int i = 0; i < 3; i++) {
                offset[i] = place[i][m] - solid->place_m[i];
                step[i] = m ? place[i][m] - place[i][m - 1] : 0.0;
            }
            offset[2] *= solid->kind.squash;
            const Facing here = rm_facing(&solid->kind, &body, 0, offset);
            if (m) least = smaller(least, between_tangents(&before, &here, step) - solid->kind.separation_m);
            before = here;
        }
    }
    return least;
}

/* strangers._beyond, of one leg: offsets from a ball's middle at both ends, and its radius there. */
static double beyond_ball(const RmCertificate *c, const double *first, const double *last, double small, double large) {
    double middle[3];
    for (int i = 0; i < 3; i++) middle[i] = first[i] + last[i];
    const double length = sqrt(dot(middle, middle) + c->speck_m2);
    return smaller(dot(middle, first) / length - small, dot(middle, last) / length - large);
}

/* Where a reference is at the k-th end of a leg, and when: strangers._legs. */
static double leg_end(const RmCertificate *c, const Course *start, const Course *way, int k, double *place) {
    const double rest = rm_rests(c, way), speed = rm_speed(c, way->vel);
    const int last = c->segments + 3;
    if (k < 2) {
        copy(place, start->pos, 3);
        return k ? start->at : start->at - c->settles_s;
    }
    const double time = way->at + (rest - way->at) * ((smaller(k, last - 1) - 2) / c->segments);
    const double gone = way_at(way, speed, time);
    for (int i = 0; i < 3; i++) place[i] = way->pos[i] + way->vel[i] * gone;
    return k == last ? rest + c->settles_s : time;
}

double rm_left_to_stranger(const RmCertificate *c, const Course *start, const Course *way, const Motion *seen, double age,
                           double now) {
    const RmTold *told = &c->told;
    double least = INFINITY, away[2][3], free[2][3], slow_m[2], free_m[2];
    for (int k = 0; k <= c->segments + 3; k++) {
        double place[3];
        const double since = leg_end(c, start, way, k, place) - now + fabs(age);
        memcpy(away[0], away[1], sizeof away[0]), memcpy(free[0], free[1], sizeof free[0]);
        slow_m[0] = slow_m[1], free_m[0] = free_m[1];
        for (int i = 0; i < 3; i++) {
            const int flat = c->front->planar && i == 2;
            away[1][i] = flat ? 0.0 * (place[i] - seen->pos[i]) : place[i] - seen->pos[i];
            free[1][i] = away[1][i] - (flat ? 0.0 * seen->vel[i] : seen->vel[i]) * since;
        }
        slow_m[1] = told->speed_m_s * since;
        free_m[1] = told->velocity_error_m_s * since + told->accel_m_s2 / 2 * since * since;
        if (!k) continue;
        const double slow = beyond_ball(c, away[0], away[1], slow_m[0], slow_m[1]);
        const double freely = beyond_ball(c, free[0], free[1], free_m[0], free_m[1]);
        if (!(slow == slow && freely == freely)) return NAN;
        least = smaller(least, larger(slow, freely));
    }
    return least - c->stranger_m;
}
