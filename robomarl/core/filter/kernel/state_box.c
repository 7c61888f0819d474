/* The box of states that a robot may have: robomarl/core/certificate/state_box.py. */
#include "course.h"

#define ROUNDING_BOX 1e-4
#define ODD_SHARE 0.5

/* An estimate that comes at another time than expected. */
static void keep_odd(const RmConstants *c, StateBox *box, double off) {
    if (off > ODD_SHARE * c->period_s) *box->odd = c->horizon_s;
}

void rm_narrow(const RmConstants *c, StateBox *box, const Motion *seen, double at, double error) {
    const double off = fabs(at - *box->at), error_v = c->velocity_error_m_s;
    int misfit = 0;
    keep_odd(c, box, off);
    for (int i = 0; i < 3; i++) {
        const double faster = (c->reach_m_s2[i] + c->bias_m_s2[i] + c->accel_error_m_s2) * off;
        const double farther = off * (larger(fabs(box->low_v[i]), fabs(box->high_v[i])) + faster);
        const double low = seen->pos[i] - error, high = seen->pos[i] + error;
        const double low_v = seen->vel[i] - error_v, high_v = seen->vel[i] + error_v;
        box->low[i] = larger(box->low[i] - farther, low), box->high[i] = smaller(box->high[i] + farther, high);
        box->low_v[i] = larger(box->low_v[i] - faster, low_v), box->high_v[i] = smaller(box->high_v[i] + faster, high_v);
        if (box->low[i] > box->high[i] + ROUNDING_BOX || box->low_v[i] > box->high_v[i] + ROUNDING_BOX) {
            box->low[i] = low, box->high[i] = high, box->low_v[i] = low_v, box->high_v[i] = high_v, misfit = 1;
        }
    }
    *box->at = at, *box->misfits += misfit;
}

void rm_lose(const RmConstants *c, StateBox *box, double at) {
    keep_odd(c, box, fabs(at - *box->at));
    for (int i = 0; i < 3; i++) box->low[i] = box->low_v[i] = -RM_LARGE, box->high[i] = box->high_v[i] = RM_LARGE;
    *box->at = at;
}

Motion rm_middle(const StateBox *box) {
    Motion found;
    for (int i = 0; i < 3; i++)
        found.pos[i] = (box->low[i] + box->high[i]) / 2, found.vel[i] = (box->low_v[i] + box->high_v[i]) / 2;
    return found;
}

void rm_expect_box(const RmConstants *c, StateBox *box, const Bias *bias, const Queue *queue, const double *command) {
    const double t = c->period_s, half = t * t / 2;
    for (int i = 0; i < 3; i++) {
        double least = *box->odd > 0 ? -c->reach_m_s2[i] : INFINITY, most = *box->odd > 0 ? c->reach_m_s2[i] : -INFINITY;
        for (int k = 0; k < c->next_count && !(*box->odd > 0); k++) {
            const double a = k < c->num_acting ? queue->first[queue->stride * k + i] : command[i];
            least = smaller(least, a), most = larger(most, a);
        }
        const double unsure = bias->doubt[i] + c->accel_error_m_s2;
        least = least + bias->estimate[i] - unsure, most = most + bias->estimate[i] + unsure;
        box->low[i] = box->low[i] + box->low_v[i] * t + least * half;
        box->high[i] = box->high[i] + box->high_v[i] * t + most * half;
        box->low_v[i] += least * t, box->high_v[i] += most * t;
    }
    *box->at += t, *box->odd = larger(*box->odd - t, 0.0);
}
