/* What goes in, and whether it may be used: robomarl/core/filter/{checks,memory}.py; and how it lies in memory. */
#include "read.h"

const double RM_NOTHING[4] = {0.0, 0.0, 0.0, 0.0};

int rm_in_size(const RmSizes *s) {
    const int each = sizeof(double), masks = (s->mates + s->strangers + each - 1) / each;
    return HEAD_IN + 4 * s->queue + 16 * s->mates + 7 * s->strangers + masks;
}

int rm_out_size(const RmSizes *s) { return HEAD_OUT + 4 * s->queue; }

Given rm_lay_out(const RmSizes *s, const double *in) {
    Given g;
    g.pos = in, g.vel = in + 3, g.age = in + 6, g.quat = in + 7, g.omega = in + 11, g.nominal = in + 14;
    g.gain = in + 18, g.bias = in + MEMORY_IN, g.place = g.bias + BIAS, g.commands = in + HEAD_IN;
    const double *next = in + HEAD_IN + 4 * s->queue;
    g.mate_pos = next, g.mate_vel = (next += 3 * s->mates), g.mate_age = (next += 3 * s->mates);
    g.plan_pos = (next += s->mates), g.plan_vel = (next += 3 * s->mates), g.plan_stop = (next += 3 * s->mates);
    g.other_pos = (next += 3 * s->mates), g.other_vel = (next += 3 * s->strangers);
    g.other_age = (next += 3 * s->strangers), g.mask = (const unsigned char *)(next + s->strangers);
    g.seen = g.mask + s->mates;
    return g;
}

/* The own state, of a differential drive that of its look-ahead point. */
void rm_check_own(const RmConstants *c, const Given *g, Checked *k) {
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

/* Whether a body may be used; notes what is wrong with it. */
int rm_usable(const double *pos, const double *vel, double age, double max_age, Checked *k) {
    const int ok = sane_state(pos, vel, age);
    if (!ok) k->finite = 0;
    if (ok && age > max_age) k->stale = 1;
    return ok;
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

void rm_write_bias(const Bias *b, double *out) {
    const double *parts[] = {b->estimate, b->doubt, b->anchor, b->made, b->unsure};
    for (int p = 0; p < 5; p++) copy(out + 3 * p, parts[p], 3);
    out[15] = b->since;
}

/* The memory; one that holds what is no number, or less than is on its way, is as good as none, and a fault. */
void rm_remember(const RmConstants *c, const RmSizes *s, const Given *g, Checked *k) {
    int ok = read_bias(g->bias, &k->bias) && s->queue >= c->num_acting;
    for (int j = 0; j < s->queue; j++) ok = ok && sane4(g->commands + 4 * j);
    if (!ok) {
        k->finite = 0;
        memset(&k->bias, 0, sizeof k->bias);
        for (int i = 0; i < 3; i++) k->bias.doubt[i] = c->bias_m_s2[i], k->bias.anchor[i] = RM_UNKNOWN_M_S;
    }
    k->queue.first = ok ? g->commands + 4 * (s->queue - c->num_acting) : RM_NOTHING;
    k->queue.stride = ok ? 4 : 0;
    rm_learn(c, &k->bias, k->own.vel, k->own_ok ? fabs(*g->age) : 0.0, k->has_vel);
}

Body rm_mate(const RmConstants *c, const Given *g, int j, double since) {
    Motion state, plan;
    copy(state.pos, g->mate_pos + 3 * j, 3), copy(state.vel, g->mate_vel + 3 * j, 3);
    copy(plan.pos, g->plan_pos + 3 * j, 3), copy(plan.vel, g->plan_vel + 3 * j, 3);
    return rm_mate_of(c, &state, &plan, g->plan_stop + 3 * j, larger(fabs(g->mate_age[j]) + since, 0.0));
}

/* Whether an earlier mate is at the same place, up to the errors: no two robots can be, so it was heard twice. */
static int is_twin(const RmConstants *c, const Mates *m, int j) {
    const double *x = m->place[0], *y = m->place[1], *z = m->place[2], reach = 2 * c->mates.error_m;
    for (int i = 0; i < j; i++) {
        const double dx = x[j] - x[i];
        if (!(dx * dx <= reach * reach)) continue;
        const double dy = y[j] - y[i], dz = z[j] - z[i];
        if (dx * dx + dy * dy + dz * dz <= reach * reach) return 1;
    }
    return 0;
}

void rm_read_mates(const RmConstants *c, const RmSizes *s, const Given *g, Checked *k, Mates *m) {
    for (int j = 0; j < s->mates; j++) {
        const double *pos = g->mate_pos + 3 * j, *vel = g->mate_vel + 3 * j, age = fabs(g->mate_age[j]);
        const int usable = g->mask[j] && rm_usable(pos, vel, age, c->mates.max_age_s, k);
        for (int i = 0; i < 3; i++) m->place[i][j] = usable ? pos[i] + vel[i] * age : NAN;
        if (g->mask[j]) k->count++;
        if (!usable) continue;
        if (c->min_mates > 1 && is_twin(c, m, j)) k->count--;
        if (age > c->mates.max_age_s) continue; /* nothing is known that would make a row */
        m->body[m->count++] = rm_mate(c, g, j, k->since);
    }
}
