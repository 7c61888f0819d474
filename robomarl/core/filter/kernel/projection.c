/* Exact projection onto half-spaces in three dimensions, as robomarl/core/filter/qp/projection.py does it for many problems at once:
 * a dual simplex on LP-type bases (Sharir and Welzl, STACS 1992). At most three rows hold the optimum in place. Each
 * round takes the row that is violated most and finds the optimum of it and of those three, which is the nearest of
 * one point, three lines and three vertices on its plane. The distance to the point grows every round, so none comes
 * back; ROUNDS only stops what rounding might make go on for ever. */
#include "rows.h"

#define ROUNDS 64
/* A row that is violated by less is left alone: a hundredth of what the result may violate. */
#define PIVOT 1e-11
/* Two rows closer than this to parallel have no line, three closer to one plane no vertex (squares of the sine and of
 * the determinant); rounding makes 1e-32 of what is exactly parallel. */
#define PARALLEL 1e-20
/* Rows nearer to parallel than this: the sum of both steps cancels, and the cosine is rounded to what leaves nothing. */
#define NEARLY 1e-6
#define FURTHEST 1e300

typedef struct {
    const double *row[3];
    int count;
} Basis;

static double excess(const double *row, const double *u) { return dot(row, u) - row[3]; }

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The smallest step from `from` onto the planes of all `count` rows, added to u; 0 where there is none. */
static int step_onto(int count, const double *const *row, const double *from, double *u) {
    double r[3], c[3][3];
    for (int k = 0; k < count; k++) r[k] = excess(row[k], from);
    if (count == 1) {
        for (int i = 0; i < 3; i++) u[i] -= r[0] * row[0][i];
        return 1;
    }
    cross(row[0], row[1], c[0]);
    if (count == 2) {
        const double square = dot(c[0], c[0]), g = dot(row[0], row[1]);
        if (!(square > PARALLEL)) return 0;
        if (square < NEARLY) { /* onto the first plane, then in it, along the second row without its share of the first */
            double aside[3];
            cross(c[0], row[0], aside);
            for (int i = 0; i < 3; i++) u[i] -= r[0] * row[0][i] + (r[1] - g * r[0]) / square * aside[i];
            return 1;
        }
        const double a = (r[0] - g * r[1]) / square, b = (r[1] - g * r[0]) / square;
        for (int i = 0; i < 3; i++) u[i] -= a * row[0][i] + b * row[1][i];
        return 1;
    }
    const double det = dot(c[0], row[2]);
    if (!(det * det > PARALLEL)) return 0;
    cross(row[1], row[2], c[1]);
    cross(row[2], row[0], c[2]);
    for (int i = 0; i < 3; i++) u[i] -= (r[0] * c[1][i] + r[1] * c[2][i] + r[2] * c[0][i]) / det;
    return 1;
}

/* Projection of the point onto the planes of the rows; a second step takes away what rounding left of the first: of a
 * point 1e5 away that is more than PIVOT, on a single plane too. */
static int onto(int count, const double *const *row, const double *point, double *u) {
    double first[3];
    for (int i = 0; i < 3; i++) u[i] = point[i];
    if (!step_onto(count, row, point, u)) return 0;
    for (int i = 0; i < 3; i++) first[i] = u[i];
    return step_onto(count, row, first, u);
}

/* Bring `row` into the basis; 0 where no point holds it and the basis' rows. */
static int pivot(const double *row, const double *point, Basis *basis, double *u) {
    static const int SUBSETS[7][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {2, 0, 1}, {2, 0, 2}, {2, 1, 2}};
    double nearest = FURTHEST, at[3];
    Basis best = {{0}, 0};
    for (int s = 0; s < 7; s++) {
        const int others = SUBSETS[s][0], *members = SUBSETS[s] + 1;
        Basis trial = {{row}, others + 1};
        int holds = 1;
        for (int k = 0; k < others; k++) {
            holds = holds && members[k] < basis->count;
            trial.row[k + 1] = basis->row[members[k]];
        }
        if (!holds || !onto(trial.count, trial.row, point, at)) continue;
        for (int k = 0; k < basis->count; k++) {
            const int own = (others > 0 && members[0] == k) || (others > 1 && members[1] == k);
            holds = holds && (own || excess(basis->row[k], at) <= PIVOT);
        }
        const double x = at[0] - point[0], y = at[1] - point[1], z = at[2] - point[2];
        const double far = x * x + y * y + z * z;
        if (holds && far < nearest) {
            nearest = far;
            best = trial;
            for (int i = 0; i < 3; i++) u[i] = at[i];
        }
    }
    *basis = best;
    return nearest < FURTHEST;
}

/* Index of the row that is violated most, and by how much. */
static int worst(int m, const double *rows, const double *u, double *most) {
    int index = 0;
    *most = -INFINITY;
    for (int k = 0; k < m; k++) {
        const double over = excess(rows + 4 * k, u);
        if (over > *most) {
            *most = over;
            index = k;
        }
    }
    return index;
}

static int all_finite(int m, const double *rows, const double *point) {
    double sum = point[0] + point[1] + point[2];
    for (int k = 0; k < 4 * m; k++) sum += rows[k];
    return isfinite(sum);
}

int rm_project(int m, const double *rows, const double *point, double *u, double *residual) {
    Basis basis = {{0}, 0};
    int status = RM_NON_FINITE;
    *residual = INFINITY;
    for (int i = 0; i < 3; i++) u[i] = point[i];
    if (all_finite(m, rows, point)) {
        status = RM_SOLVER;
        for (int round = 0; round <= ROUNDS; round++) {
            const int row = worst(m, rows, u, residual);
            if (*residual <= PIVOT || round == ROUNDS) break;
            if (!pivot(rows + 4 * row, point, &basis, u)) {
                status = RM_INFEASIBLE;
                break;
            }
        }
        if (status != RM_INFEASIBLE && *residual <= RM_TOLERANCE) status = RM_OK;
    }
    if (status != RM_OK)
        for (int i = 0; i < 3; i++) u[i] = point[i];
    return status;
}

void rm_project_many(long count, int m, const double *rows, const double *points, double *u, double *residual,
                     int *status) {
    for (long i = 0; i < count; i++)
        status[i] = rm_project(m, rows + 4 * m * i, points + 3 * i, u + 3 * i, residual + i);
}
