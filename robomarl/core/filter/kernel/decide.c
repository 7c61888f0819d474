/* One decision of one robot: robomarl/core/filter/decision.py. */
#include "read.h"

#define SAME 1e-9
#define LEAST_ROUNDS 16

static const double NOWHERE[3] = {RM_NOWHERE_M, RM_NOWHERE_M, RM_NOWHERE_M};

/* Bounds of the command towards the lower and the upper face along each axis. */
typedef struct {
    Bound low[3], high[3];
} Walls;

/* Rows on the command, not clipped yet, what each is clipped at, and the arena's bounds. */
typedef struct {
    int count, others, solids; /* where the rows of who does not yield begin, and of what never moves */
    double *rows, *floors, gap, pressed, slow[4];
    Walls walls;
} Limits;

/* Rows that a command may have to break. */
typedef struct {
    int count;
    double *rows;
} Rows;

/* At most: without the box. */
static int most_rows(const RmConstants *c, const RmSizes *s) {
    return 7 + 2 * (s->mates + s->strangers + c->num_solids);
}

/* In numbers, how large a body is. */
enum { BODY = (sizeof(Body) + sizeof(double) - 1) / sizeof(double) };

int rm_room_size(const RmConstants *c, const RmSizes *s) { return 9 * most_rows(c, s) + (3 + BODY) * s->mates; }

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
    l->gap = smaller(l->gap, rm_pair(c, kind, own, body, tail, normal, &bound));
    add_row(c, normal, &bound, l);
    if (kind->yields) l->pressed = larger(l->pressed, (bound.floor - bound.most) / c->brake_m_s2);
}

static void add_mates(const RmConstants *c, const Predicted *own, const Mates *m, Limits *l) {
    const RmShape tail = {.has_line = 1, .line = {c->tail_m[0], c->tail_m[1], c->tail_m[2]}};
    for (int j = 0; j < m->count; j++) {
        add_body(c, &c->mates, own, m->body + j, 0, l);
        if (!c->has_tail_mates) continue;
        Body mate = m->body[j];
        mate.shape = &tail;
        add_body(c, &c->tail_mates, own, &mate, c->tail_m, l);
    }
}

static void add_strangers(const RmConstants *c, const RmSizes *s, const Given *g, const Predicted *own, Checked *k,
                          Limits *l) {
    l->others = l->count;
    for (int j = 0; j < s->strangers && c->has_strangers; j++) {
        if (!g->seen[j]) continue;
        const double age = fabs(g->other_age[j]), wait = larger(age + k->since, 0.0);
        if (!rm_usable(g->other_pos + 3 * j, g->other_vel + 3 * j, age, c->strangers.max_age_s, k)) continue;
        if (age > c->strangers.max_age_s) continue;
        Body body = {{{0}, {0}}, wait, wait, 0.0, 0.0, 0.0, 0};
        copy(body.motion.pos, g->other_pos + 3 * j, 3), copy(body.motion.vel, g->other_vel + 3 * j, 3);
        add_body(c, &c->strangers, own, &body, 0, l);
        if (c->has_tail_strangers) add_body(c, &c->tail_strangers, own, &body, c->tail_m, l);
    }
}

static void add_solids(const RmConstants *c, const Predicted *own, Limits *l) {
    l->solids = l->count;
    for (int j = 0; j < c->num_solids; j++) {
        const RmSolid *solid = c->solids + j;
        Body body = {{{0}, {0}}, 0.0, 0.0, 0.0, 0.0, 0.0, &solid->shape};
        copy(body.motion.pos, solid->place_m, 3);
        add_body(c, &solid->kind, own, &body, 0, l);
        if (solid->has_tail_kind) add_body(c, &solid->tail_kind, own, &body, c->tail_m, l);
    }
}

