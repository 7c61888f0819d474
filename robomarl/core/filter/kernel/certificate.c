/* One decision of one certified robot: robomarl/core/certificate/{certificate,reference,pact,tracker,strangers}.py. */
#include "course.h"

enum { WAYS = 4 };

/* `pact.Pact` or `pact.Word` of every teammate; only a pact has `open`, only a word a course. */
typedef struct {
    Courses course;
    int64_t *number, *offered, *refused;
    Anchors agreed, offer;
    unsigned char *open;
} Pacts;

/* Where what lies in a record: memory, given, found. */
typedef struct {
    Courses course;
    unsigned char *placed, *trip;
    double *until, *accels, *commands, *bias, *plan, *place, *front_bias;
    StateBox box;
    Pacts pact;
    int64_t *misfits, *front_misfits, *ok;
} Record;

typedef struct {
    const double *pos, *quat, *vel, *omega, *age, *nominal, *now;
    Pacts word;
    const unsigned char *leads, *present, *seen;
    const double *other_pos, *other_vel, *other_age;
} Asked;

typedef struct {
    double *command, *error, *point;
    Pacts word;
    unsigned char *moves, *vetoed;
} Outcome;

/* What a decision works out on its way. */
typedef struct {
    const RmCertificate *c;
    int mates, strangers, has_gain, sure;
    /* The teammate that the last way comes too close to: it is looked at first, as the next way mostly does, too. */
    int blocks;
    double early;
    Record m;
    Asked g;
    Checked own;
    Bias bias;
    Course old, start;
    Times times;
    double *room;
} Now;

static void *taken_from(char **at, int count, int size) {
    char *begin = *at + (size - (uintptr_t)*at % size) % size;
    *at = begin + (size_t)count * size;
    return begin;
}

static double *doubles(char **at, int count) { return taken_from(at, count, sizeof(double)); }

static int64_t *whole(char **at, int count) { return taken_from(at, count, sizeof(int64_t)); }

static Courses courses(char **at, int count) {
    Courses found;
    found.pos = doubles(at, 3 * count), found.vel = doubles(at, 3 * count), found.at = doubles(at, count);
    found.brake = doubles(at, count), found.room = doubles(at, count);
    return found;
}

static Anchors anchors(char **at, int count) {
    Anchors found;
    found.mine = courses(at, count), found.theirs = courses(at, count);
    return found;
}

/* Both return where the next record begins. */
static char *lay_out_memory(const RmCertificate *c, int mates, char *at, Record *m) {
    const int kept = rm_kept_commands(c);
    m->course = courses(&at, 1);
    m->placed = taken_from(&at, 1, 1), m->trip = taken_from(&at, 1, 1);
    m->until = doubles(&at, 1), m->accels = doubles(&at, 3 * c->smooth_count);
    m->pact.number = whole(&at, mates), m->pact.agreed = anchors(&at, mates);
    m->pact.offered = whole(&at, mates), m->pact.offer = anchors(&at, mates);
    m->pact.open = taken_from(&at, mates, 1), m->pact.refused = whole(&at, mates);
    m->commands = doubles(&at, 4 * c->queue), m->bias = doubles(&at, BIAS), m->misfits = whole(&at, 1);
    m->box.low = doubles(&at, 3), m->box.high = doubles(&at, 3);
    m->box.low_v = doubles(&at, 3), m->box.high_v = doubles(&at, 3);
    m->box.at = doubles(&at, 1), m->box.commands = doubles(&at, 3 * kept);
    m->box.may = doubles(&at, kept), m->box.must = doubles(&at, kept), m->box.misfits = whole(&at, 1);
    m->plan = doubles(&at, 9), m->place = doubles(&at, 3), m->front_bias = doubles(&at, BIAS);
    m->front_misfits = whole(&at, 1), m->ok = whole(&at, 1);
    return at;
}

