// The extension module gantry._core: the C interface as Python objects. What arrays, shapes and defaults mean is
// decided in Python; here are addresses and strides.
#include <dlfcn.h>

#include "python.hpp"

namespace gantry::python {

namespace {

PyObject* error_maker = nullptr;

PyObject* reasons() {
  const int32_t count = gantry_error_count();
  Ref out(PyTuple_New(count));
  if (!out) return nullptr;
  for (int32_t i = 0; i < count; ++i) {
    gantry_reason r{};
    gantry_error_reason(i, &r);
    PyObject* one = Py_BuildValue("(issLLs)", r.status, r.rule, r.operand, static_cast<long long>(r.actual),
                                  static_cast<long long>(r.nearest), r.sentence);
    if (one == nullptr || PyTuple_SetItem(out.get(), i, one) != 0) return nullptr;
  }
  return out.release();
}

PyObject* version(PyObject* /*module*/, PyObject* /*none*/) { return PyLong_FromLong(gantry_version()); }

// (short name, numeric Python's name, bits)
PyObject* element(PyObject* /*module*/, PyObject* name) {
  const char* text = nullptr;
  if (!read_text(name, &text)) return nullptr;
  gantry_element found{};
  if (const gantry_status status = gantry_find_element(text, &found); status != GANTRY_OK) return raise_error(status);
  return Py_BuildValue("(ssi)", found.name, found.python_name, found.bits);
}

// Where libgantry lies, for other shared objects that link it.
PyObject* library_path(PyObject* /*module*/, PyObject* /*none*/) {
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&gantry_version), &found) == 0) {
    PyErr_SetString(PyExc_RuntimeError, "libgantry is in no file that the loader knows");
    return nullptr;
  }
  return PyUnicode_DecodeFSDefault(found.dli_fname);
}

bool add_numbers(PyObject* module) {
  struct Number {
    const char* name;
    long value;
  };
  const Number all[] = {{"SCALAR", GANTRY_ARGUMENT_SCALAR},
                        {"ROW", GANTRY_ARGUMENT_ROW},
                        {"COLUMN", GANTRY_ARGUMENT_COLUMN},
                        {"AUX_IN", GANTRY_ARGUMENT_AUX_IN},
                        {"AUX_OUT", GANTRY_ARGUMENT_AUX_OUT},
                        {"REDUCE_SCALAR", GANTRY_ARGUMENT_REDUCE_SCALAR},
                        {"REDUCE_ROW", GANTRY_ARGUMENT_REDUCE_ROW},
                        {"REDUCE_COLUMN", GANTRY_ARGUMENT_REDUCE_COLUMN},
                        {"MACHINE_AUTOMATIC", GANTRY_MACHINE_AUTOMATIC},
                        {"MACHINE_GPU", GANTRY_MACHINE_GPU},
                        {"MACHINE_SIMULATED", GANTRY_MACHINE_SIMULATED},
                        {"COMPILE_BACKGROUND", GANTRY_COMPILE_BACKGROUND},
                        {"COMPILE_WAIT", GANTRY_COMPILE_WAIT},
                        {"COMPILE_NEVER", GANTRY_COMPILE_NEVER}};
  for (const Number& one : all) {
    if (PyModule_AddIntConstant(module, one.name, one.value) != 0) return false;
  }
  return true;
}

}  // namespace

PyObject* raise_error(gantry_status status) {
  if (error_maker == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, gantry_error_message());
    return nullptr;
  }
  const Ref all(reasons());
  if (!all) return nullptr;
  const Ref error(PyObject_CallFunction(error_maker, "issO", status, gantry_status_name(status), gantry_error_message(),
                                        all.get()));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  return nullptr;
}

PyObject* set_error_maker(PyObject* /*module*/, PyObject* maker) {
  Py_INCREF(maker);
  Py_XDECREF(error_maker);
  error_maker = maker;
  Py_RETURN_NONE;
}

bool read_text(PyObject* object, const char** out) {
  if (object == nullptr || object == Py_None) return true;
  *out = PyUnicode_AsUTF8AndSize(object, nullptr);
  return *out != nullptr;
}

}  // namespace gantry::python

PyMODINIT_FUNC PyInit__core() {
  namespace gp = gantry::python;
  static PyMethodDef functions[] = {{"version", gp::version, METH_NOARGS, nullptr},
                                    {"element", gp::element, METH_O, nullptr},
                                    {"library_path", gp::library_path, METH_NOARGS, nullptr},
                                    {"set_error_maker", gp::set_error_maker, METH_O, nullptr},
                                    {"view_dlpack", gp::view_dlpack, METH_O, nullptr},
                                    {"view_buffer", gp::view_buffer, METH_O, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "gantry._core", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  gp::Ref module(PyModule_Create(&definition));
  if (!module || !gp::add_context_type(module.get()) || !gp::add_gemm_type(module.get()) ||
      !gp::add_call_type(module.get()) || !gp::add_numbers(module.get())) {
    return nullptr;
  }
  return module.release();
}