/* Where the robot stays, and where to from the mates that fell silent. */
static Hold stay(const RmConstants *c, const RmSizes *s, const Given *g, const Predicted *own, double since) {
    Hold hold = rm_hold(c, g->place, own);
    for (int j = 0; j < s->mates && hold.on; j++) {
        const double age = fabs(g->mate_age[j]);
        if (!g->mask[j] || !sane_state(g->mate_pos + 3 * j, g->mate_vel + 3 * j, age)) continue;
        const Body mate = rm_mate(c, g, j, since);
        rm_away(c, &mate, age > c->mates.max_age_s, &hold);
    }
    return hold;
}

/* Bounds of the command towards the faces of the arena, cut by the box about a place. */
static Walls walls_of(const RmConstants *c, const Hold *hold, const Predicted *own) {
    const Bound none = {INFINITY, -INFINITY};
    double low[3], high[3];
    Walls walls;
    rm_room(c, hold, low, high);
    for (int i = 0; i < 3; i++) {
        const double x = own->motion.pos[i];
        walls.low[i] = low[i] > -RM_LARGE ? rm_wall(c, own, i, -1.0, x - low[i]) : none;
        walls.high[i] = high[i] < RM_LARGE ? rm_wall(c, own, i, 1.0, high[i] - x) : none;
    }
    return walls;
}

/* The input box along an axis, cut by walls. */
static void sides(const RmConstants *c, const Walls *w, int i, double *low, double *high) {
    *low = larger(-larger(w->low[i].most, w->low[i].floor), c->low[i]);
    *high = smaller(larger(w->high[i].most, w->high[i].floor), c->high[i]);
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
        sides(c, &l->walls, i, &low, &high);
        if (low > high) return RM_INFEASIBLE;
        memset(row, 0, 8 * sizeof(double));
        row[i] = 1.0, row[3] = high, row += 4;
        row[i] = -1.0, row[3] = -low, row += 4;
    }
    const int status = rm_project(l->count + 6, first, nominal, u, &residual);
    return status == RM_NON_FINITE ? RM_SOLVER : status;
}

/* A row that some command of the box breaks. */
static void add_odds(const RmConstants *c, const double *normal, double most, Rows *to) {
    if (most * most >= 1.000001 * dot(c->reach_m_s2, c->reach_m_s2) && most > 0) return;
    double *row = to->rows + 4 * to->count++;
    copy(row, normal, 3), row[3] = larger(most, -c->loose_m_s2);
}

/* What counts where no command holds all rows: the mates where they most likely are. It lies in `to`. */
static void at_odds(const RmConstants *c, const Predicted *own, const Mates *m, const Limits *l, Rows *to) {
    const RmShape tail = {.has_line = 1, .line = {c->tail_m[0], c->tail_m[1], c->tail_m[2]}};
    double normal[3];
    add_odds(c, l->slow, l->slow[3], to);
    for (int j = 0; j < m->count; j++) {
        Body mate = m->body[j];
        const double most = rm_likely(c, &c->mates, own, &mate, 0, normal);
        add_odds(c, normal, most, to);
        if (!c->has_tail_mates) continue;
        mate.shape = &tail;
        const double below = rm_likely(c, &c->tail_mates, own, &mate, c->tail_m, normal);
        add_odds(c, normal, below, to);
    }
    for (int k = l->others; k < l->count; k++) add_odds(c, l->rows + 4 * k, l->rows[4 * k + 3], to);
}

/* least.clear: the last rows are those of what never moves. */
static void keep_clear(const Limits *l, const double *low, const double *high, double *u) {
    for (int pass = 0; pass < 2; pass++)
        for (int k = l->solids; k < l->count; k++) {
            const double *row = l->rows + 4 * k, excess = larger(dot(row, u) - larger(row[3], l->floors[k]), 0.0);
            for (int i = 0; i < 3; i++) u[i] = within(u[i] - excess * row[i], low[i], high[i]);
        }
}

/* The input box along an axis, cut by walls, as far as it is between two bounds: least.narrowed. */
static void narrowed(const RmConstants *c, const Walls *w, int i, double least, double most, double *low, double *high) {
    sides(c, w, i, low, high);
    if (*low > *high) *low = *high = (*low + *high) / 2;
    *low = within(*low, least, most), *high = within(*high, least, most);
}