static char *lay_out_given(const RmAround *around, char *at, Asked *g) {
    const int mates = around->mates, strangers = around->strangers;
    g->pos = doubles(&at, 3), g->quat = doubles(&at, 4), g->vel = doubles(&at, 3), g->omega = doubles(&at, 3);
    g->age = doubles(&at, 1), g->word.course = courses(&at, mates);
    g->word.number = whole(&at, mates), g->word.offered = whole(&at, mates), g->word.offer = anchors(&at, mates);
    g->word.refused = whole(&at, mates);
    g->leads = taken_from(&at, mates, 1), g->present = taken_from(&at, mates, 1);
    g->nominal = doubles(&at, 4 + around->has_gain), g->now = doubles(&at, 1);
    g->seen = taken_from(&at, strangers, 1), g->other_pos = doubles(&at, 3 * strangers);
    g->other_vel = doubles(&at, 3 * strangers), g->other_age = doubles(&at, strangers);
    return at;
}

static char *lay_out_found(int mates, char *at, Outcome *f) {
    f->command = doubles(&at, 4), f->word.course = courses(&at, mates);
    f->word.number = whole(&at, mates), f->word.offered = whole(&at, mates);
    f->moves = taken_from(&at, 1, 1), f->vetoed = taken_from(&at, 1, 1);
    f->error = doubles(&at, 3), f->point = doubles(&at, 3);
    taken_from(&at, 0, sizeof(double));
    return at;
}

static Bias read_memory_of_bias(const double *in) {
    Bias b;
    double *parts[] = {b.estimate, b.doubt, b.anchor, b.made, b.unsure};
    for (int p = 0; p < 5; p++) copy(parts[p], in + 3 * p, 3);
    b.since = in[15], b.misfit = 0;
    return b;
}

/* reference.caught_up */
static void catch_up(const RmCertificate *c, const Course *course, double at, double until, double *accels) {
    const int count = c->smooth_count;
    for (int back = count; back > 0; back--) {
        const double begin = at - back * c->period_s;
        double pos[3], before[3], after[3];
        if (!(begin > until - c->period_s / 2)) continue;
        rm_state(c, course, begin, pos, before), rm_state(c, course, begin + c->period_s, pos, after);
        memmove(accels, accels + 3, 3 * (count - 1) * sizeof(double));
        for (int i = 0; i < 3; i++) accels[3 * (count - 1) + i] = (after[i] - before[i]) / c->period_s;
    }
}

static int holds(const Now *n, const Path *path, const Anchors *pair, int k) {
    const Course mine = rm_course(&pair->mine, k), theirs = rm_course(&pair->theirs, k);
    return rm_clears(n->c, path, &mine, &theirs, &n->times);
}

static void keep_pair(const Course *mine, const Course *theirs, const Anchors *to, int k) {
    rm_keep_course(mine, &to->mine, k), rm_keep_course(theirs, &to->theirs, k);
}

/* pact.hear */
static void hear(Now *n) {
    const RmCertificate *c = n->c;
    const Pacts *p = &n->m.pact, *word = &n->g.word;
    const Path path = rm_path(c, n->start.pos, &n->old, &n->times);
    for (int k = 0; k < n->mates; k++) {
        const int leads = n->g.leads[k], waits = leads && p->open[k];
        const int took = waits && word->number[k] == p->offered[k], declined = waits && word->refused[k] == p->offered[k];
        const int is_new = !leads && word->number[k] >= 0 && word->offered[k] > p->offered[k];
        if (took || declined) p->open[k] = 0;
        if (took) {
            const Course mine = rm_course(&p->offer.mine, k), theirs = rm_course(&p->offer.theirs, k);
            keep_pair(&mine, &theirs, &p->agreed, k);
            p->number[k] = p->offered[k];
        }
        if (!is_new) continue;
        const Anchors swapped = {word->offer.theirs, word->offer.mine};
        const int has_room = n->sure || swapped.mine.room[k] >= c->unlearned.room_m - c->rounding;
        if (*n->m.placed && has_room && holds(n, &path, &swapped, k)) {
            const Course mine = rm_course(&swapped.mine, k), theirs = rm_course(&swapped.theirs, k);
            keep_pair(&mine, &theirs, &p->agreed, k);
            p->number[k] = word->offered[k];
        } else
            p->refused[k] = word->offered[k];
        p->offered[k] = word->offered[k];
    }
}

