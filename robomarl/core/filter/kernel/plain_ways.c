/* The rules against deadlock straight from Python's objects, as `plain.c` reads them. */
#include "ways.h"

/* What comes with every decision: `ways.PLAIN`, up to the mates as for a decision of the filter. */
enum { GOAL = HEARD + 1, WAY, ROUNDABOUT, NUMPY };
enum { FROM_WITH, FROM_WAY, FROM_VIEW, FROM_NOMINAL, INTO, NUM_GIVEN };
/* Fields of the named tuples in view.py, memory.py and roundabout.py. */
enum { VIEW_GOAL = 3, GOAL_POS = 0 };
enum { WAY_STUCK, WAY_DETOUR, WAY_TRIES, WAY_ACTIVE, WAY_AROUND, WAY_PASSAGE };
enum { AROUND_CENTRE, AROUND_RADIUS, AROUND_KNOWN };
enum { MOST_NUMBERS = 32 };

/* One of numpy's functions; not a number where it fails, and Python knows why. */
static double call_numpy(void *with, int which, double x, double y) {
    PyObject *function = PyTuple_GetItem(with, NUMPY + which), *first = PyFloat_FromDouble(x);
    PyObject *second = which == ARCTAN2 ? PyFloat_FromDouble(y) : NULL;
    PyObject *value = PyObject_CallFunctionObjArgs(function, first, second, NULL);
    const double found = value ? PyFloat_AsDouble(value) : NAN;
    Py_XDECREF(first), Py_XDECREF(second), Py_XDECREF(value);
    return found;
}

static const double *vector_of(Reader *r, PyObject *array) {
    const double *at = r->to;
    take_vector(r, array);
    return at;
}

static const double *numbers_of(Reader *r, PyObject *array, int axes, Py_ssize_t first, Py_ssize_t second) {
    const double *at = r->to;
    take(r, array, axes, first, second);
    return at;
}

static double number_of(Reader *r, PyObject *value) {
    const double *at = r->to;
    take_number(r, value);
    return r->fine ? *at : 0.0;
}

static void take_traffic(Reader *r, PyObject *const *given, unsigned char *mask, Traffic *t) {
    PyObject *view = given[FROM_VIEW], *own = field(r, view, VIEW, VIEW_OWN), *heard = field(r, view, VIEW, VIEW_HEARD);
    PyObject *told = field(r, heard, HEARD, HEARD_MASK);
    t->mates = rows_of(r, told);
    r->fine = r->fine && t->mates <= MOST_MATES && t->size >= 3 && t->size <= MOST_NUMBERS;
    take_mask(r, told, t->mates, mask), t->mask = mask;
    t->pos = vector_of(r, field(r, own, OWN, OWN_POS));
    t->vel = vector_of(r, field(r, own, OWN, OWN_VEL));
    t->goal = vector_of(r, field(r, field(r, view, VIEW, VIEW_GOAL), GOAL, GOAL_POS));
    t->nominal = numbers_of(r, given[FROM_NOMINAL], 1, t->size, 0);
    t->mate_pos = numbers_of(r, field(r, heard, HEARD, HEARD_POS), 2, t->mates, 3);
    t->mate_vel = numbers_of(r, field(r, heard, HEARD, HEARD_VEL), 2, t->mates, 3);
    t->mate_age = numbers_of(r, field(r, heard, HEARD, HEARD_AGE), 1, t->mates, 0);
}

/* The memory; one of passages is not for here. */
static void take_way(Reader *r, PyObject *carry, Way *way) {
    PyObject *around = field(r, carry, WAY, WAY_AROUND), *active = field(r, carry, WAY, WAY_ACTIVE);
    PyObject *passage = field(r, carry, WAY, WAY_PASSAGE);
    way->active = r->fine ? PyObject_IsTrue(active) : 0;
    r->fine = r->fine && way->active >= 0 && PyTuple_Size(passage) == 0;
    way->stuck_s = number_of(r, field(r, carry, WAY, WAY_STUCK));
    way->detour_s = number_of(r, field(r, carry, WAY, WAY_DETOUR));
    way->tries = number_of(r, field(r, carry, WAY, WAY_TRIES));
    const double *centre = numbers_of(r, field(r, around, ROUNDABOUT, AROUND_CENTRE), 1, 2, 0);
    if (r->fine) memcpy(way->centre, centre, sizeof way->centre);
    way->radius_m = number_of(r, field(r, around, ROUNDABOUT, AROUND_RADIUS));
    way->known_s = number_of(r, field(r, around, ROUNDABOUT, AROUND_KNOWN));
}

static int all_sane(const double *from, const double *to) {
    int sane = 1;
    for (; from < to; from++) sane = sane && fabs(*from) < RM_LARGE;
    return sane;
}

/* stuck, detour, tries, radius, known: what ways.py makes the memory of, with the centre behind the command. */
static PyObject *remembered(const Way *way, double *centre) {
    const double numbers[] = {way->stuck_s, way->detour_s, way->tries, way->radius_m, way->known_s};
    PyObject *found = PyErr_Occurred() ? NULL : PyTuple_New(5);
    memcpy(centre, way->centre, sizeof way->centre);
    for (int i = 0; found && i < 5; i++) PyTuple_SetItem(found, i, PyFloat_FromDouble(numbers[i]));
    return found;
}

static PyObject *give_way(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    double numbers[7 * MOST_MATES + MOST_NUMBERS + 32];
    unsigned char mask[MOST_MATES];
    Py_buffer to;
    PyObject *found = NULL;
    if (count != NUM_GIVEN || PyObject_GetBuffer(given[INTO], &to, PyBUF_WRITABLE)) return NULL;
    Reader r = {given[FROM_WITH], numbers, 1};
    Traffic traffic = {.size = (int)(to.len / sizeof(double)) - 2, .call = call_numpy, .with = given[FROM_WITH]};
    Way way;
    take_traffic(&r, given, mask, &traffic);
    take_way(&r, given[FROM_WAY], &way);
    if (r.fine && all_sane(numbers, r.to)) {
        rm_give_way(PyLong_AsVoidPtr(known(&r, ADDRESS)), &traffic, &way, to.buf);
        found = remembered(&way, (double *)to.buf + traffic.size);
    } else {
        PyErr_Clear();
        found = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&to);
    return found;
}

size_t rm_plain_ways(void) {
    static PyMethodDef method = {"give_way", (PyCFunction)(void (*)(void))give_way, METH_FASTCALL, NULL};
    return function_of(&method);
}
