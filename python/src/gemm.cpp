// The type Gemm: a gantry_gemm, its elements and the arguments of its epilogue.
#include <vector>

#include "python.hpp"

namespace gantry::python {

PyTypeObject* gemm_type = nullptr;

namespace {

gantry_gemm* handle_of(PyObject* self) { return reinterpret_cast<GemmObject*>(self)->handle; }

// (name, parameters, body) each; texts live as long as the tuples.
bool read_functions(PyObject* list, std::vector<gantry_function>& out) {
  if (list == nullptr || list == Py_None) return true;
  const Py_ssize_t count = PyTuple_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    gantry_function f{};
    if (PyArg_ParseTuple(PyTuple_GetItem(list, i), "sss", &f.name, &f.parameters, &f.body) == 0) return false;
    out.push_back(f);
  }
  return count >= 0;
}

bool read_rows(PyObject* list, std::vector<int64_t>& out) {
  if (list == nullptr || list == Py_None) return true;
  const Py_ssize_t count = PyTuple_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    out.push_back(PyLong_AsLongLong(PyTuple_GetItem(list, i)));
    if (PyErr_Occurred() != nullptr) return false;
  }
  return count >= 0;
}

PyObject* make(PyTypeObject* type, PyObject* positional, PyObject* named) {
  static const char* names[] = {"context",
                                "a",
                                "b",
                                "c",
                                "d",
                                "epilogue",
                                "a_is_m_major",
                                "b_is_n_major",
                                "c_is_column_major",
                                "d_is_column_major",
                                "promote",
                                "tile",
                                "cluster",
                                "stages",
                                "functions",
                                "groups",
                                "scale_a",
                                "scale_b",
                                "gate",
                                "gather_a",
                                "scatter_d",
                                "expected_rows",
                                nullptr};
  gantry_gemm_options o = GANTRY_GEMM_OPTIONS;
  PyObject *context = nullptr, *functions = nullptr, *expected = nullptr;
  if (PyArg_ParseTupleAndKeywords(positional, named, "O!|$zzzzzppppp(ii)(ii)iOiiiiiiO", const_cast<char**>(names),
                                  context_type, &context, &o.a, &o.b, &o.c, &o.d, &o.epilogue, &o.a_is_m_major,
                                  &o.b_is_n_major, &o.c_is_column_major, &o.d_is_column_major, &o.promote, &o.tile_m,
                                  &o.tile_n, &o.cluster_m, &o.cluster_n, &o.stages, &functions, &o.groups, &o.scale_a,
                                  &o.scale_b, &o.gate, &o.gather_a, &o.scatter_d, &expected) == 0) {
    return nullptr;
  }
  std::vector<gantry_function> own;
  std::vector<int64_t> rows;
  if (!read_functions(functions, own) || !read_rows(expected, rows)) return nullptr;
  o.functions = own.data();
  o.function_count = static_cast<int32_t>(own.size());
  o.expected_rows = rows.data();
  o.expected_row_count = static_cast<int32_t>(rows.size());
  Ref self(PyType_GenericAlloc(type, 0));
  if (!self) return nullptr;
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_gemm_create(reinterpret_cast<ContextObject*>(context)->handle, &o,
                                &reinterpret_cast<GemmObject*>(self.get())->handle);
  }
  return status == GANTRY_OK ? self.release() : raise_error(status);
}

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (handle_of(self) != nullptr) {
    const WithoutGil released;
    gantry_gemm_destroy(handle_of(self));
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// (name, element, kind, is column-major, is optional) each.
PyObject* arguments(PyObject* self, void* /*closure*/) {
  const int32_t count = gantry_gemm_argument_count(handle_of(self));
  Ref out(PyTuple_New(count));
  if (!out) return nullptr;
  for (int32_t i = 0; i < count; ++i) {
    gantry_argument_info info{};
    if (const gantry_status status = gantry_gemm_argument(handle_of(self), i, &info); status != GANTRY_OK) {
      return raise_error(status);
    }
    PyObject* one =
        Py_BuildValue("(ssiOOi)", info.name, info.element, info.kind, info.is_column_major != 0 ? Py_True : Py_False,
                      info.is_optional != 0 ? Py_True : Py_False, info.block_columns);
    if (one == nullptr || PyTuple_SetItem(out.get(), i, one) != 0) return nullptr;
  }
  return out.release();
}

PyObject* elements(PyObject* self, void* /*closure*/) {
  const gantry_gemm* gemm = handle_of(self);
  return Py_BuildValue("(ssss)", gantry_gemm_element(gemm, 'A'), gantry_gemm_element(gemm, 'B'),
                       gantry_gemm_element(gemm, 'C'), gantry_gemm_element(gemm, 'D'));
}

PyObject* kernels(PyObject* self, void* /*closure*/) { return PyLong_FromLong(gantry_gemm_kernels(handle_of(self))); }

// Calls a Python function while warm_up waits. What it raises is raised when warm_up has ended.
struct Progress {
  PyObject* function = nullptr;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;

  static void tell(int32_t done, int32_t all, void* user) {
    auto* self = static_cast<Progress*>(user);
    const PyGILState_STATE state = PyGILState_Ensure();
    if (self->type == nullptr) {
      const Ref answer(PyObject_CallFunction(self->function, "ii", done, all));
      if (!answer) PyErr_Fetch(&self->type, &self->value, &self->traceback);
    }
    PyGILState_Release(state);
  }
};

PyObject* warm_up(PyObject* self, PyObject* positional) {
  PyObject *list = nullptr, *function = nullptr;
  if (PyArg_ParseTuple(positional, "O!O", &PyTuple_Type, &list, &function) == 0) return nullptr;
  std::vector<gantry_size> sizes;
  for (Py_ssize_t i = 0; i < PyTuple_Size(list); ++i) {
    long long m = 0, n = 0, k = 0, batch = 0;
    if (PyArg_ParseTuple(PyTuple_GetItem(list, i), "LLLL", &m, &n, &k, &batch) == 0) return nullptr;
    sizes.push_back({m, n, k, batch});
  }
  Progress progress;
  progress.function = function;
  const bool tells = function != Py_None;
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_gemm_warm_up(handle_of(self), sizes.data(), static_cast<int32_t>(sizes.size()),
                                 tells ? Progress::tell : nullptr, &progress);
  }
  if (progress.type != nullptr) {
    PyErr_Restore(progress.type, progress.value, progress.traceback);
    return nullptr;
  }
  if (status != GANTRY_OK) return raise_error(status);
  Py_RETURN_NONE;
}

}  // namespace

bool add_gemm_type(PyObject* module) {
  static PyGetSetDef fields[] = {{"arguments", arguments, nullptr, nullptr, nullptr},
                                 {"elements", elements, nullptr, nullptr, nullptr},
                                 {"kernels", kernels, nullptr, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"warm_up", warm_up, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
                                {Py_tp_getset, fields},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"gantry._core.Gemm", sizeof(GemmObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  gemm_type = reinterpret_cast<PyTypeObject*>(type);
  return type != nullptr && PyModule_AddObjectRef(module, "Gemm", type) == 0;
}

}  // namespace gantry::python
