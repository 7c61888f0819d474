/* One decision of one robot: robomarl/safety/decision.py. */
#include "rows.h"

#include <string.h>

#define SAME 1e-9
#define LEAST_ROUNDS 16

static const double NOTHING[4] = {0.0, 0.0, 0.0, 0.0};

/* Where what lies in `in`. */
typedef struct {
    const double *pos, *vel, *age, *quat, *omega, *nominal, *gain, *bias, *place, *commands;
    const double *mask, *mate_pos, *mate_vel, *mate_age, *plan_pos, *plan_vel, *plan_stop;
    const double *seen, *other_pos, *other_vel, *other_age;
} Given;

/* What may be used of it. */
typedef struct {
    Motion own;
    int own_ok, has_vel, has_nominal, finite, stale, count;
    double since, nominal[4];
    Bias bias;
    Queue queue;
} Checked;

/* Rows on the command, not clipped yet, what each is clipped at, and the arena's bounds. */
typedef struct {
    int count, at_odds;
    double *rows, *floors, gap, pressed, slow[4];
    Bound low[3], high[3];
} Limits;

enum { BIAS = 16, HEAD_IN = 19 + BIAS + 3, HEAD_OUT = 15 + BIAS + 6 };

int rm_in_size(const RmSizes *s) { return HEAD_IN + 4 * s->queue + 17 * s->mates + 8 * s->strangers; }

int rm_out_size(const RmSizes *s) { return HEAD_OUT + 4 * s->queue; }

/* At most: without the box. */
static int most_rows(const RmConstants *c, const RmSizes *s) {
    return 7 + 2 * (s->mates + s->strangers + c->num_solids);
}

static Given lay_out(const RmSizes *s, const double *in) {
    Given g;
    g.pos = in, g.vel = in + 3, g.age = in + 6, g.quat = in + 7, g.omega = in + 11, g.nominal = in + 14;
    g.gain = in + 18, g.bias = in + 19, g.place = g.bias + BIAS, g.commands = in + HEAD_IN;
    const double *next = in + HEAD_IN + 4 * s->queue;
    g.mask = next, g.mate_pos = (next += s->mates), g.mate_vel = (next += 3 * s->mates);
    g.mate_age = (next += 3 * s->mates), g.plan_pos = (next += s->mates), g.plan_vel = (next += 3 * s->mates);
    g.plan_stop = (next += 3 * s->mates), g.seen = (next += 3 * s->mates), g.other_pos = (next += s->strangers);
    g.other_vel = (next += 3 * s->strangers), g.other_age = next + 3 * s->strangers;
    return g;
}

static int sane(const double *v) { return fabs(v[0]) < RM_LARGE && fabs(v[1]) < RM_LARGE && fabs(v[2]) < RM_LARGE; }

static int sane4(const double *v) { return sane(v) && fabs(v[3]) < RM_LARGE; }

static void copy(double *to, const double *from, int count) { memcpy(to, from, count * sizeof(double)); }

/* The own state, of a differential drive that of its look-ahead point. */
static void check_own(const RmConstants *c, const Given *g, Checked *k) {
    const double age = fabs(*g->age);
    const int has_pos = sane(g->pos);
    memset(k, 0, sizeof *k);
    k->has_vel = sane(g->vel);
    k->has_nominal = sane4(g->nominal);
    k->own_ok = has_pos && k->has_vel && age < RM_LARGE;
    if (has_pos) copy(k->own.pos, g->pos, 3);
    if (k->has_vel) copy(k->own.vel, g->vel, 3);
    if (k->has_nominal) copy(k->nominal, g->nominal, 4);
    if (c->planar) {
        k->own.vel[2] = k->nominal[2] = 0.0;
        if (c->look_ahead_m && k->own_ok) {
            k->own_ok = sane4(g->quat) && sane(g->omega);
            if (k->own_ok) k->own = rm_point_of(&k->own, g->quat, g->omega[2], c->look_ahead_m);
        }
    }
    k->finite = k->own_ok && k->has_nominal;
    k->stale = k->own_ok && age > c->max_own_age_s;
    k->since = k->own_ok ? c->horizon_s - age : c->horizon_s;
}

