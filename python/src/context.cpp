// The type Context: a gantry_context.
#include <vector>

#include "python.hpp"

namespace gantry::python {

PyTypeObject* context_type = nullptr;

namespace {

// A list of texts, which live as long as its items.
bool read_texts(PyObject* list, std::vector<const char*>& out) {
  if (list == nullptr || list == Py_None) return true;
  const Py_ssize_t count = PySequence_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref item(PySequence_GetItem(list, i));  // the list keeps it
    const char* text = nullptr;
    if (!item || !read_text(item.get(), &text)) return false;
    out.push_back(text);
  }
  return count >= 0;
}

PyObject* make(PyTypeObject* type, PyObject* positional, PyObject* named) {
  static const char* names[] = {
      "machine", "device", "policy", "most_kernels", "most_plans", "compile_threads", "cache_directory", "tuning_file",
      "shipped", "sms",    "seed",   "checker",      nullptr};
  gantry_context_options options = GANTRY_CONTEXT_OPTIONS;
  PyObject *cache = nullptr, *tuning = nullptr, *shipped = nullptr;
  unsigned long long seed = 0;
  int checker = 1;
  if (PyArg_ParseTupleAndKeywords(positional, named, "|$iiiiiiOOOiKp", const_cast<char**>(names), &options.machine,
                                  &options.device, &options.policy, &options.most_kernels, &options.most_plans,
                                  &options.compile_threads, &cache, &tuning, &shipped, &options.simulated_sms, &seed,
                                  &checker) == 0) {
    return nullptr;
  }
  std::vector<const char*> folders;
  if (!read_text(cache, &options.cache_directory) || !read_text(tuning, &options.tuning_file) ||
      !read_texts(shipped, folders)) {
    return nullptr;
  }
  options.shipped = folders.data();
  options.shipped_count = static_cast<int32_t>(folders.size());
  options.simulated_seed = seed;
  options.simulated_checker = checker;
  Ref self(PyType_GenericAlloc(type, 0));
  if (!self) return nullptr;
  auto* context = reinterpret_cast<ContextObject*>(self.get());
  gantry_status status = GANTRY_OK;
  {
    const WithoutGil released;
    status = gantry_context_create(&options, &context->handle);
  }
  return status == GANTRY_OK ? self.release() : raise_error(status);
}

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto* context = reinterpret_cast<ContextObject*>(self);
  if (context->handle != nullptr) {
    const WithoutGil released;  // compilations end first
    gantry_context_destroy(context->handle);
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* simulated(PyObject* self, void* /*closure*/) {
  return PyBool_FromLong(gantry_context_is_simulated(reinterpret_cast<ContextObject*>(self)->handle) == 1 ? 1 : 0);
}
PyObject* notes(PyObject* self, void* /*closure*/) {
  return PyUnicode_FromString(gantry_context_notes(reinterpret_cast<ContextObject*>(self)->handle));
}

PyObject* wait_for_compilations(PyObject* self, PyObject* /*nothing*/) {
  {
    const WithoutGil released;
    gantry_context_wait_for_compilations(reinterpret_cast<ContextObject*>(self)->handle);
  }
  Py_RETURN_NONE;
}

}  // namespace

bool add_context_type(PyObject* module) {
  static PyGetSetDef fields[] = {{"simulated", simulated, nullptr, nullptr, nullptr},
                                 {"notes", notes, nullptr, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"wait_for_compilations", wait_for_compilations, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                                {Py_tp_methods, reinterpret_cast<void*>(methods)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(drop)},
                                {Py_tp_getset, fields},
                                {0, nullptr}};
  static PyType_Spec spec = {"gantry._core.Context", sizeof(ContextObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  context_type = reinterpret_cast<PyTypeObject*>(type);
  return type != nullptr && PyModule_AddObjectRef(module, "Context", type) == 0;
}

}  // namespace gantry::python
