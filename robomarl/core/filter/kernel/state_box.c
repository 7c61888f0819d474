/* The box of states that a robot may have: robomarl/core/certificate/state_box.py. */
#include "course.h"

/* The least and the largest command along an axis that may be in force from the box's stamp to a time. */
static void find_acting(const RmCertificate *c, const StateBox *box, int i, double at, double *least, double *most) {
    const double begin = *box->at + c->instant_s, reach = c->tracker->reach_m_s2[i];
    const int count = rm_kept_commands(c);
    *least = INFINITY, *most = -INFINITY;
    int acts = 0;
    for (int j = 0; j < count; j++) {
        const double last = j + 1 < count ? box->must[j + 1] : INFINITY, a = box->commands[3 * j + i];
        if (!(box->may[j] < at - c->instant_s) || !(last > begin)) continue;
        acts = 1, *least = a < *least || isnan(a) ? a : *least, *most = a > *most || isnan(a) ? a : *most;
    }
    if (!acts || !(box->must[0] <= begin)) *least = -reach, *most = reach;
}

void rm_narrow(const RmCertificate *c, StateBox *box, const Bias *bias, const Motion *seen, double at) {
    const RmConstants *tracker = c->tracker;
    const double error = c->position_error_m, error_v = tracker->velocity_error_m_s, t = at - *box->at;
    const double half = t * t / 2, back = t < 0 ? RM_LARGE : 0.0;
    int misfit = 0;
    for (int i = 0; i < 3; i++) {
        double least, most;
        find_acting(c, box, i, at, &least, &most);
        const double unsure = bias->doubt[i] + tracker->accel_error_m_s2;
        least = least + bias->estimate[i] - unsure, most = most + bias->estimate[i] + unsure;
        const double low = seen->pos[i] - error, high = seen->pos[i] + error;
        const double low_v = seen->vel[i] - error_v, high_v = seen->vel[i] + error_v;
        box->low[i] = larger(box->low[i] + box->low_v[i] * t + least * half - back, low);
        box->high[i] = smaller(box->high[i] + box->high_v[i] * t + most * half + back, high);
        box->low_v[i] = larger(box->low_v[i] + least * t - back, low_v);
        box->high_v[i] = smaller(box->high_v[i] + most * t + back, high_v);
        if (box->low[i] <= box->high[i] + c->rounding_box && box->low_v[i] <= box->high_v[i] + c->rounding_box) continue;
        box->low[i] = low, box->high[i] = high, box->low_v[i] = low_v, box->high_v[i] = high_v;
        misfit = misfit || i < 2 || !tracker->planar;
    }
    *box->at = at, *box->misfits += misfit;
}

void rm_lose(StateBox *box, double at) {
    for (int i = 0; i < 3; i++) box->low[i] = box->low_v[i] = -RM_LARGE, box->high[i] = box->high_v[i] = RM_LARGE;
    *box->at = at;
}

Motion rm_middle(const StateBox *box) {
    Motion found;
    for (int i = 0; i < 3; i++)
        found.pos[i] = (box->low[i] + box->high[i]) / 2, found.vel[i] = (box->low_v[i] + box->high_v[i]) / 2;
    return found;
}

void rm_command(const RmCertificate *c, StateBox *box, const double *command, double now) {
    const int last = rm_kept_commands(c) - 1;
    memmove(box->commands, box->commands + 3, 3 * last * sizeof(double)), copy(box->commands + 3 * last, command, 3);
    memmove(box->may, box->may + 1, last * sizeof(double)), memmove(box->must, box->must + 1, last * sizeof(double));
    box->may[last] = *box->at + (c->tracker->horizon_s - c->tracker->spread_s);
    box->must[last] = now + c->tracker->horizon_s;
}
