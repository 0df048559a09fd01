// The type Call: the sizes and strides of a GEMM, fixed; each run brings addresses and numbers, a stream and workspace.
//
// The addresses of a run are one tuple: A, B, C, D, the offsets and the counts of groups, the scales of A and of B, the
// indices that gather and scatter rows, each 0 where there is none, then the arguments in the order in which the call
// was made with them; a number in place of an address where the argument is one.
#include <string>
#include <vector>

#include "python.hpp"

namespace gantry::python {

namespace {

constexpr int kMatrices = 4;
constexpr int kOperands = kMatrices + 6;

struct Plan {
  gantry_call call = GANTRY_CALL;
  std::vector<gantry_argument> arguments{};
  std::vector<std::string> names{};
  bool checks = false;  // groups on the device, before each run: no other call reads what lies there
};

struct CallObject {
  PyObject_HEAD PyObject* gemm;
  Plan* plan;
};

CallObject* of(PyObject* self) { return reinterpret_cast<CallObject*>(self); }
const gantry_gemm* gemm_of(PyObject* self) { return reinterpret_cast<GemmObject*>(of(self)->gemm)->handle; }

bool read_matrices(PyObject* list, gantry_call& out) {
  gantry_matrix* const all[kMatrices] = {&out.a, &out.b, &out.c, &out.d};
  if (PyTuple_Size(list) != kMatrices) {
    PyErr_SetString(PyExc_TypeError, "strides of four matrices are needed");
    return false;
  }
  for (int i = 0; i < kMatrices; ++i) {
    long long stride = 0, batch_stride = 0;
    if (PyArg_ParseTuple(PyTuple_GetItem(list, i), "LL", &stride, &batch_stride) == 0) return false;
    all[i]->stride = stride;
    all[i]->batch_stride = batch_stride;
  }
  return true;
}

bool read_scale(PyObject* strides, gantry_scale& out) {
  long long stride = 0, k_stride = 0, batch_stride = 0;
  if (PyArg_ParseTuple(strides, "LLL", &stride, &k_stride, &batch_stride) == 0) return false;
  out.stride = stride;
  out.k_stride = k_stride;
  out.batch_stride = batch_stride;
  return true;
}

bool read_arguments(PyObject* list, Plan& out) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(list); ++i) {
    const char* name = nullptr;
    long long stride = 0, batch_stride = 0;
    gantry_argument one = GANTRY_ARGUMENT;
    if (PyArg_ParseTuple(PyTuple_GetItem(list, i), "spLL", &name, &one.is_number, &stride, &batch_stride) == 0) {
      return false;
    }
    one.stride = stride;
    one.batch_stride = batch_stride;
    out.names.emplace_back(name);
    out.arguments.push_back(one);
  }
  for (std::size_t i = 0; i < out.names.size(); ++i) out.arguments[i].name = out.names[i].c_str();
  return true;
}

PyObject* make(PyTypeObject* type, PyObject* positional, PyObject* named) {
  static const char* names[] = {"gemm",      "sizes", "strides", "scales", "arguments",
                                "dependent", "rows",  "check",   nullptr};
  PyObject *gemm = nullptr, *matrices = nullptr, *arguments = nullptr, *scale_a = nullptr, *scale_b = nullptr;
  PyObject* dependent = Py_None;
  long long m = 0, n = 0, k = 0, batch = 0, gather_rows = 0, scatter_rows = 0;
  int check = 0;
  if (PyArg_ParseTupleAndKeywords(positional, named, "O!(LLLL)O!(O!O!)O!|O(LL)p", const_cast<char**>(names), gemm_type,
                                  &gemm, &m, &n, &k, &batch, &PyTuple_Type, &matrices, &PyTuple_Type, &scale_a,
                                  &PyTuple_Type, &scale_b, &PyTuple_Type, &arguments, &dependent, &gather_rows,
                                  &scatter_rows, &check) == 0) {
    return nullptr;
  }
  const int is_dependent = dependent == Py_None ? GANTRY_DEPENDENT_AUTOMATIC : PyObject_IsTrue(dependent);
  if (is_dependent < 0) return nullptr;
  Ref self(PyType_GenericAlloc(type, 0));
  if (!self) return nullptr;
  Plan* plan = of(self.get())->plan = new Plan;
  Py_INCREF(gemm);
  of(self.get())->gemm = gemm;
  plan->call.m = m;
  plan->call.n = n;
  plan->call.k = k;
  plan->call.batch = batch;
  plan->call.dependent = is_dependent;
  plan->call.gather_rows = gather_rows;
  plan->call.scatter_rows = scatter_rows;
  plan->checks = check != 0;
  const bool read = read_matrices(matrices, plan->call) && read_scale(scale_a, plan->call.scale_a) &&
                    read_scale(scale_b, plan->call.scale_b) && read_arguments(arguments, *plan);
  return read ? self.release() : nullptr;
}

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(of(self)->gemm);
  delete of(self)->plan;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// A call with the addresses of one run; threads that run one Call have one each.
struct Filled {
  static constexpr std::size_t kMost = 64;
  gantry_call call;
  gantry_argument arguments[kMost];
};

bool read_address(PyObject* item, void*& out) {
  out = reinterpret_cast<void*>(PyLong_AsUnsignedLongLong(item));
  return PyErr_Occurred() == nullptr;
}

template <class T>
bool read_pointer(PyObject* item, const T*& out) {
  void* address = nullptr;
  if (!read_address(item, address)) return false;
  out = static_cast<const T*>(address);
  return true;
}