/* Whether an earlier mate is at the same place, up to the errors: no two robots can be, so it was heard twice. */
static int is_twin(const RmConstants *c, const Given *g, int j) {
    const double reach = 2 * c->mates.error_m;
    for (int i = 0; i < j; i++) {
        double square = 0.0;
        for (int a = 0; a < 3; a++) {
            const double here = g->mate_pos[3 * j + a] + g->mate_vel[3 * j + a] * fabs(g->mate_age[j]);
            const double there = g->mate_pos[3 * i + a] + g->mate_vel[3 * i + a] * fabs(g->mate_age[i]);
            square += (here - there) * (here - there);
        }
        if (g->mask[i] && square <= reach * reach) return 1;
    }
    return 0;
}

/* Whether a body may be used; notes what is wrong with it. */
static int usable(const double *pos, const double *vel, double age, double max_age, Checked *k) {
    const int ok = age < RM_LARGE && sane(pos) && sane(vel);
    if (!ok) k->finite = 0;
    if (ok && age > max_age) k->stale = 1;
    return ok;
}

static void add_row(const RmConstants *c, const double *normal, const Bound *bound, Limits *l) {
    double *to = l->rows + 4 * l->count;
    copy(to, normal, 3);
    to[3] = bound->most, l->floors[l->count] = bound->floor;
    if (!(to[3] >= c->loose_m_s2)) l->count++;
}

static void add_body(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body,
                     const double *tail, Limits *l) {
    double normal[3];
    Bound bound;
    if (l->at_odds && kind->yields) {
        bound.most = rm_likely(c, kind, own, body, tail, normal), bound.floor = -c->loose_m_s2;
        add_row(c, normal, &bound, l);
        return;
    }
    l->gap = smaller(l->gap, rm_pair(c, kind, own, body, tail, normal, &bound));
    add_row(c, normal, &bound, l);
    if (kind->yields) l->pressed = larger(l->pressed, (bound.floor - bound.most) / c->brake_m_s2);
}

static void add_mates(const RmConstants *c, const RmSizes *s, const Given *g, const Predicted *own, Checked *k,
                      Limits *l) {
    const RmShape tail = {1, 0, {c->tail_m[0], c->tail_m[1], c->tail_m[2]}, {0}};
    for (int j = 0; j < s->mates; j++) {
        if (!g->mask[j]) continue;
        const double age = fabs(g->mate_age[j]);
        k->count++;
        if (!usable(g->mate_pos + 3 * j, g->mate_vel + 3 * j, age, c->mates.max_age_s, k)) continue;
        if (c->min_mates > 1 && is_twin(c, g, j)) k->count--;
        if (age > c->mates.max_age_s) continue; /* it may be anywhere */
        Motion state, plan;
        copy(state.pos, g->mate_pos + 3 * j, 3), copy(state.vel, g->mate_vel + 3 * j, 3);
        copy(plan.pos, g->plan_pos + 3 * j, 3), copy(plan.vel, g->plan_vel + 3 * j, 3);
        Body mate = rm_mate_of(c, &state, &plan, g->plan_stop + 3 * j, larger(age + k->since, 0.0));
        add_body(c, &c->mates, own, &mate, 0, l);
        mate.shape = &tail;
        if (c->has_tail_mates) add_body(c, &c->tail_mates, own, &mate, c->tail_m, l);
    }
}

static void add_strangers(const RmConstants *c, const RmSizes *s, const Given *g, const Predicted *own, Checked *k,
                          Limits *l) {
    for (int j = 0; j < s->strangers && c->has_strangers; j++) {
        if (!g->seen[j]) continue;
        const double age = fabs(g->other_age[j]), wait = larger(age + k->since, 0.0);
        if (!usable(g->other_pos + 3 * j, g->other_vel + 3 * j, age, c->strangers.max_age_s, k)) continue;
        if (age > c->strangers.max_age_s) continue;
        Body body = {{{0}, {0}}, wait, wait, 0.0, 0.0, 0.0, 0};
        copy(body.motion.pos, g->other_pos + 3 * j, 3), copy(body.motion.vel, g->other_vel + 3 * j, 3);
        add_body(c, &c->strangers, own, &body, 0, l);
        if (c->has_tail_strangers) add_body(c, &c->tail_strangers, own, &body, c->tail_m, l);
    }
}