/* pact.bound */
static int is_bound(const Now *n, int k) {
    return n->g.present[k] || n->m.pact.number[k] > 0 || n->m.pact.open[k];
}

/* pact.offer */
static void make_offers(Now *n, const Course *course) {
    const Pacts *p = &n->m.pact, *word = &n->g.word;
    const int64_t least = (int64_t)floor(*n->g.now / n->c->period_s);
    const Path path = rm_path(n->c, n->start.pos, course, &n->times);
    for (int k = 0; k < n->mates; k++) {
        const double since = word->course.at[k], before = p->agreed.theirs.at[k];
        const int is_newer = since > before || (since == before && course->at > p->agreed.mine.at[k]) || p->number[k] == 0;
        if (!n->g.leads[k] || !*n->m.placed || p->open[k] || word->number[k] < 0 || !is_newer || !is_bound(n, k)) continue;
        const Course theirs = rm_course(&word->course, k);
        if (!rm_clears(n->c, &path, course, &theirs, &n->times)) continue;
        keep_pair(course, &theirs, &p->offer, k);
        p->offered[k] = p->offered[k] + 1 > least ? p->offered[k] + 1 : least;
        p->open[k] = 1;
    }
}

/* strangers.later */
static void see_later(const Now *n, const Given *at, double *in) {
    const double by = n->start.at - *n->g.now;
    copy(in + (at->other_pos - in), n->g.other_pos, 3 * n->strangers);
    copy(in + (at->other_vel - in), n->g.other_vel, 3 * n->strangers);
    for (int j = 0; j < n->strangers; j++) in[at->other_age - in + j] = fabs(n->g.other_age[j]) + by + n->c->settles_s;
    memcpy((unsigned char *)in + (at->seen - (const unsigned char *)in), n->g.seen, n->strangers);
}

/* Certificate._wanted */
static void want(Now *n, double *wanted) {
    const RmConstants *front = n->c->front;
    const RmSizes sizes = {front->num_acting, n->mates, n->strangers, n->has_gain};
    const Given at = rm_lay_out(&sizes, n->room);
    double *in = n->room, *out = in + rm_in_size(&sizes), *mate_pos = in + (at.mate_pos - in);
    unsigned char *mask = (unsigned char *)(in + ((const double *)at.mask - in));
    memset(in, 0, rm_in_size(&sizes) * sizeof(double));
    copy(in, n->start.pos, 3), copy(in + 3, n->start.vel, 3), copy(in + 7, n->g.quat, 4), copy(in + 11, n->g.omega, 3);
    copy(in + 14, n->g.nominal, 4 + n->has_gain), copy(in + MEMORY_IN, n->m.front_bias, BIAS), copy(in + MEMORY_IN + BIAS, n->m.place, 3);
    for (int k = 0; k < n->mates; k++) {
        const Course course = rm_course(&n->g.word.course, k);
        const double time = larger(n->start.at, course.at);
        rm_state(n->c, &course, time, mate_pos + 3 * k, mate_pos + 3 * (n->mates + k));
        mask[k] = n->g.word.number[k] >= 0 && n->g.present[k];
    }
    see_later(n, &at, in);
    rm_decide(front, &sizes, in, out, out + rm_out_size(&sizes));
    for (int i = 0; i < 3; i++) wanted[i] = within(out[i], -n->c->accel_m_s2[i], n->c->accel_m_s2[i]);
    copy(n->m.plan, out + PLAN_OUT, 9), copy(n->m.front_bias, out + MEMORY_OUT, BIAS);
    copy(n->m.place, out + MEMORY_OUT + BIAS, 3);
    *n->m.front_misfits += out[8] != 0, *n->m.ok = out[7] == RM_OK ? *n->m.ok + 1 : 0;
}

