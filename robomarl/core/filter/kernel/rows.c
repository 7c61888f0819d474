/* Rows: robomarl/core/filter/model/{barriers,pairs,likely}.py, function by function. */
#include "rows.h"
#include "separation.h"

#define NO_ROOT 1e-9

/* barriers.left_of */
static double left_of(const Predicted *own, double keep, double value) {
    return own->keep == -INFINITY ? keep * value : larger(own->keep * value, keep * value);
}

static double braking_speed(double slope, double clearance, double brake) {
    const double knee = brake / slope;
    if (clearance * slope < knee) return slope * clearance;
    return sqrt(larger(2 * brake * clearance - knee * knee, NO_ROOT));
}

static double braking_distance(double slope, double speed, double brake) {
    const double knee = brake / slope;
    return speed < knee ? speed / slope : (speed * speed + knee * knee) / (2 * brake);
}

static double allowed(const RmKind *kind, double clearance, double fast, double brake_m_s2) {
    if (kind->yields) return braking_speed(kind->slope_per_s, clearance, brake_m_s2);
    const double brake = brake_m_s2 * kind->brake_share, lost = fast * kind->lost_share;
    const double start = kind->evade ? 0.0 : lost * lost / (2 * brake);
    return braking_speed(kind->slope_per_s, larger(clearance + start, 0.0), brake) - lost;
}

/* Both roots at once: the second one is that of S n's length, times the distance. */
Facing rm_facing(const RmKind *kind, const Body *body, const double *tail, const double *offset) {
    double b[3];
    Facing f;
    if (tail || body->shape)
        rm_apart(offset, tail, body->shape, kind->squash, b);
    else
        for (int i = 0; i < 3; i++) b[i] = offset[i];
    const double square = dot(b, b) + RM_TINY, z = b[2] * kind->squash;
    const double flat = sqrt(b[0] * b[0] + b[1] * b[1] + z * z + RM_SPECK * square);
    f.distance = sqrt(square), f.per_distance = 1 / f.distance;
    f.lean = flat * f.per_distance, f.per_lean = f.distance / flat;
    f.n[0] = b[0] * f.per_distance, f.n[1] = b[1] * f.per_distance, f.n[2] = z * f.per_distance;
    return f;
}

/* barriers.on_command; `sudden` is what SUDDEN_KEEP leaves. */
static Bound on_command(const RmConstants *c, double lost, double last, double most, double sudden) {
    const double more = larger(most, sudden) - lost - last;
    const double least = smaller(most - lost, last + (more > 0 ? more * c->sudden_share : more));
    const Bound bound = {least, c->floor_m_s2 - lost};
    return bound;
}

static Bound along_normal(const RmConstants *c, const Predicted *own, const double *n, double most, double sudden) {
    const double lost = c->accel_error_m_s2 + along_axes(n, own->doubt) + dot(n, own->bias);
    return on_command(c, lost, dot(n, own->last), most, sudden);
}

/* pairs._Sight */
typedef struct {
    double offset[3], fast, taken, reach, turn, seems;
    Facing at;
} Sight;

/* Speed at right angles to a direction that has `along` of it. */
static double across(const double *v, double along) { return sqrt(larger(dot(v, v) - along * along, 0.0) + RM_TINY); }

/* pairs._known: what the body may have done, along the direction that the sight has. */
static void know(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, Sight *s) {
    const double *w = body->motion.vel, since = body->since_s, early = body->early_s, wait = larger(body->wait_s, 0.0);
    const double *n = s->at.n, lean = s->at.lean;
    s->reach = along_axes(n, kind->reach_m_s2);
    const double pushed = along_axes(n, kind->bias_m_s2), toward = dot(n, w);
    const double gain = s->reach * (wait + 2 * early);
    const double way = s->reach * (wait * wait / 2 + 2 * early * wait + early * early);
    const double room = larger(kind->speed_m_s * lean - toward, 0.0);
    s->seems = (kind->error_m_s + kind->drift_m_s2 * since) * lean + pushed * since;
    double fast = toward + s->seems + smaller(gain, room);
    double error = c->own_error_m + kind->error_m + (kind->error_m_s + kind->drift_m_s2 / 2 * since) * since + body->late_m;
    if (c->look_ahead_m && kind->yields) {
        fast += body->blind * c->blind_m_s * lean;
        error += body->blind * c->look_ahead_m;
    }
    double blur = error * lean + smaller(way, room * (wait + early));
    blur += pushed * (since * since / 2) + along_axes(n, own->unsure_m);
    s->turn = larger(s->turn, smaller(blur * s->at.per_distance, 1.0));
    if (kind->yields) fast += s->turn * lean * across(w, toward * s->at.per_lean);
    s->fast = larger(fast, 0.0);
    s->taken = kind->separation_m + blur;
    if (kind->yields) s->taken += s->fast * s->fast * (s->at.per_lean / (2 * c->brake_m_s2));
    if (kind->recedes && toward < 0) s->taken -= toward * toward * (s->at.per_lean / (2 * c->brake_m_s2));
}