/* The same for a box whose sides, where they contradict each other, leave what is between them: least.between. */
static void between(const RmConstants *c, const Walls *w, int i, double least, double most, double *low, double *high) {
    double first, last;
    sides(c, w, i, &first, &last);
    *low = within(smaller(first, last), least, most), *high = within(larger(first, last), least, most);
}

/* Lowest and highest command within the arena, within the box about the place where the robot stays, and within the sides
 * of it that teammates have brought in: decision.py, `_boxes`. */
typedef struct {
    double arena[2][3], box[2][3], place[2][3];
} Boxes;

static Boxes boxes_of(const RmConstants *c, const Predicted *own, const Walls *arena, const Hold *hold) {
    Hold wide = *hold;
    memset(wide.near, 0, sizeof wide.near);
    const Walls box = walls_of(c, &wide, own), place = walls_of(c, hold, own);
    Boxes b;
    for (int i = 0; i < 3; i++) {
        narrowed(c, arena, i, -INFINITY, INFINITY, &b.arena[0][i], &b.arena[1][i]);
        between(c, &box, i, b.arena[0][i], b.arena[1][i], &b.box[0][i], &b.box[1][i]);
        narrowed(c, &place, i, b.box[0][i], b.box[1][i], &b.place[0][i], &b.place[1][i]);
    }
    return b;
}

static void inside(const double box[2][3], double *u) {
    for (int i = 0; i < 3; i++) u[i] = within(u[i], box[0][i], box[1][i]);
}

/* The command that breaks them least, from one that is within the place: robomarl/core/filter/decision.py, `_least`. */
static void least_violation(const RmConstants *c, const Predicted *own, const Boxes *b, const Limits *l, const Rows *odds,
                            double *u) {
    const double *low = b->box[0], *high = b->box[1], *least = b->arena[0], *most = b->arena[1];
    for (int round = 0; round < LEAST_ROUNDS; round++) {
        double step[3] = {0.0, 0.0, 0.0}, worst = 0.0, sum = 0.0;
        for (int k = 0; k < odds->count; k++) {
            const double *row = odds->rows + 4 * k, excess = dot(row, u) - row[3];
            if (!(excess > 0)) continue;
            sum += excess, worst = larger(worst, excess);
            for (int i = 0; i < 3; i++) step[i] += excess * row[i];
        }
        int moved = 0;
        for (int i = 0; i < 3; i++) {
            const double before = u[i];
            u[i] = within(before - step[i] * (worst / larger(sum, 1e-12)), low[i], high[i]);
            moved = moved || u[i] != before;
        }
        if (!moved) break;
    }
    for (int i = 0; i < 3; i++) u[i] = within(own->last[i] + c->settle_share * (u[i] - own->last[i]), low[i], high[i]);
    const double over = larger(dot(l->slow, u) - l->slow[3], 0.0);
    for (int i = 0; i < 3; i++) u[i] = within(u[i] - over * l->slow[i], least[i], most[i]);
    keep_clear(l, least, most, u);
}

/* The nearest command that holds the rows of those that are heard; whether there is one. */
static int nearest(const RmConstants *c, Limits *l, double *u) {
    double wanted[3];
    copy(wanted, u, 3);
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
    for (int i = 0; i < 3; i++) worst = larger(worst, larger(-l->walls.low[i].most - u[i], u[i] - l->walls.high[i].most));
    return worst;
}

/* One decision, with the gain that the policy asks for or with the owner's; whether its rows hold. Where those of the
 * policy's gain do not, nothing is written. */