bool fill_operands(PyObject* addresses, gantry_call& out) {
  gantry_matrix* const all[kMatrices] = {&out.a, &out.b, &out.c, &out.d};
  for (int i = 0; i < kMatrices; ++i) {
    if (!read_address(PyTuple_GetItem(addresses, i), all[i]->data)) return false;
  }
  return read_pointer(PyTuple_GetItem(addresses, kMatrices), out.group_offsets) &&
         read_pointer(PyTuple_GetItem(addresses, kMatrices + 1), out.group_counts) &&
         read_pointer(PyTuple_GetItem(addresses, kMatrices + 2), out.scale_a.data) &&
         read_pointer(PyTuple_GetItem(addresses, kMatrices + 3), out.scale_b.data) &&
         read_pointer(PyTuple_GetItem(addresses, kMatrices + 4), out.gather_index) &&
         read_pointer(PyTuple_GetItem(addresses, kMatrices + 5), out.scatter_index);
}

bool fill(PyObject* self, PyObject* addresses, Filled& out) {
  const Plan& plan = *of(self)->plan;
  const std::size_t count = plan.arguments.size();
  if (PyTuple_Check(addresses) == 0 || count > Filled::kMost ||
      PyTuple_Size(addresses) != static_cast<Py_ssize_t>(kOperands + count)) {
    PyErr_Format(PyExc_TypeError, "a tuple of %zu addresses is needed", kOperands + count);
    return false;
  }
  out.call = plan.call;
  if (!fill_operands(addresses, out.call)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GetItem(addresses, static_cast<Py_ssize_t>(kOperands + i));
    gantry_argument& argument = out.arguments[i] = plan.arguments[i];
    if (argument.is_number != 0) {
      argument.value = static_cast<float>(PyFloat_AsDouble(item));
      if (PyErr_Occurred() != nullptr) return false;
    } else if (!read_address(item, argument.data)) {
      return false;
    }
  }
  out.call.arguments = out.arguments;
  out.call.argument_count = static_cast<int32_t>(count);
  return true;
}

void set_check(PyObject* self, gantry_call& out) {
  out.check = of(self)->plan->checks ? GANTRY_CHECK_DEVICE : GANTRY_CHECK_NONE;
}

PyObject* done(gantry_status status) {
  if (status != GANTRY_OK) return raise_error(status);
  Py_RETURN_NONE;
}

// run(addresses, stream, workspace, workspace_bytes)
PyObject* run(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  Filled filled;
  if (count != 4) {
    PyErr_SetString(PyExc_TypeError, "run takes addresses, stream, workspace and its bytes");
    return nullptr;
  }
  if (!fill(self, given[0], filled) || !read_address(given[1], filled.call.stream) ||
      !read_address(given[2], filled.call.workspace)) {
    return nullptr;
  }
  filled.call.workspace_bytes = static_cast<std::size_t>(PyLong_AsUnsignedLongLong(given[3]));
  if (PyErr_Occurred() != nullptr) return nullptr;
  set_check(self, filled.call);
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_gemm_run(gemm_of(self), &filled.call);
  }
  return done(status);
}

PyObject* check(PyObject* self, PyObject* addresses) {
  Filled filled;
  if (!fill(self, addresses, filled)) return nullptr;
  return done(gantry_gemm_check(gemm_of(self), &filled.call));
}

PyObject* workspace(PyObject* self, PyObject* addresses) {
  Filled filled;
  if (!fill(self, addresses, filled)) return nullptr;
  std::size_t bytes = 0;
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_gemm_workspace(gemm_of(self), &filled.call, &bytes);
  }
  return status == GANTRY_OK ? PyLong_FromSize_t(bytes) : raise_error(status);
}

PyObject* explain(PyObject* self, PyObject* addresses) {
  Filled filled;
  if (!fill(self, addresses, filled)) return nullptr;
  std::string text(1 << 14, 0);
  std::size_t length = text.size();
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    while (status == GANTRY_OK && length >= text.size()) {
      text.resize(length + 1);
      status = gantry_gemm_explain(gemm_of(self), &filled.call, text.data(), text.size(), &length);
    }
  }
  if (status != GANTRY_OK) return raise_error(status);
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(length), "replace");
}

// simulate(addresses, seed, trace_file): the report as text and as JSON.
PyObject* simulate(PyObject* self, PyObject* positional) {
  gantry_simulation_options options = GANTRY_SIMULATION_OPTIONS;
  PyObject* addresses = nullptr;
  unsigned long long seed = 0;
  if (PyArg_ParseTuple(positional, "OKz", &addresses, &seed, &options.trace_file) == 0) return nullptr;
  Filled filled;
  if (!fill(self, addresses, filled)) return nullptr;
  options.seed = seed;
  set_check(self, filled.call);
  gantry_report* report = nullptr;
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_gemm_simulate(gemm_of(self), &filled.call, &options, &report);
  }
  if (report == nullptr) return raise_error(status);
  PyObject* out = Py_BuildValue("(ss)", gantry_report_text(report), gantry_report_json(report));
  gantry_report_destroy(report);
  return out;
}

}  // namespace

bool add_call_type(PyObject* module) {
  static PyMethodDef methods[] = {
      {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)), METH_FASTCALL, nullptr},
      {"check", check, METH_O, nullptr},
      {"workspace", workspace, METH_O, nullptr},
      {"explain", explain, METH_O, nullptr},
      {"simulate", simulate, METH_VARARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"gantry._core.Call", sizeof(CallObject), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Call", type.get()) == 0;
}

}  // namespace gantry::python