/* reference.brake_along */
static double brake_along(const RmCertificate *c, const double *vel) {
    const double floor = c->speed_floor_m_s * c->speed_floor_m_s, speed = rm_speed(c, vel), *a = c->accel_m_s2;
    double found = larger(larger(a[0], a[1]), a[2]);
    for (int i = 0; i < 3; i++)
        if (a[i] > 0) found = smaller(found, a[i] * speed / (fabs(vel[i]) + floor));
    return found;
}

/* reference.ways_of, one of them; `accel` is its acceleration. */
static Course way_of(const Now *n, const double *wanted, double share, double *accel) {
    const RmCertificate *c = n->c;
    const double *vel = n->start.vel, t = c->period_s;
    const double rate = smaller(brake_along(c, vel) / rm_speed(c, vel), 1 / t);
    Course way = {{0}, {0}, n->start.at + t, 0.0, n->start.room};
    for (int i = 0; i < 3; i++) {
        accel[i] = (1 - share) * wanted[i] + share * (-vel[i] * rate);
        way.vel[i] = vel[i] + accel[i] * t;
        way.pos[i] = n->start.pos[i] + vel[i] * t + accel[i] * (t * t / 2);
    }
    way.brake = brake_along(c, way.vel);
    return way;
}

/* reference.beyond, along an axis */
static double beyond(const RmCertificate *c, double place, int i) {
    return larger(larger(c->low_m[i] - place, place - c->high_m[i]), 0.0);
}

/* reference.are_allowed */
static int is_allowed(const Now *n, const Course *way) {
    const RmCertificate *c = n->c;
    const double speed = rm_speed(c, way->vel), before = rm_speed(c, n->start.vel);
    const double left = larger(rm_rests(c, &n->old) - way->at, c->stop_s + c->rounding);
    double place[3], old[3];
    rm_stop(c, way, place), rm_stop(c, &n->old, old);
    for (int i = 0; i < 3; i++)
        if (!(beyond(c, place[i], i) <= larger(beyond(c, old[i], i), c->rounding))) return 0;
    return speed <= larger(before, c->speed_m_s + c->rounding) && speed / way->brake <= left + c->last_digits_s;
}

/* Certificate._is_free */
static int is_free_of_solids(const Now *n, const Path *path) {
    const RmCertificate *c = n->c;
    if (!c->front->num_solids) return 1;
    const double left = rm_room_left(c->front, n->times.count, path->place) - c->bend_m;
    if (left >= 0) return 1;
    const Path old = rm_path(c, n->start.pos, &n->old, &n->times);
    double here[3][RM_MOST_TIMES];
    for (int i = 0; i < 3; i++) here[i][0] = here[i][1] = n->start.pos[i];
    return rm_room_left(c->front, 2, here) < 0 && left >= rm_room_left(c->front, n->times.count, old.place) - c->bend_m;
}

/* strangers.least_left */
static int is_free_of_strangers(const Now *n, const Course *way) {
    for (int j = 0; j < n->strangers; j++) {
        Motion seen;
        if (!n->g.seen[j]) continue;
        copy(seen.pos, n->g.other_pos + 3 * j, 3), copy(seen.vel, n->g.other_vel + 3 * j, 3);
        if (!(rm_left_to_stranger(n->c, &n->start, way, &seen, n->g.other_age[j], *n->g.now) >= 0)) return 0;
    }
    return 1;
}

/* Certificate._waiting: where teammate k rests until the robot has led away from it, and both have made a pact. */
static int awaits_parting(const Now *n, int k, double *rests) {
    const RmCertificate *c = n->c;
    if (is_carrier(c) || n->m.pact.number[k] > 0) return 0; /* a carrier alone leads away from nobody */
    const Course mate = rm_course(&n->g.word.course, k);
    if (!n->g.leads[k] || n->g.word.number[k] != 0 || !(rm_rests(c, &mate) <= n->start.at)) return 0;
    rm_stop(c, &mate, rests);
    return 1;
}

