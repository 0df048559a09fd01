// What the extension's files share: the limited API of CPython 3.11, references that count themselves, and the way from
// a gantry_status to an exception.
//
// Every function that returns a PyObject* returns a new reference, or null with an exception set. The GIL is released
// around calls of the library that compile, run or wait.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <cstdint>
#include <string>
#include <utility>

#include <Python.h>

#include <gantry/gantry.h>

namespace gantry::python {

// A reference that is given up at the end of the scope.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Threads that want the GIL have it while this lives.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

// Sets the exception of the last error of this thread. Returns null.
PyObject* raise_error(gantry_status status);
// Keeps what makes an exception of (status, sentence, reasons).
PyObject* set_error_maker(PyObject* module, PyObject* maker);

// Text of a str that may be None; false with an exception set where it is neither. The text lives as long as the str.
bool read_text(PyObject* object, const char** out);

// Calls of a Context, Gemm or Call object that was never made raise; these give the handle of one that was.
struct ContextObject {
  PyObject_HEAD gantry_context* handle;
};
struct GemmObject {
  PyObject_HEAD gantry_gemm* handle;
};

// Types of this module; kept for as long as the process lives.
extern PyTypeObject* context_type;
extern PyTypeObject* gemm_type;
bool add_context_type(PyObject* module);
bool add_gemm_type(PyObject* module);
bool add_call_type(PyObject* module);

// Functions of the module that look into arrays.
PyObject* view_dlpack(PyObject* module, PyObject* capsule);
PyObject* view_buffer(PyObject* module, PyObject* object);

}  // namespace gantry::python
