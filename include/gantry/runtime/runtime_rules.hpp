// Why there is no compiler, no image, no module or no GPU, why the cache is not used, or what the driver refused: the
// rules by which the runtime refuses. A Status has the name of the rule beside the sentence for people; programs and
// tests look at the rule.
//
// Sentences quote paths and what compilers and the driver said, so they are as long as they need to be: here is the
// name of each rule and the code of its Status, and the sentence is written where the quoted text is at hand.
//
// Example:
//     using namespace gantry;
//     const Status none = runtime::failure_of(runtime::RuntimeRule::nvcc_missing, "there is no nvcc");
//     const bool right = runtime::has(none, runtime::RuntimeRule::nvcc_missing);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

// clang-format off
#define GANTRY_RUNTIME_RULES(X)                                                                                        \
  X(nvcc_missing, compile_failed)             /* neither named, nor on the PATH, nor in the usual folder */            \
  X(host_compiler_missing, compile_failed)    /* neither g++ nor clang++ */                                            \
  X(nvrtc_missing, compile_failed)            /* nowhere where libraries are looked for */                             \
  X(named_compiler_missing, compile_failed)   /* a variable of the environment names what is not there */              \
  X(compiler_unusable, compile_failed)        /* it does not tell its version, or lacks a function */                  \
  X(compiler_too_old, compile_failed)                                                                                  \
  X(compiler_newer_than_driver, compile_failed)                                                                        \
  X(compiler_files, compile_failed)           /* no folder for the source, or no image in it afterwards */             \
  X(process_not_started, compile_failed)      /* a compiler's, as the next two */                                      \
  X(process_too_long, compile_failed)         /* it was ended with all that it had started */                          \
  X(process_lost, compile_failed)             /* somebody ended the process that watches it */                         \
  X(compiler_failed, compile_failed)          /* it ended with an error that is none of Gantry's own */                \
  X(configuration_refused, compile_failed)    /* by a static assertion of Gantry: another attempt ends alike */        \
  X(folder_missing, invalid_argument)         /* none was named, and HOME is not set */                                \
  X(folder_not_made, invalid_argument)                                                                                 \
  X(folder_not_plain, invalid_argument)       /* a link, a file, a pipe or a device is in its place */                 \
  X(folder_not_opened, invalid_argument)                                                                               \
  X(folder_not_writable, invalid_argument)                                                                             \
  X(open_to_others, invalid_argument)         /* other users can enter the folder */                                   \
  X(owned_by_another, invalid_argument)       /* the folder or the file */                                             \
  X(writable_by_others, invalid_argument)     /* likewise */                                                           \
  X(file_missing, invalid_argument)                                                                                    \
  X(file_not_plain, invalid_argument)         /* a link, a folder, a pipe or a device is in its place */               \
  X(file_not_read, invalid_argument)                                                                                   \
  X(file_too_large, invalid_argument)                                                                                  \
  X(file_not_written, invalid_argument)       /* there is no room for it, for example */                               \
  X(lock_not_taken, invalid_argument)         /* the file system has no locks, for example */                          \
  X(lock_held, invalid_argument)              /* by a process that shows no life */                                    \
  X(entry_damaged, invalid_argument)          /* altered, cut off, or of another name */                               \
  X(module_not_loaded, compile_failed)                                                                                 \
  X(module_of_another, compile_failed)        /* of another version of Gantry, or of another design */                 \
  X(driver_missing, no_device)                                                                                         \
  X(driver_too_old, no_device)                                                                                         \
  X(device_missing, no_device)                                                                                         \
  X(device_unusable, no_device)                                                                                        \
  X(device_unsupported, no_device)            /* it is not of compute capability 9.0 */                                \
  X(device_call_failed, device_failed)        /* the driver refused a call */                                          \
  X(device_out_of_memory, out_of_memory)                                                                               \
  X(map_not_encoded, device_failed)           /* a tensor map breaks a rule of TMA */                                  \
  X(host_out_of_memory, out_of_memory)                                                                                 \
  X(thread_not_started, out_of_memory)                                                                                 \
  X(kernel_missing, no_kernel)                /* it is not kept, and the policy is never to compile */                 \
  X(kernel_while_recording, no_kernel)        /* none is loaded, and the stream records a CUDA graph */                \
  X(check_while_recording, invalid_argument)  /* a check of what is on the device waits for the stream */              \
  X(report_of_a_gpu, invalid_argument)        /* only the simulated SM gives one */                                    \
  X(tuning_file_missing, invalid_argument)                                                                             \
  X(findings_left_out, invalid_argument)      /* more is wrong than is named */                                        \
  X(context_option, invalid_argument)         /* it is out of its range */                                             \
  X(function_empty, invalid_argument)         /* no context made it */                                                 \
  X(trace_not_written, invalid_argument)      /* of a run on the simulated SM */                                       \
  X(internal_error, invalid_argument)         /* an exception that is a mistake of the library */