/* Certificate._parting */
static void part(const Now *n, double *wanted) {
    const RmCertificate *c = n->c;
    double speed[3] = {0.0}, rests[3], away[3];
    int parts = 0;
    for (int k = 0; k < n->mates; k++) {
        if (!is_bound(n, k) || !awaits_parting(n, k, rests)) continue;
        for (int i = 0; i < 3; i++) away[i] = (n->start.pos[i] - rests[i]) * c->squash[i];
        const double far = sqrt(dot(away, away) + c->rounding * c->rounding);
        for (int i = 0; i < 3; i++) speed[i] += away[i] / far;
        parts = 1;
    }
    for (int i = 0; i < 3 && parts; i++) {
        const double accel = c->part_per_s * (c->part_m_s * speed[i] - n->start.vel[i]);
        wanted[i] = within(accel, -c->accel_m_s2[i], c->accel_m_s2[i]);
    }
}

/* rule.parts_from a teammate that waits. */
static int parts_from_one_that_waits(const Now *n, const Course *way, int k) {
    const RmCertificate *c = n->c;
    double rests[3], before = 0.0, after = 0.0, both = 0.0;
    if (!awaits_parting(n, k, rests)) return 0;
    for (int i = 0; i < 3; i++) {
        const double s = c->squash[i], away = (n->start.pos[i] - rests[i]) * s, v = n->start.vel[i] * s, w = way->vel[i] * s;
        before += away * v, after += away * w, both += v * w;
    }
    return before >= 0 && after >= 0 && both >= 0;
}

static int agrees_with(const Now *n, const Course *way, const Path *path, int k) {
    const Pacts *p = &n->m.pact;
    if (!is_bound(n, k)) return 1;
    if (p->number[k] > 0 ? !holds(n, path, &p->agreed, k) : !parts_from_one_that_waits(n, way, k)) return 0;
    return !p->open[k] || holds(n, path, &p->offer, k);
}

/* Certificate._agree */
static int agrees(Now *n, const Course *way, const Path *path) {
    if (n->mates && !agrees_with(n, way, path, n->blocks)) return 0;
    for (int k = 0; k < n->mates; k++)
        if (k != n->blocks && !agrees_with(n, way, path, k)) {
            n->blocks = k;
            return 0;
        }
    return 1;
}

static int has_room(const Now *n) {
    const Pacts *p = &n->m.pact;
    const double room = n->c->unlearned.room_m - n->c->rounding;
    for (int k = 0; k < n->mates; k++)
        if (is_bound(n, k) && !(p->agreed.mine.room[k] >= room && (p->offer.mine.room[k] >= room || !p->open[k]))) return 0;
    return 1;
}

/* Certificate._reference: the new course, and its acceleration in this period. Returns the number of the way that the robot
 * goes, WAYS for the old course. */
static int choose_way(Now *n, Course *course, double *accel) {
    const RmCertificate *c = n->c;
    double wanted[3], pos[3], after[3];
    hear(n);
    want(n, wanted), part(n, wanted);
    n->blocks = 0;
    int fit = *n->m.placed && n->own.own_ok && !*n->m.trip && n->early <= c->early_share * c->period_s;
    fit = fit && (n->sure || has_room(n));
    for (int w = 0; w < WAYS && fit; w++) {
        *course = way_of(n, wanted, c->shares[w], accel);
        if (!is_allowed(n, course)) continue;
        const Path path = rm_path(c, n->start.pos, course, &n->times);
        if (is_free_of_solids(n, &path) && agrees(n, course, &path) && is_free_of_strangers(n, course)) return w;
    }
    *course = n->old;
    rm_state(c, &n->old, n->start.at + c->period_s, pos, after);
    for (int i = 0; i < 3; i++) accel[i] = (after[i] - n->start.vel[i]) / c->period_s;
    return WAYS;
}

