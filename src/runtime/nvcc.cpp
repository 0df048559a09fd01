#include <cstdlib>

#include <gantry/runtime/kernel_compiler.hpp>
#include <gantry/runtime/printable.hpp>

#include "compile_folder.hpp"

namespace gantry::runtime {

namespace {

// What nvcc and the host compiler that it runs read beside their arguments.
constexpr const char* kVariables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                                      "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"};

std::vector<std::string> flags_for(ImageKind kind) {
  std::vector<std::string> out{"-std=c++20", "-gencode", "arch=compute_90a,code=sm_90a", "-Iinclude"};
  if (kind == ImageKind::cubin) {
    out.emplace_back("-cubin");
    return out;
  }
  // -O is for the host's part, which only plans and launches; ptxas does its best without it.
  out.insert(out.end(), {"-O1", "-shared", "-Xcompiler", "-fPIC", "-Xcompiler", "-fvisibility=hidden"});
  return out;
}

}  // namespace

const char* to_text(ImageKind kind) { return kind == ImageKind::cubin ? "cubin" : "shared object"; }

std::string NvccCompiler::identity() const {
  std::string out = "nvcc " + compiler_.version() + " " + compiler_.path();
  for (const std::string& flag : flags_for(kind_)) out += " " + flag;
  for (const char* name : kVariables) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') out += std::string(" ") + name + "=" + value;
  }
  return one_line(out);
}

CompiledImage NvccCompiler::compile(const CompileJob& job) const {
  CompilerCall call{.name = "nvcc", .arguments = {compiler_.path()}, .source = "kernel.cu"};
  for (const std::vector<std::string>& flags : {flags_for(kind_), job.flags})
    call.arguments.insert(call.arguments.end(), flags.begin(), flags.end());
  call.arguments.insert(call.arguments.end(), {call.source, "-o", call.image});
  return compile_in_folder(job, call);
}

}  // namespace gantry::runtime
