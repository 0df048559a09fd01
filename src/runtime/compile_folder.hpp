// Runs a compiler in a private folder that has the source and Gantry's headers, and takes the image out of it. The
// folder is gone afterwards.
//
// No name in the folder comes from outside, so that none has a quote or a line end that a shell, through which nvcc
// runs its parts, could take for its own.
#pragma once

#include <string>
#include <vector>

#include <gantry/runtime/kernel_compiler.hpp>

namespace gantry::runtime {

struct CompilerCall {
  std::string name;                        // in messages
  std::vector<std::string> arguments;      // the first is the program's path; headers are found with -Iinclude
  std::vector<std::string> environment{};  // as ProcessCommand has it
  std::string source{};                    // the name of a file, as is the next
  std::string image = "kernel.image";
};

CompiledImage compile_in_folder(const CompileJob& job, const CompilerCall& call);

}  // namespace gantry::runtime
