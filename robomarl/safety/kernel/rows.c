/* Motion and rows: robomarl/safety/model/{motion,barriers,pairs,likely,look_ahead}.py, function by function. */
#include "rows.h"
#include "separation.h"

#define NO_ROOT 1e-9
#define NO_STOP_M 1e-3
#define AT_REST_M_S 1e-3
#define EMPTY 1e-3
#define SPACINGS 3.0
#define WINDOW_S 2.0

double rm_direction(const double *vector, double *unit) {
    const double length = sqrt(dot(vector, vector) + RM_TINY), scale = 1 / length;
    for (int i = 0; i < 3; i++) unit[i] = vector[i] * scale;
    return length;
}

static double along_axes(const double *n, const double *bounds) {
    return fabs(n[0]) * bounds[0] + fabs(n[1]) * bounds[1] + fabs(n[2]) * bounds[2];
}

void rm_predict(const RmConstants *c, const Motion *own, const Queue *queue, const Bias *bias, Predicted *out) {
    const double t = c->horizon_s, half = t * t / 2;
    out->keep = -INFINITY;
    for (int i = 0; i < 3; i++) {
        const double *asked = queue->first + i;
        out->bias[i] = bias->estimate[i], out->doubt[i] = bias->doubt[i];
        out->last[i] = c->num_acting ? asked[queue->stride * (c->num_acting - 1)] : 0.0;
        out->unsure_m[i] = bias->doubt[i] * half, out->unsure_m_s[i] = bias->doubt[i] * t;
        out->motion.pos[i] = own->pos[i] + own->vel[i] * t + bias->estimate[i] * half;
        out->motion.vel[i] = own->vel[i] + bias->estimate[i] * t;
        for (int k = 0; k < c->num_stretches; k++) {
            const int newest = (int)c->queue_newest[k];
            double low = asked[queue->stride * newest], high = low;
            for (int j = (int)c->queue_oldest[k]; j < newest; j++) {
                low = smaller(low, asked[queue->stride * j]), high = larger(high, asked[queue->stride * j]);
            }
            const double middle = (low + high) / 2, open_to = (high - low) / 2;
            out->motion.pos[i] += middle * c->queue_way_s2[k], out->motion.vel[i] += middle * c->queue_speed_s[k];
            out->unsure_m[i] += open_to * c->queue_way_s2[k], out->unsure_m_s[i] += open_to * c->queue_speed_s[k];
        }
    }
}

void rm_learn(const RmConstants *c, Bias *bias, const double *vel, double age, int usable) {
    const int known = usable && fabs(bias->anchor[0]) < RM_LARGE && fabs(bias->anchor[1]) < RM_LARGE &&
                      fabs(bias->anchor[2]) < RM_LARGE && bias->since > 0;
    const double time = known ? bias->since : 1.0;
    double low[3], high[3];
    bias->misfit = 0;
    for (int i = 0; i < 3; i++) {
        const double bound = c->bias_m_s2[i], doubt = bias->doubt[i] + c->forget_m_s2[i];
        low[i] = larger(bias->estimate[i] - doubt, -bound);
        high[i] = smaller(bias->estimate[i] + doubt, bound);
        if (known) {
            const double open = bias->unsure[i] + 2 * (c->velocity_error_m_s + c->reach_m_s2[i] * age);
            const double middle = (vel[i] - bias->anchor[i] - bias->made[i]) / time;
            const double half = open / time + c->accel_error_m_s2 + c->forget_m_s2[i] * time / c->period_s;
            low[i] = larger(low[i], middle - half), high[i] = smaller(high[i], middle + half);
        }
        if (low[i] > high[i] + EMPTY) bias->misfit = 1, low[i] = -bound, high[i] = bound;
    }
    const int anew = !known || bias->misfit || bias->since >= WINDOW_S;
    for (int i = 0; i < 3; i++) {
        bias->estimate[i] = (low[i] + high[i]) / 2;
        bias->doubt[i] = larger(high[i] - low[i], 0.0) / 2;
        if (anew) bias->anchor[i] = usable ? vel[i] : RM_UNKNOWN_M_S, bias->made[i] = bias->unsure[i] = 0.0;
    }
    if (anew) bias->since = 0.0;
}