static Sight see(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail) {
    Sight s;
    s.turn = 0.0;
    for (int i = 0; i < 3; i++) {
        s.offset[i] = own->motion.pos[i] - body->motion.pos[i] - body->motion.vel[i] * body->wait_s;
        if (i == 2) s.offset[i] *= kind->squash;
    }
    s.at = rm_facing(kind, body, tail, s.offset);
    know(c, kind, own, body, &s);
    return s;
}

/* pairs._doubt */
static double doubt_of(const RmConstants *c, const RmKind *kind, const Predicted *own, const Sight *s) {
    const double *v = own->motion.vel, *n = s->at.n;
    const double doubt = c->own_error_m_s * s->at.lean + along_axes(n, own->unsure_m_s);
    return kind->yields ? doubt + s->turn * s->at.lean * across(v, dot(n, v) * s->at.per_lean) : doubt;
}

/* pairs._better: whether the mate counts as braking from its plan's state, and then what that leaves. */
static int braked(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, Sight *sight) {
    const double lead = c->horizon_s + c->period_s, wait = larger(body->wait_s, 0.0);
    Body still = *body;
    still.wait_s = 0.0, still.since_s = smaller(body->since_s, lead), still.early_s = 0.0;
    Sight s = *sight;
    const double *n = s.at.n, brake = c->brake_m_s2 * s.at.lean;
    s.at.distance += dot(n, body->motion.vel) * wait, s.at.per_distance = 1 / s.at.distance;
    know(c, kind, own, &still, &s);
    /* pairs._turned */
    const double early = body->early_s, side = s.turn * sqrt(dot(kind->reach_m_s2, kind->reach_m_s2));
    const double fast = s.fast + side * (wait + 2 * early);
    s.taken += side * (wait * wait / 2 + 2 * early * wait + early * early);
    s.taken += (fast * fast - s.fast * s.fast) / (2 * brake);
    const double doubt = doubt_of(c, kind, own, &s);
    const double closing = larger(doubt - dot(n, own->motion.vel), 0.0);
    const double need = braking_distance(kind->slope_per_s, closing, brake);
    const double clear = s.at.distance - s.taken;
    const double most = larger(clear - need, 0.0) + closing * wait + s.reach * wait * wait / 2;
    const double spent = (1 - exp(-c->spend_per_s * wait)) * most;
    const int rests = clear - spent > sight->at.distance - sight->taken;
    if (rests) sight->taken = sight->at.distance - (clear - spent);
    return rests;
}

double rm_pair(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
               double *normal, Bound *bound) {
    const double *v = own->motion.vel, *w = body->motion.vel, step = c->step_s;
    Sight s = see(c, kind, own, body, tail);
    const int rests = kind->yields && body->early_s > 0 && braked(c, kind, own, body, &s);
    const double doubt = doubt_of(c, kind, own, &s), brake = c->brake_m_s2;
    const double value = allowed(kind, s.at.distance - s.taken, s.fast, brake * s.at.lean) + dot(s.at.n, v) - doubt;
    double offset[3], fast = s.fast, taken = s.taken + doubt * step;
    if (kind->yields) /* who rests does not move away either, nor does who only seems to */
        taken -= larger(dot(s.at.n, w), rests ? -INFINITY : -s.seems) * step;
    else
        fast += smaller(s.reach * step, larger(kind->speed_m_s * s.at.lean - fast, 0.0));
    for (int i = 0; i < 3; i++)
        offset[i] = s.offset[i] + (v[i] - w[i]) * (i == 2 ? kind->squash : 1.0) * step;
    const Facing ahead = rm_facing(kind, body, tail, offset);
    const double later = allowed(kind, ahead.distance - taken, fast, brake * ahead.lean) + dot(ahead.n, v) - doubt;
    const double scale = ahead.per_lean / step;
    for (int i = 0; i < 3; i++) normal[i] = -ahead.n[i] * ahead.per_lean;
    const double left = kind->yields ? left_of(own, kind->keep, value) : kind->keep * value;
    *bound = along_normal(c, own, normal, (later - left) * scale, (later - c->sudden_keep * value) * scale);
    return s.at.distance - kind->separation_m;
}

