/* A decision of a certified robot straight from Python's objects, as `plain.c` reads them. */
#include "course.h"

/* What comes with every decision, up to the name of `dtype` as for a decision of the filter: the type of whole numbers, the
 * address of how the arrays of the memory lie, then those of the decision, four numbers an array: its kind, how many axes,
 * and how long two of them are; the numbers of teammates and strangers; whether there is a gain; and how many numbers what is
 * given takes. */
enum { INTEGER = DTYPE + 1, LAYOUT, TEAMMATES, STRANGERS, GAINED, SIZE_GIVEN };
enum { NUMBERS, INTEGERS, BOOLS, NO_MORE };
enum { OF_ROBOT, OLD_MEMORY, DECISION, NEW_MEMORY, ANSWER, NUM_ARGUMENTS };

/* Where the next array goes, and how it should lie. */
typedef struct {
    Reader reader;
    char *to;
    const int *next;
} Packer;

static void pack_array(Packer *p, PyObject *array) {
    const int *next = p->next, kind = next[0], axes = next[1], size = kind == BOOLS ? 1 : sizeof(double);
    Py_buffer held;
    Reader *r = &p->reader;
    r->fine = r->fine && kind != NO_MORE;
    if (!r->fine) return;
    p->next += 4;
    p->to += (size - (uintptr_t)p->to % size) % size;
    char *const to = p->to;
    p->to += (Py_ssize_t)size * next[2] * next[3];
    if (kind == NUMBERS) {
        r->to = (double *)to;
        if (axes)
            take(r, array, axes, next[2], next[3]);
        else
            take_number(r, array);
        return;
    }
    r->fine = is_of(r, array, kind == BOOLS ? BOOL : INTEGER) && hold(array, axes, next[2], next[3], &held);
    if (!r->fine) return;
    memcpy(to, held.buf, held.len);
    PyBuffer_Release(&held);
}

/* Arrays of tuples in tuples, one after the other. */
static void pack(Packer *p, PyObject *tree) {
    const Py_ssize_t count = PyTuple_Check(tree) ? PyTuple_Size(tree) : 0;
    if (!PyTuple_Check(tree)) pack_array(p, tree);
    for (Py_ssize_t i = 0; i < count && p->reader.fine; i++) pack(p, PyTuple_GetItem(tree, i));
}

/* Everything of a tree, to where there is room for it; whether it was as it should be. */
static int pack_all(Packer *p, PyObject *tree, void *to) {
    p->to = to;
    if (p->reader.fine) pack(p, tree);
    p->reader.fine = p->reader.fine && *p->next == NO_MORE;
    p->next += 4;
    return p->reader.fine;
}

static PyObject *certify_plain(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    Py_buffer memory, answer;
    if (count != NUM_ARGUMENTS || PyObject_GetBuffer(given[NEW_MEMORY], &memory, PyBUF_WRITABLE)) return NULL;
    if (PyObject_GetBuffer(given[ANSWER], &answer, PyBUF_WRITABLE)) {
        PyBuffer_Release(&memory);
        return NULL;
    }
    PyObject *with = given[OF_ROBOT];
    const RmCertificate *c = PyLong_AsVoidPtr(PyTuple_GetItem(with, ADDRESS));
    const RmAround around = {(int)PyLong_AsLong(PyTuple_GetItem(with, TEAMMATES)),
                             (int)PyLong_AsLong(PyTuple_GetItem(with, STRANGERS)),
                             (int)PyLong_AsLong(PyTuple_GetItem(with, GAINED))};
    const int size = (int)PyLong_AsLong(PyTuple_GetItem(with, SIZE_GIVEN));
    Packer p = {{with, NULL, 1}, NULL, PyLong_AsVoidPtr(PyTuple_GetItem(with, LAYOUT))};
    double *room = PyMem_Malloc((rm_certify_room(c, &around) + size) * sizeof(double));
    const int fine = room && pack_all(&p, given[OLD_MEMORY], memory.buf) && pack_all(&p, given[DECISION], room);
    if (fine)
        rm_certify(1, c, &around, memory.buf, (char *)room, answer.buf, room + size);
    else
        PyErr_Clear();
    PyMem_Free(room);
    PyBuffer_Release(&memory);
    PyBuffer_Release(&answer);
    return PyBool_FromLong(fine);
}

size_t rm_plain_certificate(void) {
    static PyMethodDef method = {"certify_plain", (PyCFunction)(void (*)(void))certify_plain, METH_FASTCALL, NULL};
    return function_of(&method);
}