/* Certificate._point: the tracked point, and where it is at the end of the tracker's prediction. `accels` lead to the state
 * of the reference; `next` is this decision's. */
static void aim(const Now *n, const double *accels, const double *next, double *point, Motion *ahead, double *mean) {
    const double t = n->c->period_s, h = n->c->ahead_s;
    const int count = n->c->smooth_count;
    for (int i = 0; i < 3; i++) {
        double pos = n->start.pos[i], vel = n->start.vel[i], sum_pos = pos, sum_vel = vel, sum = 0.0;
        for (int back = 1; back < count; back++) {
            const double accel = accels[3 * (count - back) + i];
            pos = pos - vel * t + accel * (t * t / 2), vel = vel - accel * t;
            sum_pos += pos, sum_vel += vel;
        }
        for (int j = 1; j < count; j++) sum += accels[3 * j + i];
        mean[i] = (sum + next[i]) / count;
        sum_vel /= count;
        point[i] = sum_pos / count - sum_vel * n->early;
        ahead->pos[i] = point[i] + sum_vel * h + mean[i] * (h * h / 2), ahead->vel[i] = sum_vel + mean[i] * h;
    }
}

/* tracker.track: the command; `own` becomes the robot's prediction in coordinates of the error. */
static void follow(const Now *n, Predicted *own, const Motion *ahead, const double *mean, double *command) {
    const RmCertificate *c = n->c;
    const double *half = n->sure ? c->learned.half_m : c->unlearned.half_m;
    for (int i = 0; i < 3; i++) own->motion.pos[i] -= ahead->pos[i], own->motion.vel[i] -= ahead->vel[i], own->last[i] -= mean[i];
    for (int i = 0; i < 3; i++) {
        const double x = own->motion.pos[i], v = own->motion.vel[i], unknown = -own->bias[i];
        const Bound up = rm_plane(c->tracker, own, i, 1.0, half[i] - x), down = rm_plane(c->tracker, own, i, -1.0, half[i] + x);
        const double high = larger(up.most, up.floor), low = -larger(down.most, down.floor);
        const double free = unknown - c->place_per_s2 * x - c->speed_per_s * v;
        const double inside = low > high ? (low + high) / 2 : smaller(larger(free, low), high);
        command[i] = within((n->own.own_ok ? inside : unknown) + mean[i], c->tracker->low[i], c->tracker->high[i]);
    }
}

/* Certificate._track */
static void keep_track(Now *n, const double *accel, const Outcome *f) {
    const RmCertificate *c = n->c;
    const RmConstants *tracker = c->tracker;
    const Queue queue = {n->m.commands + 4 * (c->queue - tracker->num_acting), 4};
    double mean[3], off[3], *accels = n->m.accels;
    Predicted own;
    Motion ahead;
    rm_predict(tracker, &n->own.own, &queue, &n->bias, &own);
    aim(n, accels, accel, f->point, &ahead, mean);
    memmove(accels, accels + 3, 3 * (c->smooth_count - 1) * sizeof(double));
    copy(accels + 3 * (c->smooth_count - 1), accel, 3);
    follow(n, &own, &ahead, mean, f->command);
    f->command[3] = within(n->own.nominal[3], -tracker->yaw_rate_rad_s, tracker->yaw_rate_rad_s);
    rm_command(c, &n->m.box, f->command, *n->g.now);
    rm_expect(tracker, &n->bias, &queue, f->command);
    *n->m.misfits += n->bias.misfit;
    rm_write_bias(&n->bias, n->m.bias);
    for (int j = 0; j < c->queue; j++) copy(n->m.commands + 4 * j, j + 1 < c->queue ? n->m.commands + 4 * (j + 1) : f->command, 4);
    for (int i = 0; i < 3; i++) f->error[i] = own.motion.pos[i], off[i] = own.motion.pos[i] * c->squash[i];
    const double radius = n->sure ? c->learned.radius_m : c->unlearned.radius_m;
    const double unsure = sqrt(dot(own.unsure_m, own.unsure_m)) + tracker->own_error_m +
                          (c->diagonal - 1) * c->position_error_m;
    *n->m.trip = n->own.own_ok && sqrt(dot(off, off)) > radius + unsure;
}

