/* Nearest points of bodies: robomarl/core/filter/model/separation.py. */
#include "separation.h"

#define PARALLEL_LINES 1e-9

static double unit(double x) { return within(x, 0.0, 1.0); }

static double outside(double x, double size) { return x - within(x, 0.0, size); }

/* A point of a line, `share` of the way from o. */
static void along(const double *o, const double *b, double share, double *out) {
    for (int i = 0; i < 3; i++) out[i] = o[i] + share * b[i];
}

static double share_of(const double *o, const double *b) { return dot(o, b) / (dot(b, b) + RM_TINY); }

/* Shortest o + s a - t b (Ericson, Real-Time Collision Detection, 2005, section 5.1.9). */
static void between_lines(const double *o, const double *a, const double *b, double *out) {
    const double aa = dot(a, a) + RM_TINY, bb = dot(b, b) + RM_TINY, ab = dot(a, b), ao = dot(a, o), bo = dot(b, o);
    const double det = aa * bb - ab * ab;
    double s = det > PARALLEL_LINES * aa * bb ? unit((ab * bo - ao * bb) / det) : 0.0;
    const double t = (ab * s + bo) / bb, inside = unit(t);
    if (t != inside) s = unit((ab * inside - ao) / aa);
    for (int i = 0; i < 3; i++) out[i] = o[i] + s * a[i] - inside * b[i];
}

static double slope(double s, const double *o, const double *a, const double *box) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += a[i] * outside(o[i] + s * a[i], box[i]);
    return sum;
}

/* Nearest point of our line a to a box: where half of the squared distance has slope 0. */
static void line_from_box(const double *o, const double *a, const double *box, double *out) {
    double low = 0.0, high = 1.0, slope_low = slope(0.0, o, a, box), slope_high = slope(1.0, o, a, box);
    for (int k = 0; k < 6; k++) {
        const int i = k / 2;
        const double steep = fabs(a[i]) > RM_TINY ? a[i] : RM_TINY, face = k % 2 ? box[i] : box[i] * 0.0;
        const double s = unit((face - o[i]) / steep), at = slope(s, o, a, box);
        if (at <= 0 && s >= low) low = s, slope_low = at;
        if (at >= 0 && s <= high) high = s, slope_high = at;
    }
    const double rise = slope_high - slope_low;
    double s = rise > RM_TINY ? low - slope_low * (high - low) / rise : low;
    if (slope_high <= 0) s = high;
    if (slope_low >= 0) s = low;
    for (int i = 0; i < 3; i++) out[i] = outside(o[i] + s * a[i], box[i]);
}

void rm_apart(const double *offset, const double *tail, const RmShape *shape, double squash, double *out) {
    double own[3], beyond[3];
    const int has_line = shape && shape->has_line, has_box = shape && shape->has_box;
    for (int i = 0; i < 3; i++) {
        const double scale = i == 2 ? squash : 1.0;
        own[i] = tail ? tail[i] * scale : 0.0;
        beyond[i] = has_box ? shape->box[i] * scale : has_line ? shape->line[i] * scale : 0.0;
        out[i] = offset[i];
    }
    if (has_box && tail) {
        line_from_box(offset, own, beyond, out);
    } else if (has_box) {
        for (int i = 0; i < 3; i++) out[i] = outside(offset[i], beyond[i]);
    } else if (has_line && tail) {
        between_lines(offset, own, beyond, out);
    } else if (has_line) {
        along(offset, beyond, -unit(share_of(offset, beyond)), out);
    } else if (tail) {
        along(offset, own, unit(-share_of(offset, own)), out);
    }
}
