/* Motion and rows: robomarl/safety/motion.py, barriers.py and look_ahead.py, function by function. */
#include "rows.h"
#include "separation.h"

#define NO_ROOT 1e-9

double rm_direction(const double *vector, double *unit) {
    const double length = sqrt(dot(vector, vector) + RM_TINY), scale = 1 / length;
    for (int i = 0; i < 3; i++) unit[i] = vector[i] * scale;
    return length;
}

void rm_predict(const RmConstants *c, const Motion *own, const Queue *queue, const double *drift, Predicted *out) {
    const double t = c->horizon_s, half = t * t / 2;
    out->error_m = c->own_error_m;
    out->error_m_s = c->own_error_m_s;
    out->keep = -INFINITY;
    for (int i = 0; i < 3; i++) {
        out->motion.pos[i] = own->pos[i] + own->vel[i] * t + drift[i] * half;
        out->motion.vel[i] = own->vel[i] + drift[i] * t;
    }
    for (int k = 0; k < c->num_acting; k++) {
        const double *a = queue->first + queue->stride * k;
        const double speed_doubt = c->queue_speed_doubt_s[k], way_doubt = c->queue_way_doubt_s2[k];
        for (int i = 0; i < 3; i++) {
            out->motion.pos[i] += a[i] * c->queue_way_s2[k];
            out->motion.vel[i] += a[i] * c->queue_speed_s[k];
        }
        if (speed_doubt || way_doubt) {
            const double size = sqrt(dot(a, a) + RM_TINY);
            out->error_m += way_doubt * size;
            out->error_m_s += speed_doubt * size;
        }
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

Body rm_mate_of(const RmConstants *c, const Motion *state, const Motion *plan, double since) {
    const double lead = c->horizon_s + c->period_s;
    double moved = 0.0, off = 0.0, faster = 0.0;
    for (int i = 0; i < 3; i++) {
        const double x = plan->pos[i] - state->pos[i], along = x - state->vel[i] * lead;
        const double change = plan->vel[i] - state->vel[i];
        moved += x * x;
        off += along * along;
        faster += change * change;
    }
    const int near = off <= c->plan_reach_m * c->plan_reach_m && faster <= c->plan_reach_m_s * c->plan_reach_m_s;
    const int use = moved > 0 && near;
    Body mate = {use ? *plan : *state, use ? since - lead : since, since, 0.0, 0};
    mate.blind = c->look_ahead_m && !use ? 1.0 : 0.0;
    return mate;
}

static double braking_speed(double slope, double clearance, double brake) {
    const double knee = brake / slope;
    if (clearance * slope < knee) return slope * larger(clearance, 0.0);
    return sqrt(larger(2 * brake * clearance - knee * knee, NO_ROOT));
}

static double allowed(const RmKind *kind, double clearance, double fast, double brake_m_s2) {
    if (kind->yields) return braking_speed(kind->slope_per_s, clearance, brake_m_s2);
    const double brake = brake_m_s2 * kind->brake_share, lost = fast * kind->lost_share;
    const double start = kind->evade ? 0.0 : lost * lost / (2 * brake);
    return braking_speed(kind->slope_per_s, clearance + start, brake) - lost;
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

double rm_pair(const RmConstants *c, const RmKind *kind, const Predicted *own, const Body *body, const double *tail,
               double *row) {
    const double *v = own->motion.vel, *w = body->motion.vel, since = body->since_s, step = c->step_s;
    const double wait = larger(body->wait_s, 0.0);
    double offset[3], n[3], lean, reach = 0.0;
    for (int i = 0; i < 3; i++) {
        offset[i] = own->motion.pos[i] - body->motion.pos[i] - w[i] * body->wait_s;
        if (i == 2) offset[i] *= kind->squash;
    }
    const double distance = facing(kind, body, tail, offset, n, &lean);
    for (int i = 0; i < 3; i++) reach += fabs(n[i]) * kind->reach_m_s2[i];
    const double gain = reach * wait, toward = dot(n, w), room = larger(kind->speed_m_s * lean - toward, 0.0);
    double fast = toward + (kind->error_m_s + kind->drift_m_s2 * since) * lean + smaller(gain, room);
    double error = own->error_m + kind->error_m + (kind->error_m_s + kind->drift_m_s2 / 2 * since) * since;
    if (c->look_ahead_m && kind->yields) {
        fast += body->blind * c->blind_m_s * lean;
        error += body->blind * c->look_ahead_m;
    }
    fast = larger(fast, 0.0);
    const double brake = c->brake_m_s2 * lean, doubt = own->error_m_s * lean;
    double taken = kind->separation_m + error * lean + smaller(gain * 0.5, room) * wait;
    if (kind->yields) taken += fast * fast / (2 * brake);
    const double value = allowed(kind, distance - taken, fast, brake) + dot(n, v) - doubt;
    if (kind->yields)
        taken -= larger(toward, 0.0) * step;
    else
        fast += smaller(reach * step, larger(kind->speed_m_s * lean - fast, 0.0));
    for (int i = 0; i < 3; i++) offset[i] += (v[i] - w[i]) * (i == 2 ? kind->squash : 1.0) * step;
    const double ahead = facing(kind, body, tail, offset, n, &lean);
    const double later = allowed(kind, ahead - taken, fast, c->brake_m_s2 * lean) + dot(n, v) - doubt;
    for (int i = 0; i < 3; i++) row[i] = -n[i] / lean;
    row[3] = (later - larger(own->keep, kind->keep) * value) / (step * lean) - c->accel_error_m_s2;
    return distance - kind->separation_m;
}

double rm_wall(const RmConstants *c, const Predicted *own, double gap, double speed) {
    const double clearance = gap - own->error_m, closing = speed + own->error_m_s, knee = c->brake_m_s2 / c->slope_per_s;
    const double reach = c->clear_m_s + own->error_m_s + larger(speed, 0.0);
    if (own->keep == -INFINITY && 2 * c->brake_m_s2 * clearance >= reach * reach + knee * knee) return INFINITY;
    const double value = braking_speed(c->slope_per_s, clearance, c->brake_m_s2) - closing;
    const double later = braking_speed(c->slope_per_s, clearance - speed * c->step_s, c->brake_m_s2) - closing;
    return (later - larger(own->keep, c->keep) * value) / c->step_s - c->accel_error_m_s2;
}

void rm_speed_limit(const RmConstants *c, const Predicted *own, double *row) {
    double n[3];
    const double speed = rm_direction(own->motion.vel, n), scale = 1 / sqrt(dot(n, n) + RM_SPECK);
    for (int i = 0; i < 3; i++) row[i] = n[i] * scale;
    row[3] = c->slope_per_s * (c->speed_m_s - own->error_m_s - speed) - c->accel_error_m_s2;
}