static void add_solids(const RmConstants *c, const Predicted *own, Limits *l) {
    for (int j = 0; j < c->num_solids; j++) {
        const RmSolid *solid = c->solids + j;
        Body body = {{{0}, {0}}, 0.0, 0.0, 0.0, 0.0, 0.0, &solid->shape};
        copy(body.motion.pos, solid->place_m, 3);
        add_body(c, &solid->kind, own, &body, 0, l);
        if (solid->has_tail_kind) add_body(c, &solid->tail_kind, own, &body, c->tail_m, l);
    }
}

static void add_room(const RmConstants *c, const Hold *hold, Predicted *own, Limits *l) {
    const Bound none = {INFINITY, -INFINITY};
    rm_room(c, hold, own);
    for (int i = 0; i < 3; i++) {
        const double x = own->motion.pos[i], low = own->room[0][i], high = own->room[1][i];
        l->low[i] = low > -RM_LARGE ? rm_wall(c, own, i, -1.0, x - low) : none;
        l->high[i] = high < RM_LARGE ? rm_wall(c, own, i, 1.0, high - x) : none;
    }
}

/* The input box along an axis, cut by the arena. */
static void sides(const RmConstants *c, const Limits *l, int i, double *low, double *high) {
    *low = larger(-larger(l->low[i].most, l->low[i].floor), c->low[i]);
    *high = smaller(larger(l->high[i].most, l->high[i].floor), c->high[i]);
}

/* The nearest acceleration that holds all rows. Clipped rows and the box go behind the rows. */
static int solve(const RmConstants *c, const Limits *l, const double *nominal, double *u) {
    double *row = l->rows + 4 * l->count, *first = row, residual;
    for (int k = 0; k < l->count; k++, row += 4) {
        copy(row, l->rows + 4 * k, 3);
        row[3] = larger(l->rows[4 * k + 3], l->floors[k]);
    }
    for (int i = 0; i < 3; i++) {
        double low, high;
        sides(c, l, i, &low, &high);
        if (low > high) return RM_INFEASIBLE;
        memset(row, 0, 8 * sizeof(double));
        row[i] = 1.0, row[3] = high, row += 4;
        row[i] = -1.0, row[3] = -low, row += 4;
    }
    const int status = rm_project(l->count + 6, first, nominal, u, &residual);
    return status == RM_NON_FINITE ? RM_SOLVER : status;
}

/* What counts where no command holds all rows: the mates where they most likely are. It lies behind the rows. */
static Limits at_odds(const RmConstants *c, const RmSizes *s, const Given *g, const Predicted *own, const Checked *k,
                      const Limits *l) {
    const int most = most_rows(c, s);
    const Bound slow = {l->slow[3], 0.0};
    Limits odds = {0, 1, l->rows + 4 * most, l->floors + most, INFINITY, 0.0, {0}, {{0}}, {{0}}};
    Checked again = *k;
    add_row(c, l->slow, &slow, &odds);
    add_mates(c, s, g, own, &again, &odds);
    add_strangers(c, s, g, own, &again, &odds);
    add_solids(c, own, &odds);
    return odds;
}