static int decide(const RmConstants *c, const RmSizes *s, const double *in, double *out, double *room, int gained) {
    const Given g = rm_lay_out(s, in);
    const int most = most_rows(c, s);
    Limits limits = {0, 0, 0, room, room + 8 * most, INFINITY, 0.0, {0}, {{{0}}}};
    double *const place = room + 9 * most;
    Mates mates = {0, (Body *)(place + 3 * s->mates), {place, place + s->mates, place + 2 * s->mates}};
    Predicted own;
    Checked k;
    Bound bound;
    double normal[3], u[3], wanted[3];
    rm_check_own(c, &g, &k);
    rm_remember(c, s, &g, &k);
    rm_predict(c, &k.own, &k.queue, &k.bias, &own);
    if (s->has_gain && !(fabs(*g.gain) < RM_LARGE)) k.finite = 0;
    if (gained) own.keep = 1 - (fabs(*g.gain) < RM_LARGE ? within(*g.gain, 0.0, c->gain_per_s) : 0.0) * c->step_s;
    rm_speed_limit(c, &own, normal, &bound);
    add_row(c, normal, &bound, &limits);
    copy(limits.slow, normal, 3), limits.slow[3] = rm_likely_speed_limit(c, &own, normal);
    rm_read_mates(c, s, &g, &k, &mates);
    add_mates(c, &own, &mates, &limits);
    add_strangers(c, s, &g, &own, &k, &limits);
    add_solids(c, &own, &limits);
    int reason = k.stale ? RM_STALE : RM_OK;
    if (k.count < c->min_mates) reason = RM_MISSING;
    if (!k.finite) reason = RM_NON_FINITE;
    const int at_fault = reason != RM_OK;
    const Hold nowhere = {0};
    Hold hold = nowhere;
    limits.walls = walls_of(c, &nowhere, &own);
    brake(c, &own, &k, u);
    const double share = smaller(limits.pressed, 1.0);
    for (int i = 0; i < 3; i++) wanted[i] = (1 - share) * k.nominal[i] + share * within(u[i], c->low[i], c->high[i]);
    if (!at_fault) reason = solve(c, &limits, wanted, u);
    const int good = reason == RM_OK;
    if (gained && !good) return 0;
    if (!good) brake(c, &own, &k, u);
    /* Without a place of its own a robot can only brake: limits are somewhere, and it does not know where. */
    if (!good && k.own_ok) {
        Rows odds = {0, room + 4 * most};
        hold = stay(c, s, &g, &own, k.since);
        const Boxes boxes = boxes_of(c, &own, &limits.walls, &hold);
        for (int i = 0; i < 3; i++) u[i] = within(u[i], c->low[i], c->high[i]);
        inside(boxes.place, u);
        if (!at_fault || !nearest(c, &limits, u)) {
            at_odds(c, &own, &mates, &limits, &odds);
            least_violation(c, &own, &boxes, &limits, &odds, u);
        }
    }
    for (int i = 0; i < 3; i++) out[i] = u[i] = within(u[i], c->low[i], c->high[i]);
    out[3] = good ? within(k.nominal[3], -c->yaw_rate_rad_s, c->yaw_rate_rad_s) : 0.0;
    out[4] = slack_of(&limits, u, good);
    out[5] = limits.gap;
    rm_committed(c, &own, u, out + PLAN_OUT);
    const double *stays = hold.on ? hold.place : NOWHERE;
    if (good) stays = rm_is_near(c, g.place, &own) ? g.place : NOWHERE;
    copy(out + MEMORY_OUT + BIAS, stays, 3);
    rm_expect(c, &k.bias, &k.queue, u);
    rm_write_bias(&k.bias, out + MEMORY_OUT);
    int active = 0;
    for (int i = 0; i < 4; i++) active = active || !(fabs(out[i] - g.nominal[i]) <= SAME);
    out[6] = active;
    out[7] = reason;
    out[8] = k.bias.misfit;
    for (int j = 0; j < s->queue; j++)
        copy(out + HEAD_OUT + 4 * j, j + 1 == s->queue ? out : k.queue.stride ? g.commands + 4 * (j + 1) : RM_NOTHING, 4);
    return good;
}

void rm_decide(const RmConstants *c, const RmSizes *s, const double *in, double *out, double *room) {
    if (!s->has_gain || !decide(c, s, in, out, room, 1)) decide(c, s, in, out, room, 0);
}

void rm_decide_many(long count, const RmConstants *c, const RmSizes *s, const double *in, double *out, double *room) {
    for (long i = 0; i < count; i++) rm_decide(c, s, in + i * rm_in_size(s), out + i * rm_out_size(s), room);
}