void rm_expect(const RmConstants *c, Bias *bias, const Queue *queue, const double *command) {
    for (int i = 0; i < 3; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < c->next_count; k++) {
            const double a = k < c->num_acting ? queue->first[queue->stride * k + i] : command[i];
            low = smaller(low, a), high = larger(high, a);
        }
        bias->made[i] += (high + low) * (c->period_s / 2);
        bias->unsure[i] += (high - low) * (c->period_s / 2);
    }
    bias->since += c->period_s;
}

void rm_committed(const RmConstants *c, const Predicted *own, const double *command, double *plan) {
    const double t = c->period_s, half = t * t / 2, late = c->horizon_s;
    double *pos = plan, *vel = plan + 3, *stop = plan + 6, n[3], square = RM_TINY, way = RM_TINY, gain = RM_TINY;
    for (int i = 0; i < 3; i++) {
        const double x = own->unsure_m[i] - own->doubt[i] * (late * late / 2);
        const double v = own->unsure_m_s[i] - own->doubt[i] * late;
        const double a = command[i] + own->bias[i], more = command[i] - own->last[i];
        pos[i] = own->motion.pos[i] + own->motion.vel[i] * t + a * half + c->half_way_s2 * more;
        vel[i] = own->motion.vel[i] + a * t + c->half_s * more;
        square += more * more, way += x * x, gain += v * v;
    }
    const double size = sqrt(square), delayed = sqrt(gain), faster = delayed + c->half_s * size;
    const double farther = sqrt(way) + delayed * t + c->half_way_s2 * size;
    const double speed = rm_direction(vel, n);
    if (speed < AT_REST_M_S) n[0] = 1.0, n[1] = n[2] = 0.0;
    const double more = faster * (2 * (speed + c->own_error_m_s) + faster);
    const double reach = (speed * speed + more) / (2 * c->brake_m_s2) + farther;
    for (int i = 0; i < 3; i++) stop[i] = pos[i] + n[i] * reach;
}

Hold rm_hold(const RmConstants *c, const double *before, const Predicted *own, int deaf) {
    const int rests = fabs(before[0]) < RM_LARGE;
    const int slow = dot(own->motion.vel, own->motion.vel) <= c->slow_m_s * c->slow_m_s;
    Hold hold = {deaf && (rests || slow), {RM_NOWHERE_M, RM_NOWHERE_M, RM_NOWHERE_M}};
    for (int i = 0; i < 3 && hold.on; i++) {
        const double x = own->motion.pos[i], half = c->hold_m[i];
        hold.place[i] = rests ? within(before[i], x - half, x + half) : x;
    }
    return hold;
}

void rm_room(const RmConstants *c, const Hold *hold, Predicted *own) {
    for (int i = 0; i < 3; i++) {
        own->room[0][i] = c->has_arena ? c->arena[0][i] : -RM_LARGE;
        own->room[1][i] = c->has_arena ? c->arena[1][i] : RM_LARGE;
        if (!hold->on || (c->planar && i == 2)) continue;
        own->room[0][i] = larger(hold->place[i] - c->hold_m[i], own->room[0][i]);
        own->room[1][i] = smaller(hold->place[i] + c->hold_m[i], own->room[1][i]);
    }
}

Motion rm_point_of(const Motion *centre, const double *quat, double yaw_rate, double ahead) {
    const double w = quat[0], x = quat[1], y = quat[2], z = quat[3], swing = ahead * yaw_rate;
    const double ex = w * w + x * x - y * y - z * z, ey = 2 * (x * y + w * z);
    const double scale = 1 / sqrt(ex * ex + ey * ey + RM_TINY);
    Motion point = *centre;
    point.pos[0] += ahead * (ex * scale);
    point.pos[1] += ahead * (ey * scale);
    point.vel[0] -= swing * (ey * scale);
    point.vel[1] += swing * (ex * scale);
    return point;
}