// clang-format on

enum class RuntimeRule : std::uint8_t {
#define GANTRY_X(id, code) id,
  GANTRY_RUNTIME_RULES(GANTRY_X)
#undef GANTRY_X
};

inline const char* to_text(RuntimeRule rule) {
  switch (rule) {
#define GANTRY_X(id, code) \
  case RuntimeRule::id:    \
    return #id;
    GANTRY_RUNTIME_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

inline StatusCode code_of(RuntimeRule rule) {
  switch (rule) {
#define GANTRY_X(id, code) \
  case RuntimeRule::id:    \
    return StatusCode::code;
    GANTRY_RUNTIME_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return StatusCode::compile_failed;
}

// `operand`: what the rule is about, such as the variable of the environment that names a compiler.
inline Status failure_of(RuntimeRule rule, std::string sentence, std::string operand = {}) {
  Status out;
  out.add(
      {.code = code_of(rule), .rule = to_text(rule), .operand = std::move(operand), .sentence = std::move(sentence)});
  return out;
}

// The same, of a number that is out of its range.
inline Status out_of_range(RuntimeRule rule, const std::string& what, std::int64_t actual, std::int64_t least,
                           std::int64_t most) {
  const std::int64_t nearest = actual < least ? least : most;
  Status out;
  out.add({.code = code_of(rule),
           .rule = to_text(rule),
           .operand = what,
           .actual = actual,
           .nearest = nearest,
           .sentence = what + " is " + std::to_string(actual) + ": it is " + std::to_string(least) + " to " +
                       std::to_string(most) + "; the nearest value that works is " + std::to_string(nearest)});
  return out;
}

inline bool has(const Status& status, RuntimeRule rule) {
  for (const StatusReason& reason : status.reasons()) {
    if (reason.rule == to_text(rule)) return true;
  }
  return false;
}

// The same reasons, with words before their sentences.
inline Status with_words_before(const std::string& words, const Status& status) {
  Status out;
  for (StatusReason reason : status.reasons()) {
    reason.sentence.insert(0, words);
    out.add(std::move(reason));
  }
  return out;
}

// The same reasons, with words after the last sentence.
inline Status with_words_after(const Status& status, const std::string& words) {
  std::vector<StatusReason> reasons = status.reasons();
  if (!reasons.empty()) reasons.back().sentence += words;
  return Status(std::move(reasons));
}

// The reasons of both.
inline Status with_reasons_of(Status first, const Status& second) {
  for (const StatusReason& reason : second.reasons()) first.add(reason);
  return first;
}

// All sentences in one, for the end of another.
inline std::string in_one_sentence(const Status& status) {
  std::string out;
  for (const StatusReason& reason : status.reasons()) out += (out.empty() ? "" : "; and ") + reason.sentence;
  return out;
}

}  // namespace gantry::runtime