/* The command that breaks them least, inside the box and the arena's walls: robomarl/safety/qp/least.py. */
static void least_violation(const RmConstants *c, const Limits *l, const Limits *odds, double *u) {
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        sides(c, l, i, low + i, high + i);
        if (low[i] > high[i]) low[i] = high[i] = (low[i] + high[i]) / 2;
        u[i] = within(u[i], low[i], high[i]);
    }
    for (int round = 0; round < LEAST_ROUNDS; round++) {
        double step[3] = {0.0, 0.0, 0.0}, most = 0.0, sum = 0.0;
        for (int k = 0; k < odds->count; k++) {
            const double *row = odds->rows + 4 * k, excess = dot(row, u) - larger(row[3], -c->loose_m_s2);
            if (!(excess > 0)) continue;
            sum += excess, most = larger(most, excess);
            for (int i = 0; i < 3; i++) step[i] += excess * row[i];
        }
        int moved = 0;
        for (int i = 0; i < 3; i++) {
            const double before = u[i];
            u[i] = within(before - step[i] * (most / larger(sum, 1e-12)), low[i], high[i]);
            moved = moved || u[i] != before;
        }
        if (!moved) break;
    }
    const double over = larger(dot(l->slow, u) - l->slow[3], 0.0);
    for (int i = 0; i < 3; i++) u[i] = within(u[i] - over * l->slow[i], low[i], high[i]);
}

/* The nearest command to the brake that holds the rows of those that are heard; whether there is one. */
static int brake_within(const RmConstants *c, Limits *l, double *u) {
    double wanted[3];
    for (int i = 0; i < 3; i++) wanted[i] = within(u[i], c->low[i], c->high[i]);
    if (solve(c, l, wanted, u) == RM_OK) return 1;
    copy(u, wanted, 3);
    return 0;
}

static void brake(const RmConstants *c, const Predicted *own, const Checked *k, double *u) {
    double n[3], most = c->brake_m_s2 + c->accel_error_m_s2;
    const double speed = rm_direction(own->motion.vel, n);
    for (int i = 0; i < 3; i++) most += fabs(n[i]) * own->doubt[i];
    const double rate = smaller(c->brake_gain_per_s, most / speed);
    for (int i = 0; i < 3; i++) u[i] = k->has_vel ? -own->motion.vel[i] * rate - own->bias[i] : 0.0;
}

/* Worst violation of a row by the command; a solution violates only what had to be clipped. */
static double slack_of(const Limits *l, const double *u, int good) {
    double worst = 0.0;
    for (int k = 0; k < l->count; k++) {
        const double *row = l->rows + 4 * k;
        if (!good || row[3] < l->floors[k]) worst = larger(worst, dot(row, u) - row[3]);
    }
    for (int i = 0; i < 3; i++) worst = larger(worst, larger(-l->low[i].most - u[i], u[i] - l->high[i].most));
    return worst;
}

/* The bias as it lies in memory; whether it is as it should be. */
static int read_bias(const double *in, Bias *b) {
    double *parts[] = {b->estimate, b->doubt, b->anchor, b->made, b->unsure};
    int ok = fabs(in[15]) < RM_LARGE;
    for (int p = 0; p < 5; p++) {
        copy(parts[p], in + 3 * p, 3);
        if (p == 2)
            ok = ok && fabs(in[6]) <= RM_UNKNOWN_M_S && fabs(in[7]) <= RM_UNKNOWN_M_S && fabs(in[8]) <= RM_UNKNOWN_M_S;
        else
            ok = ok && sane(in + 3 * p);
    }
    b->since = in[15];
    return ok && b->doubt[0] >= 0 && b->doubt[1] >= 0 && b->doubt[2] >= 0;
}

static void write_bias(const Bias *b, double *out) {
    const double *parts[] = {b->estimate, b->doubt, b->anchor, b->made, b->unsure};
    for (int p = 0; p < 5; p++) copy(out + 3 * p, parts[p], 3);
    out[15] = b->since;
}

/* The memory; one that holds what is no number, or less than is on its way, is as good as none, and a fault. */
static void remember(const RmConstants *c, const RmSizes *s, const Given *g, Checked *k) {
    int ok = read_bias(g->bias, &k->bias) && s->queue >= c->num_acting;
    for (int j = 0; j < s->queue; j++) ok = ok && sane4(g->commands + 4 * j);
    if (!ok) {
        k->finite = 0;
        memset(&k->bias, 0, sizeof k->bias);
        for (int i = 0; i < 3; i++) k->bias.doubt[i] = c->bias_m_s2[i], k->bias.anchor[i] = RM_UNKNOWN_M_S;
    }
    k->queue.first = ok ? g->commands + 4 * (s->queue - c->num_acting) : NOTHING;
    k->queue.stride = ok ? 4 : 0;
    rm_learn(c, &k->bias, k->own.vel, k->own_ok ? fabs(*g->age) : 0.0, k->has_vel);
}

