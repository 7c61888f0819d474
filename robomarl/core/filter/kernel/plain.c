/* One decision straight from Python's objects, as they lie in flight: named tuples of arrays in one piece. Whatever is
 * of another type or shape is not looked at any further: decision.py then has it checked and brought into order. */
#include <Python.h>

#include "read.h"

/* What comes with every decision: `decision.PLAIN`. The last are the names of a stranger's fields. */
enum { ADDRESS, DOUBLE, SINGLE, BOOL, DTYPE, VIEW, OWN, HEARD, PLAN, CARRY, LEARNED, SEEN };
enum { WITH, GIVEN_CARRY, GIVEN_VIEW, GIVEN_NOMINAL, GIVEN_GAIN, TO, ARGUMENTS };
/* Fields of the named tuples in view.py, memory.py and bias.py. */
enum { VIEW_OWN, VIEW_HEARD, VIEW_SENSED };
enum { OWN_POS, OWN_QUAT, OWN_VEL, OWN_OMEGA, OWN_AGE };
enum { HEARD_MASK, HEARD_POS, HEARD_VEL, HEARD_AGE, HEARD_PLAN };
enum { CARRY_COMMANDS, CARRY_PLAN, CARRY_PLACE, CARRY_BIAS, CARRY_OK };
enum { BIAS_SINCE = 5, BIAS_MISFITS = 6 };

/* Where the next numbers go, and whether all were as they should be. */
typedef struct {
    PyObject *with;
    double *to;
    int fine;
} Reader;

static PyObject *known(const Reader *r, int which) { return PyTuple_GetItem(r->with, which); }

/* A field of a named tuple of exactly that type; NULL where it is another. */
static PyObject *field(Reader *r, PyObject *tuple, int type, int index) {
    r->fine = r->fine && tuple && (PyObject *)Py_TYPE(tuple) == known(r, type);
    PyObject *value = r->fine ? PyTuple_GetItem(tuple, index) : NULL;
    r->fine = value != NULL;
    return value;
}

static int is_of(const Reader *r, PyObject *array, int type) {
    PyObject *dtype = PyObject_GetAttr(array, known(r, DTYPE));
    Py_XDECREF(dtype); /* an array holds it, and `with` what it is compared to */
    return dtype && dtype == known(r, type);
}

/* The memory of an array of this shape; `first` and `second` are its axes. */
static int hold(PyObject *array, int axes, Py_ssize_t first, Py_ssize_t second, Py_buffer *held) {
    if (PyObject_GetBuffer(array, held, PyBUF_ND)) return 0;
    if (held->ndim == axes && (axes < 1 || held->shape[0] == first) && (axes < 2 || held->shape[1] == second)) return 1;
    PyBuffer_Release(held);
    return 0;
}

/* Numbers of double or single precision. */
static void take(Reader *r, PyObject *array, int axes, Py_ssize_t first, Py_ssize_t second) {
    Py_buffer held;
    if (!r->fine) return;
    const int is_double = is_of(r, array, DOUBLE);
    r->fine = (is_double || is_of(r, array, SINGLE)) && hold(array, axes, first, second, &held);
    if (!r->fine) return;
    const Py_ssize_t count = held.len / (is_double ? sizeof(double) : sizeof(float));
    if (is_double) memcpy(r->to, held.buf, held.len);
    for (Py_ssize_t i = 0; i < count && !is_double; i++) r->to[i] = ((const float *)held.buf)[i];
    r->to += count;
    PyBuffer_Release(&held);
}

static void take_vector(Reader *r, PyObject *array) { take(r, array, 1, 3, 0); }

/* A number of Python, or an array without axes. */
static void take_number(Reader *r, PyObject *value) {
    if (!r->fine || !PyFloat_Check(value)) {
        take(r, value, 0, 0, 0);
        return;
    }
    *r->to++ = PyFloat_AsDouble(value);
}

/* Whether a count, which is not read here, is one. */
static void look_at_count(Reader *r, PyObject *value) {
    Py_buffer held;
    if (!r->fine || PyLong_Check(value)) return;
    r->fine = hold(value, 0, 0, 0, &held);
    if (r->fine) PyBuffer_Release(&held);
}

static void take_mask(Reader *r, PyObject *array, Py_ssize_t count, unsigned char *to) {
    Py_buffer held;
    r->fine = r->fine && is_of(r, array, BOOL) && hold(array, 1, count, 0, &held);
    if (!r->fine) return;
    memcpy(to, held.buf, count);
    PyBuffer_Release(&held);
}

static void skip(Reader *r, int count) {
    memset(r->to, 0, count * sizeof(double));
    r->to += count;
}

static void take_own(Reader *r, const RmConstants *c, PyObject *own) {
    take_vector(r, field(r, own, OWN, OWN_POS));
    take_vector(r, field(r, own, OWN, OWN_VEL));
    take_number(r, field(r, own, OWN, OWN_AGE));
    if (c->look_ahead_m > 0) {
        take(r, field(r, own, OWN, OWN_QUAT), 1, 4, 0);
        take_vector(r, field(r, own, OWN, OWN_OMEGA));
    } else
        skip(r, 7);
}

static void take_memory(Reader *r, PyObject *carry, int queue) {
    PyObject *bias = field(r, carry, CARRY, CARRY_BIAS);
    for (int i = 0; i < BIAS_SINCE; i++) take_vector(r, field(r, bias, LEARNED, i));
    take_number(r, field(r, bias, LEARNED, BIAS_SINCE));
    look_at_count(r, field(r, bias, LEARNED, BIAS_MISFITS));
    look_at_count(r, field(r, carry, CARRY, CARRY_OK));
    take_vector(r, field(r, carry, CARRY, CARRY_PLACE));
    take(r, field(r, carry, CARRY, CARRY_COMMANDS), 2, queue, 4);
}

