/* Written by `python -m robomarl.core.filter.kernel.layout` from the Python classes; do not edit.
 * Fields have the names of Python's. has_X is 0 where X is None, num_X is how many X there are, queue_X is a field of
 * the queue. */
#ifndef ROBOMARL_CONSTANTS_H
#define ROBOMARL_CONSTANTS_H

/* robomarl.core.filter.model.body_kinds.Shape */
typedef struct {
    int has_line;
    double line[3];
    int has_box;
    double box[3];
} RmShape;

/* robomarl.core.filter.model.body_kinds.Kind */
typedef struct {
    double separation_m;
    double squash;
    double error_m;
    double error_m_s;
    double drift_m_s2;
    double bias_m_s2[3];
    double reach_m_s2[3];
    double speed_m_s;
    int yields;
    int evade;
    double brake_share;
    double lost_share;
    double max_age_s;
    double keep;
    double slope_per_s;
    int recedes;
} RmKind;

/* robomarl.core.filter.model.body_kinds.Solid */
typedef struct {
    double place_m[3];
    RmShape shape;
    RmKind kind;
    int has_tail_kind;
    RmKind tail_kind;
} RmSolid;

/* robomarl.core.filter.model.constants.Constants */
typedef struct {
    RmKind mates;
    int has_tail_mates;
    RmKind tail_mates;
    int has_strangers;
    RmKind strangers;
    int has_tail_strangers;
    RmKind tail_strangers;
    int num_solids;
    const RmSolid *solids;
    int has_tail_m;
    double tail_m[3];
    int planar;
    double look_ahead_m;
    double blind_m_s;
    double brake_m_s2;
    double gain_per_s;
    double step_s;
    double keep;
    double slope_per_s;
    double horizon_s;
    double own_error_m;
    double own_error_m_s;
    double plan_reach_m;
    double plan_reach_m_s;
    double speed_m_s;
    double velocity_error_m_s;
    double accel_error_m_s2;
    double reach_m_s2[3];
    double bias_m_s2[3];
    double forget_m_s2[3];
    double sudden_keep;
    double sudden_share;
    double spend_per_s;
    double spread_s;
    double half_s;
    double half_way_s2;
    int next_count;
    double floor_m_s2;
    double loose_m_s2;
    double clear_m_s;
    double settle_share;
    double hold_m[3];
    double slow_m_s;
    double max_own_age_s;
    int min_mates;
    int has_arena;
    double arena[2][3];
    double low[3];
    double high[3];
    double yaw_rate_rad_s;
    double brake_gain_per_s;
    double period_s;
    int num_acting;
    int num_queue;
    const double *queue_oldest;
    const double *queue_newest;
    const double *queue_speed_s;
    const double *queue_way_s2;
} RmConstants;

#endif