Body rm_mate_of(const RmConstants *c, const Motion *state, const Motion *plan, const double *stop, double since) {
    const double lead = c->horizon_s + c->period_s;
    double moved = 0.0, off = 0.0, faster = 0.0, way = RM_TINY;
    for (int i = 0; i < 3; i++) {
        const double x = plan->pos[i] - state->pos[i], along = x - state->vel[i] * lead;
        const double change = plan->vel[i] - state->vel[i];
        moved += x * x;
        off += along * along;
        faster += change * change;
        way += (stop[i] - plan->pos[i]) * (stop[i] - plan->pos[i]);
    }
    const double late = sqrt(way) - dot(plan->vel, plan->vel) / (2 * c->brake_m_s2);
    const int near = off <= c->plan_reach_m * c->plan_reach_m && faster <= c->plan_reach_m_s * c->plan_reach_m_s;
    const int use = moved > 0 && near && late > -NO_STOP_M;
    Body mate = {use ? *plan : *state, use ? since - lead : since, since, 0.0, use ? larger(late, 0.0) : 0.0, 0.0, 0};
    mate.early_s = use && since > lead ? c->spread_s : 0.0;
    mate.blind = c->look_ahead_m && !use ? 1.0 : 0.0;
    return mate;
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

/* Direction of the nearest points at an offset: length, S n, and its length. */
static double facing(const RmKind *kind, const Body *body, const double *tail, const double *offset, double *n,
                     double *lean) {
    double between[3];
    rm_apart(offset, tail, body->shape, kind->squash, between);
    const double distance = rm_direction(between, n);
    n[2] *= kind->squash;
    *lean = sqrt(dot(n, n) + RM_SPECK);
    return distance;
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
    double offset[3], distance, n[3], lean, fast, taken, reach, turn, seems;
} Sight;

/* Speed at right angles to a direction that has `along` of it. */
static double across(const double *v, double along) { return sqrt(larger(dot(v, v) - along * along, 0.0) + RM_TINY); }

/* pairs._known: what the body may have done, along the direction that the sight has. */
static void know(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, Sight *s) {
    const double *w = body->motion.vel, since = body->since_s, early = body->early_s, wait = larger(body->wait_s, 0.0);
    s->reach = along_axes(s->n, kind->reach_m_s2);
    const double pushed = along_axes(s->n, kind->bias_m_s2), toward = dot(s->n, w);
    const double gain = s->reach * (wait + 2 * early);
    const double way = s->reach * (wait * wait / 2 + 2 * early * wait + early * early);
    const double room = larger(kind->speed_m_s * s->lean - toward, 0.0);
    s->seems = (kind->error_m_s + kind->drift_m_s2 * since) * s->lean + pushed * since;
    double fast = toward + s->seems + smaller(gain, room);
    double error = c->own_error_m + kind->error_m + (kind->error_m_s + kind->drift_m_s2 / 2 * since) * since + body->late_m;
    if (c->look_ahead_m && kind->yields) {
        fast += body->blind * c->blind_m_s * s->lean;
        error += body->blind * c->look_ahead_m;
    }
    double blur = error * s->lean + smaller(way, room * (wait + early));
    blur += pushed * (since * since / 2) + along_axes(s->n, own->unsure_m);
    s->turn = larger(s->turn, smaller(blur / s->distance, 1.0));
    if (kind->yields) fast += s->turn * s->lean * across(w, toward / s->lean);
    s->fast = larger(fast, 0.0);
    s->taken = kind->separation_m + blur;
    if (kind->yields) s->taken += s->fast * s->fast / (2 * c->brake_m_s2 * s->lean);
}

static Sight see(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail) {
    Sight s;
    s.turn = 0.0;
    for (int i = 0; i < 3; i++) {
        s.offset[i] = own->motion.pos[i] - body->motion.pos[i] - body->motion.vel[i] * body->wait_s;
        if (i == 2) s.offset[i] *= kind->squash;
    }
    s.distance = facing(kind, body, tail, s.offset, s.n, &s.lean);
    know(c, kind, own, body, &s);
    return s;
}

/* pairs._doubt */
static double doubt_of(const RmConstants *c, const RmKind *kind, const Predicted *own, const Sight *s) {
    const double *v = own->motion.vel;
    const double doubt = c->own_error_m_s * s->lean + along_axes(s->n, own->unsure_m_s);
    return kind->yields ? doubt + s->turn * s->lean * across(v, dot(s->n, v) / s->lean) : doubt;
}

/* pairs._better: whether the mate counts as braking from its plan's state, and then what that leaves. */
static int braked(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, Sight *sight) {
    const double lead = c->horizon_s + c->period_s, wait = larger(body->wait_s, 0.0);
    Body still = *body;
    still.wait_s = 0.0, still.since_s = smaller(body->since_s, lead), still.early_s = 0.0;
    Sight s = *sight;
    s.distance += dot(s.n, body->motion.vel) * wait;
    know(c, kind, own, &still, &s);
    /* pairs._turned */
    const double early = body->early_s, side = s.turn * sqrt(dot(kind->reach_m_s2, kind->reach_m_s2));
    const double fast = s.fast + side * (wait + 2 * early);
    s.taken += side * (wait * wait / 2 + 2 * early * wait + early * early);
    s.taken += (fast * fast - s.fast * s.fast) / (2 * c->brake_m_s2 * s.lean);
    const double doubt = doubt_of(c, kind, own, &s);
    const double closing = larger(doubt - dot(s.n, own->motion.vel), 0.0);
    const double need = braking_distance(kind->slope_per_s, closing, c->brake_m_s2 * s.lean);
    const double clear = s.distance - s.taken;
    const double most = larger(clear - need, 0.0) + closing * wait + s.reach * wait * wait / 2;
    const double spent = (1 - exp(-c->spend_per_s * wait)) * most;
    const int rests = clear - spent > sight->distance - sight->taken;
    if (rests) sight->taken = sight->distance - (clear - spent);
    return rests;
}

double rm_pair(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
               double *normal, Bound *bound) {
    const double *v = own->motion.vel, *w = body->motion.vel, step = c->step_s;
    Sight s = see(c, kind, own, body, tail);
    const int rests = kind->yields && body->early_s > 0 && braked(c, kind, own, body, &s);
    const double doubt = doubt_of(c, kind, own, &s);
    const double value = allowed(kind, s.distance - s.taken, s.fast, c->brake_m_s2 * s.lean) + dot(s.n, v) - doubt;
    double n[3], lean, offset[3], fast = s.fast, taken = s.taken + doubt * step;
    if (kind->yields) /* who rests does not move away either, nor does who only seems to */
        taken -= larger(dot(s.n, w), rests ? -INFINITY : -s.seems) * step;
    else
        fast += smaller(s.reach * step, larger(kind->speed_m_s * s.lean - fast, 0.0));
    for (int i = 0; i < 3; i++)
        offset[i] = s.offset[i] + (v[i] - w[i]) * (i == 2 ? kind->squash : 1.0) * step;
    const double ahead = facing(kind, body, tail, offset, n, &lean);
    const double later = allowed(kind, ahead - taken, fast, c->brake_m_s2 * lean) + dot(n, v) - doubt;
    const double scale = 1 / (step * lean);
    for (int i = 0; i < 3; i++) normal[i] = -n[i] / lean;
    const double keep = larger(own->keep, kind->keep);
    *bound = along_normal(c, own, normal, (later - keep * value) * scale, (later - c->sudden_keep * value) * scale);
    return s.distance - kind->separation_m;
}

double rm_likely(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
                 double *normal) {
    const double *v = own->motion.vel, wait = body->wait_s, step = c->step_s;
    double offset[3], n[3], w[3], lean;
    const double speed = rm_direction(body->motion.vel, n);
    const double time = wait > 0 ? smaller(wait, speed / c->brake_m_s2) : wait;
    const double slower = wait > 0 ? c->brake_m_s2 * time / speed : 0.0;
    for (int i = 0; i < 3; i++) {
        const double way = body->motion.vel[i] * (time * (1 - slower / 2));
        w[i] = body->motion.vel[i] * (1 - slower);
        offset[i] = (own->motion.pos[i] - (body->motion.pos[i] + way)) * (i == 2 ? kind->squash : 1.0);
    }
    double distance = facing(kind, body, tail, offset, n, &lean);
    const double doubt = c->own_error_m_s * lean + along_axes(n, own->unsure_m_s), toward = larger(dot(n, w), 0.0);
    const double taken = SPACINGS * kind->separation_m + toward * toward / (2 * c->brake_m_s2 * lean);
    const double allow = braking_speed(kind->slope_per_s, distance - taken, c->brake_m_s2 * lean);
    const double value = allow + dot(n, v) - doubt;
    for (int i = 0; i < 3; i++) offset[i] += (v[i] - w[i]) * (i == 2 ? kind->squash : 1.0) * step;
    distance = facing(kind, body, tail, offset, n, &lean);
    const double later = braking_speed(kind->slope_per_s, distance - taken + toward * step, c->brake_m_s2 * lean) +
                         dot(n, v) - doubt;
    for (int i = 0; i < 3; i++) normal[i] = -n[i] / lean;
    const double lost = c->accel_error_m_s2 + along_axes(normal, own->doubt) + dot(normal, own->bias);
    return (later - larger(own->keep, kind->keep) * value) / (step * lean) - lost;
}

Bound rm_wall(const RmConstants *c, const Predicted *own, int axis, double sign, double gap) {
    const double *far = own->unsure_m, *fast = own->unsure_m_s, speed = sign * own->motion.vel[axis];
    const double knee = c->brake_m_s2 / c->slope_per_s;
    const double reach = c->clear_m_s + c->own_error_m_s + larger(larger(fast[0], fast[1]), fast[2]) + larger(speed, 0.0);
    const double room = gap - c->own_error_m - larger(larger(far[0], far[1]), far[2]);
    const Bound none = {INFINITY, -INFINITY};
    if (own->keep == -INFINITY && 2 * c->brake_m_s2 * room >= reach * reach + knee * knee) return none;
    const double clearance = gap - c->own_error_m - far[axis], closing = speed + c->own_error_m_s + fast[axis];
    const double value = braking_speed(c->slope_per_s, clearance, c->brake_m_s2) - closing;
    const double later = braking_speed(c->slope_per_s, clearance - closing * c->step_s, c->brake_m_s2) - closing;
    return on_command(c, c->accel_error_m_s2 + own->doubt[axis] + sign * own->bias[axis], sign * own->last[axis],
                      (later - larger(own->keep, c->keep) * value) / c->step_s,
                      later / c->step_s);
}

void rm_speed_limit(const RmConstants *c, const Predicted *own, double *normal, Bound *bound) {
    double n[3];
    const double speed = rm_direction(own->motion.vel, n), scale = 1 / sqrt(dot(n, n) + RM_SPECK);
    for (int i = 0; i < 3; i++) normal[i] = n[i] * scale;
    const double left = c->speed_m_s - c->own_error_m_s - along_axes(normal, own->unsure_m_s) - speed;
    *bound = along_normal(c, own, normal, c->slope_per_s * left, left / c->step_s);
}
