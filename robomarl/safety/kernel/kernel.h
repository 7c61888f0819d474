/* The safety filter in C: see robomarl/safety/kernel/__init__.py. Double precision, SI units, no allocation, no state. */
#ifndef ROBOMARL_KERNEL_H
#define ROBOMARL_KERNEL_H

/* Values of robomarl.safety.carry.Reason. */
enum { RM_OK = 0, RM_INFEASIBLE = 1, RM_STALE = 2, RM_NON_FINITE = 3, RM_SOLVER = 4, RM_MISSING = 5 };

/* Largest violation of a row that still counts as holding: robomarl.safety.qp.TOLERANCE. */
#define RM_TOLERANCE 1e-9

/* min |u - point|^2 subject to n . u <= b for m rows (n, b), n a unit vector.
 * u is the point itself unless the status is RM_OK; residual is max(n . u - b), at most RM_TOLERANCE then. */
int rm_project(int m, const double *rows, const double *point, double *u, double *residual);

/* The same for `count` problems of m rows each, one after the other in memory. */
void rm_project_many(long count, int m, const double *rows, const double *points, double *u, double *residual,
                     int *status);

#endif