static void say(const Now *n, const Course *course, const Outcome *f) {
    const Pacts *p = &n->m.pact;
    for (int k = 0; k < n->mates; k++) {
        rm_keep_course(course, &f->word.course, k);
        f->word.number[k] = *n->m.placed ? p->number[k] : -1;
        f->word.offered[k] = n->g.leads[k] && p->open[k] ? p->offered[k] : 0;
    }
}

/* The own state, checked, and the reference as it is before the decision. */
static void begin(Now *n) {
    const RmCertificate *c = n->c;
    const Given own = {.pos = n->g.pos, .vel = n->g.vel, .age = n->g.age, .quat = n->g.quat, .omega = n->g.omega,
                       .nominal = n->g.nominal};
    rm_check_own(c->tracker, &own, &n->own);
    n->old = rm_course(&n->m.course, 0);
    if (!*n->m.placed && n->own.own_ok) n->old = rm_resting(c, n->own.own.pos, *n->g.now), *n->m.placed = 1;
    n->early = larger(n->old.at - *n->g.now - c->lead_s, 0.0);
    const double at = *n->g.now + c->lead_s + n->early;
    catch_up(c, &n->old, at, *n->m.until, n->m.accels);
    n->bias = read_memory_of_bias(n->m.bias);
    rm_learn(c->tracker, &n->bias, n->own.own.vel, n->own.own_ok ? fabs(*n->g.age) : 0.0, n->own.own_ok);
    const double seen_at = *n->g.now - (n->own.own_ok ? fabs(*n->g.age) : 0.0);
    if (n->own.own_ok)
        rm_narrow(c, &n->m.box, &n->bias, &n->own.own, seen_at);
    else
        rm_lose(&n->m.box, seen_at);
    n->own.own = rm_middle(&n->m.box);
    n->sure = 1;
    for (int i = 0; i < 3; i++) n->sure = n->sure && fabs(n->bias.doubt[i]) <= c->learned_m_s2;
    n->old.room = n->sure ? c->learned.room_m : c->unlearned.room_m;
    n->start = n->old;
    rm_state(c, &n->old, at, n->start.pos, n->start.vel);
    n->start.at = at, n->times = rm_times(c, at);
}

static void certify(Now *n, const Outcome *f) {
    Course course;
    double accel[3];
    begin(n);
    const int way = choose_way(n, &course, accel);
    *f->moves = way < WAYS, *f->vetoed = way > 0;
    make_offers(n, &course);
    keep_track(n, accel, f);
    rm_keep_course(&course, &n->m.course, 0);
    *n->m.until = n->start.at + n->c->period_s;
    say(n, &course, f);
}

int rm_certify_room(const RmCertificate *c, const RmAround *around) {
    const RmSizes sizes = {c->front->num_acting, around->mates, around->strangers, around->has_gain};
    return rm_in_size(&sizes) + rm_out_size(&sizes) + rm_room_size(c->front, &sizes);
}

void rm_certify(long count, const RmCertificate *c, const RmAround *around, char *memory, const char *given, char *found,
                double *room) {
    const int mates = around->mates;
    Now n = {.c = c, .mates = mates, .strangers = around->strangers, .has_gain = around->has_gain, .room = room};
    Outcome f;
    for (long i = 0; i < count; i++) {
        memory = lay_out_memory(c, mates, memory, &n.m), given = lay_out_given(around, (char *)given, &n.g);
        found = lay_out_found(mates, found, &f);
        certify(&n, &f);
    }
}