double rm_likely(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
                 double *normal) {
    const double *v = own->motion.vel, wait = body->wait_s, step = c->step_s;
    double offset[3], w[3];
    const double speed = sqrt(dot(body->motion.vel, body->motion.vel) + RM_TINY);
    const double slower = wait > 0 ? smaller(c->brake_m_s2 * wait / speed, 1.0) : 0.0;
    const double time = wait > 0 ? smaller(wait, speed / c->brake_m_s2) : wait, way = time * (1 - slower / 2);
    for (int i = 0; i < 3; i++) {
        w[i] = body->motion.vel[i] * (1 - slower);
        offset[i] = own->motion.pos[i] - (body->motion.pos[i] + body->motion.vel[i] * way);
    }
    offset[2] *= kind->squash;
    const Facing now = rm_facing(kind, body, tail, offset);
    const double doubt = c->own_error_m_s * now.lean + along_axes(now.n, own->unsure_m_s);
    const double along = dot(now.n, w), toward = larger(along, 0.0), slope = kind->slope_per_s;
    const double taken = kind->separation_m + c->own_error_m + kind->error_m + toward * toward * (now.per_lean / (2 * c->brake_m_s2));
    const double allow = braking_speed(slope, now.distance - taken, c->brake_m_s2 * now.lean);
    const double value = allow + dot(now.n, v) - doubt;
    for (int i = 0; i < 3; i++) offset[i] += (v[i] - w[i]) * (i == 2 ? kind->squash : 1.0) * step;
    const Facing ahead = rm_facing(kind, body, tail, offset);
    const double left = braking_speed(slope, ahead.distance - taken + (along - doubt) * step, c->brake_m_s2 * ahead.lean);
    const double later = left + dot(ahead.n, v) - doubt;
    for (int i = 0; i < 3; i++) normal[i] = -ahead.n[i] * ahead.per_lean;
    const double lost = c->accel_error_m_s2 + along_axes(normal, own->doubt) + dot(normal, own->bias);
    return (later - kind->keep * value) * (ahead.per_lean / step) - lost;
}

Bound rm_plane(const RmConstants *c, const Predicted *own, int axis, double sign, double gap) {
    const double clearance = gap - c->own_error_m - own->unsure_m[axis];
    const double closing = sign * own->motion.vel[axis] + c->own_error_m_s + own->unsure_m_s[axis];
    const double value = braking_speed(c->slope_per_s, clearance, c->brake_m_s2) - closing;
    const double later = braking_speed(c->slope_per_s, clearance - closing * c->step_s, c->brake_m_s2) - closing;
    return on_command(c, c->accel_error_m_s2 + own->doubt[axis] + sign * own->bias[axis], sign * own->last[axis],
                      (later - c->keep * value) / c->step_s,
                      later / c->step_s);
}

Bound rm_wall(const RmConstants *c, const Predicted *own, int axis, double sign, double gap) {
    const double *far = own->unsure_m, *fast = own->unsure_m_s, speed = sign * own->motion.vel[axis];
    const double knee = c->brake_m_s2 / c->slope_per_s;
    const double reach = c->clear_m_s + c->own_error_m_s + larger(larger(fast[0], fast[1]), fast[2]) + larger(speed, 0.0);
    const double room = gap - c->own_error_m - larger(larger(far[0], far[1]), far[2]);
    const Bound none = {INFINITY, -INFINITY};
    if (2 * c->brake_m_s2 * room >= reach * reach + knee * knee) return none;
    return rm_plane(c, own, axis, sign, gap);
}

void rm_speed_limit(const RmConstants *c, const Predicted *own, double *normal, Bound *bound) {
    double n[3];
    const double speed = rm_direction(own->motion.vel, n), scale = 1 / sqrt(dot(n, n) + RM_SPECK);
    for (int i = 0; i < 3; i++) normal[i] = n[i] * scale;
    const double left = c->speed_m_s - c->own_error_m_s - along_axes(normal, own->unsure_m_s) - speed;
    *bound = along_normal(c, own, normal, c->slope_per_s * left, left / c->step_s);
}

double rm_likely_speed_limit(const RmConstants *c, const Predicted *own, const double *normal) {
    const double left = c->speed_m_s - dot(normal, own->motion.vel);
    const Bound bound = along_normal(c, own, normal, c->slope_per_s * left, left / c->step_s);
    return larger(bound.most, bound.floor);
}