void rm_decide(const RmConstants *c, const RmSizes *s, const double *in, double *out, double *rows) {
    const Given g = lay_out(s, in);
    Limits limits = {0, 0, rows, rows + 8 * most_rows(c, s), INFINITY, 0.0, {0}, {{0}}, {{0}}};
    Predicted own;
    Checked k;
    Bound bound;
    double normal[3], u[3], wanted[3];
    check_own(c, &g, &k);
    remember(c, s, &g, &k);
    rm_predict(c, &k.own, &k.queue, &k.bias, &own);
    if (s->has_gain) {
        if (!isfinite(*g.gain)) k.finite = 0;
        own.keep = 1 - (isfinite(*g.gain) ? within(*g.gain, 0.0, c->gain_per_s) : 0.0) * c->step_s;
    }
    rm_speed_limit(c, &own, normal, &bound);
    add_row(c, normal, &bound, &limits);
    copy(limits.slow, normal, 3), limits.slow[3] = larger(bound.most, bound.floor);
    add_mates(c, s, &g, &own, &k, &limits);
    add_strangers(c, s, &g, &own, &k, &limits);
    add_solids(c, &own, &limits);
    int reason = k.stale ? RM_STALE : RM_OK;
    if (k.count < c->min_mates) reason = RM_MISSING;
    if (!k.finite) reason = RM_NON_FINITE;
    const int deaf = reason == RM_STALE || reason == RM_MISSING;
    const Hold hold = rm_hold(c, g.place, &own, deaf);
    add_room(c, &hold, &own, &limits);
    brake(c, &own, &k, u);
    const double share = smaller(limits.pressed, 1.0);
    for (int i = 0; i < 3; i++) wanted[i] = (1 - share) * k.nominal[i] + share * within(u[i], c->low[i], c->high[i]);
    if (reason == RM_OK) reason = solve(c, &limits, wanted, u);
    const int good = reason == RM_OK;
    if (!good) brake(c, &own, &k, u);
    if (reason == RM_INFEASIBLE || (deaf && !brake_within(c, &limits, u))) {
        const Limits odds = at_odds(c, s, &g, &own, &k, &limits);
        least_violation(c, &limits, &odds, u);
    }
    for (int i = 0; i < 3; i++) out[i] = u[i] = within(u[i], c->low[i], c->high[i]);
    out[3] = good ? within(k.nominal[3], -c->yaw_rate_rad_s, c->yaw_rate_rad_s) : 0.0;
    out[4] = slack_of(&limits, u, good);
    out[5] = limits.gap;
    rm_committed(c, &own, u, out + 6);
    copy(out + HEAD_OUT - 3, hold.place, 3);
    rm_expect(c, &k.bias, &k.queue, u);
    write_bias(&k.bias, out + 15);
    int active = 0;
    for (int i = 0; i < 4; i++) active = active || !(fabs(out[i] - g.nominal[i]) <= SAME);
    out[HEAD_OUT - 6] = active;
    out[HEAD_OUT - 5] = reason;
    out[HEAD_OUT - 4] = k.bias.misfit;
    for (int j = 0; j < s->queue; j++)
        copy(out + HEAD_OUT + 4 * j, j + 1 == s->queue ? out : k.queue.stride ? g.commands + 4 * (j + 1) : NOTHING, 4);
}

void rm_decide_many(long count, const RmConstants *c, const RmSizes *s, const double *in, double *out, double *rows) {
    for (long i = 0; i < count; i++) rm_decide(c, s, in + i * rm_in_size(s), out + i * rm_out_size(s), rows);
}
