/* Motion: robomarl/core/filter/model/{motion,bias,look_ahead}.py, function by function. */
#include "rows.h"

#define NO_STOP_M 1e-3
#define AT_REST_M_S 1e-3
#define EMPTY 1e-3
#define WINDOW_S 2.0

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
        for (int k = 0; k < c->num_queue; k++) {
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
