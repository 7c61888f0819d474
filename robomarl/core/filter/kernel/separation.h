/* Nearest points of bodies: robomarl/core/filter/model/separation.py. */
#ifndef ROBOMARL_SEPARATION_H
#define ROBOMARL_SEPARATION_H

#include "rows.h"

/* Vector from the nearest point of a body to the nearest point of ours, z scaled like `offset` by `squash`.
 * tail: our line, or NULL; shape: of the body, or NULL for a point. */
void rm_apart(const double *offset, const double *tail, const RmShape *shape, double squash, double *out);

#endif