static void take_mates(Reader *r, PyObject *heard, int mates) {
    PyObject *plan = field(r, heard, HEARD, HEARD_PLAN);
    take(r, field(r, heard, HEARD, HEARD_POS), 2, mates, 3);
    take(r, field(r, heard, HEARD, HEARD_VEL), 2, mates, 3);
    take(r, field(r, heard, HEARD, HEARD_AGE), 1, mates, 0);
    for (int i = 0; i < 3; i++) take(r, field(r, plan, PLAN, i), 2, mates, 3);
}

/* Position, velocity and age of the strangers, with the mask first. */
static void find_strangers(Reader *r, const RmConstants *c, PyObject *sensed, PyObject **found) {
    if (!r->fine) return;
    if (!c->has_strangers) { /* a view that shows some is a mistake of the set-up */
        r->fine = PyTuple_Check(sensed) && (PyTuple_Size(sensed) == 0 || !PyObject_HasAttr(sensed, known(r, SEEN + 1)));
        return;
    }
    for (int i = 0; i < 4 && r->fine; i++) r->fine = (found[i] = PyObject_GetAttr(sensed, known(r, SEEN + i))) != NULL;
}

static void take_strangers(Reader *r, PyObject **found, int strangers) {
    if (!found[0]) return;
    take(r, found[1], 2, strangers, 3);
    take(r, found[2], 2, strangers, 3);
    take(r, found[3], 1, strangers, 0);
}

/* How many rows a mask has. */
static int rows_of(Reader *r, PyObject *mask) {
    Py_ssize_t count = 0;
    if (!r->fine || !mask) return 0;
    count = PyObject_Size(mask);
    r->fine = count >= 0 && count < 1 << 20;
    return r->fine ? (int)count : 0;
}

/* Everything, to where there is room for it. */
static void take_all(Reader *r, const RmConstants *c, const RmSizes *s, PyObject *const *given, PyObject **strangers) {
    PyObject *view = given[GIVEN_VIEW], *heard = field(r, view, VIEW, VIEW_HEARD);
    take_own(r, c, field(r, view, VIEW, VIEW_OWN));
    take(r, given[GIVEN_NOMINAL], 1, 4, 0);
    if (s->has_gain)
        take_number(r, given[GIVEN_GAIN]);
    else
        skip(r, 1);
    take_memory(r, given[GIVEN_CARRY], s->queue);
    take_mates(r, heard, s->mates);
    take_strangers(r, strangers, s->strangers);
    unsigned char *masks = (unsigned char *)r->to;
    take_mask(r, field(r, heard, HEARD, HEARD_MASK), s->mates, masks);
    if (strangers[0]) take_mask(r, strangers[0], s->strangers, masks + s->mates);
}

/* slack, gap, active, reason, misfit: what decision.py makes Python's objects of. */
static PyObject *told(const double *out) {
    PyObject *found = PyTuple_New(5);
    if (!found) return NULL;
    PyTuple_SetItem(found, 0, PyFloat_FromDouble(out[4]));
    PyTuple_SetItem(found, 1, PyFloat_FromDouble(out[5]));
    PyTuple_SetItem(found, 2, PyBool_FromLong(out[6] != 0));
    PyTuple_SetItem(found, 3, PyLong_FromLong((long)out[7]));
    PyTuple_SetItem(found, 4, PyBool_FromLong(out[8] != 0));
    return found;
}

static PyObject *decide_plain(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    Py_buffer to;
    PyObject *found = NULL, *strangers[4] = {0};
    if (count != ARGUMENTS || PyObject_GetBuffer(given[TO], &to, PyBUF_WRITABLE)) return NULL;
    Reader r = {given[WITH], NULL, 1};
    const RmConstants *c = PyLong_AsVoidPtr(known(&r, ADDRESS));
    find_strangers(&r, c, field(&r, given[GIVEN_VIEW], VIEW, VIEW_SENSED), strangers);
    PyObject *heard = field(&r, given[GIVEN_VIEW], VIEW, VIEW_HEARD);
    RmSizes s = {((int)(to.len / sizeof(double)) - HEAD_OUT) / 4, 0, 0, given[GIVEN_GAIN] != Py_None};
    s.mates = rows_of(&r, field(&r, heard, HEARD, HEARD_MASK)), s.strangers = rows_of(&r, strangers[0]);
    double *in = PyMem_Malloc((rm_in_size(&s) + rm_room_size(c, &s)) * sizeof(double));
    r.to = in, r.fine = r.fine && in;
    take_all(&r, c, &s, given, strangers);
    if (r.fine) {
        rm_decide(c, &s, in, to.buf, in + rm_in_size(&s));
        found = told(to.buf);
    } else
        PyErr_Clear();
    PyMem_Free(in);
    PyBuffer_Release(&to);
    for (int i = 0; i < 4; i++) Py_XDECREF(strangers[i]);
    return found || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

static size_t function_of(PyMethodDef *method) {
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *function = PyCFunction_New(method, NULL);
    PyGILState_Release(state);
    return (size_t)function;
}

size_t rm_plain(void) {
    static PyMethodDef method = {"decide_plain", (PyCFunction)(void (*)(void))decide_plain, METH_FASTCALL, NULL};
    return function_of(&method);
}
