#include <cstdlib>
#include <sstream>

#include <gantry/runtime/host_compiler.hpp>
#include <gantry/runtime/printable.hpp>

#include "compile_folder.hpp"
#include "process.hpp"
#include "program_search.hpp"

namespace gantry::runtime {

namespace {

constexpr int kOldestGcc = 12, kOldestClang = 14;

// What g++, clang++, their linkers and their preprocessors read beside their arguments, and files that they would
// write: taken away.
const std::vector<std::string>& ignored_variables() {
  static const std::vector<std::string> all{"CPATH",
                                            "C_INCLUDE_PATH",
                                            "CPLUS_INCLUDE_PATH",
                                            "OBJC_INCLUDE_PATH",
                                            "OBJCPLUS_INCLUDE_PATH",
                                            "LIBRARY_PATH",
                                            "COMPILER_PATH",
                                            "GCC_EXEC_PREFIX",
                                            "GCC_COMPARE_DEBUG",
                                            "GCC_EXTRA_DIAGNOSTIC_OUTPUT",
                                            "COLLECT_GCC_OPTIONS",
                                            "CCC_OVERRIDE_OPTIONS",
                                            "CCC_ADD_ARGS",
                                            "CC_PRINT_OPTIONS",
                                            "LD_RUN_PATH",
                                            "LDEMULATION",
                                            "GNUTARGET",
                                            "DEPENDENCIES_OUTPUT",
                                            "SUNPRO_DEPENDENCIES"};
  return all;
}

// Compilation and simulation together take least CPU time with -O1: 4.2 s for bias+GELU of 512 x 768 x 256 to f32, 4.5
// s with -O0 and 5.0 s with -O2 (g++ 12); 2.1 s where the kernel is in the cache, 2.4 s and 2.2 s. Names that are not
// defined, such as a function of the simulated SM that the object does not get at load, are refused by the linker, in
// place of the loader.
const std::vector<std::string>& own_flags() {
  static const std::vector<std::string> all{"-std=c++20",          "-O1", "-fPIC",       "-shared",
                                            "-fvisibility=hidden", "-w",  "-Wl,-z,defs", "-Iinclude"};
  return all;
}

// What `search` names, with the flags after it.
struct Found {
  std::vector<std::string> command{};
  Status status{};
};

Found found(NamedProgram program, const std::vector<std::string>& flags = {}) {
  if (!program.status) return {{}, std::move(program.status)};
  Found out{{program.path}, {}};
  out.command.insert(out.command.end(), flags.begin(), flags.end());
  return out;
}

Found look(const HostCompilerSearch& search) {
  if (!search.gantry_cxx.empty()) return found(named_program("GANTRY_CXX", search.gantry_cxx, search.path));
  // As make has it: a program, and flags between blanks.
  std::istringstream words(search.cxx);
  std::string name;
  if (words >> name) {
    std::vector<std::string> flags;
    for (std::string flag; words >> flag;) flags.push_back(flag);
    return found(named_program("CXX", name, search.path), flags);
  }
  for (const char* usual : {"g++", "clang++"}) {
    if (const std::string program = on_path(search.path, usual); !program.empty()) return {{program}, {}};
  }
  return {{},
          failure_of(RuntimeRule::host_compiler_missing,
                     "there is no C++ compiler: neither g++ nor clang++ is on the PATH; install g++ 12 or clang 14 or "
                     "newer, or set GANTRY_CXX")};
}

// A macro of the compiler's own, which are written as "#define NAME value"; empty: it has none of this name.
std::string macro(const std::string& text, const std::string& name) {
  const std::string opening = "#define " + name + " ";
  const std::size_t at = text.rfind(opening, 0) == 0 ? 0 : text.find("\n" + opening);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find(opening, at) + opening.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

struct Version {
  std::string text{};
  Status status{};  // why the compiler will not do
};

Version version_in(const std::string& macros, const std::string& program) {
  const bool clang = !macro(macros, "__clang_major__").empty();
  const auto part = [&](const char* of_clang, const char* of_gcc) { return macro(macros, clang ? of_clang : of_gcc); };
  const std::string major = part("__clang_major__", "__GNUC__");
  if (major.empty() || macro(macros, "__cplusplus").empty()) {
    return {{},
            failure_of(RuntimeRule::compiler_unusable,
                       one_line(program) +
                           " does not tell its macros when asked with -dM -E for C++20, so it is not taken for a C++ "
                           "compiler")};
  }
  Version out{one_line(std::string(clang ? "clang++ " : "g++ ") + major + "." +
                       part("__clang_minor__", "__GNUC_MINOR__") + "." +
                       part("__clang_patchlevel__", "__GNUC_PATCHLEVEL__"))};
  if (std::atoi(major.c_str()) < (clang ? kOldestClang : kOldestGcc)) {
    out.status =
        failure_of(RuntimeRule::compiler_too_old,
                   one_line(program) + " is " + out.text + "; kernels need g++ " + std::to_string(kOldestGcc) +
                       ", clang " + std::to_string(kOldestClang) + " or newer: install one, or name it in GANTRY_CXX");
  }
  return out;
}

}  // namespace

HostCompilerSearch HostCompilerSearch::from_environment() {
  return {.gantry_cxx = variable("GANTRY_CXX"), .cxx = variable("CXX"), .path = variable("PATH")};
}

HostCompiler HostCompiler::find(const HostCompilerSearch& search) {
  HostCompiler out;
  Found compiler = look(search);
  out.status_ = std::move(compiler.status);
  if (!out.status_.ok()) return out;
  out.command_ = std::move(compiler.command);
  std::vector<std::string> question = out.command_;
  question.insert(question.end(), {"-std=c++20", "-dM", "-E", "-x", "c++", "/dev/null"});
  const Result<ProcessEnd> asked =
      run_process({.arguments = question, .environment = ignored_variables(), .limit = std::chrono::seconds(20)});
  if (!asked) {
    out.status_ = with_words_before(one_line(out.command_[0]) + " could not be asked for its macros: ", asked.error());
    return out;
  }
  const Version version = version_in(asked->status == 0 ? asked->output : "", out.command_[0]);
  out.version_ = version.text;
  out.status_ = version.status;
  return out;
}

std::string HostCompiler::identity() const {
  std::string out = version_;
  for (const std::vector<std::string>* words : {&command_, &own_flags()}) {
    for (const std::string& word : *words) out += " " + word;
  }
  return one_line(out);
}

CompiledImage HostCompiler::compile(const CompileJob& job) const {
  const DeviceHeaders& headers = job.headers == nullptr ? DeviceHeaders::embedded() : *job.headers;
  CompilerCall call{
      .name = version_, .arguments = command_, .environment = ignored_variables(), .source = "kernel.cpp"};
  for (const std::vector<std::string>* flags : {&own_flags(), &job.flags})
    call.arguments.insert(call.arguments.end(), flags->begin(), flags->end());
  call.arguments.push_back("-DGANTRY_HEADERS_DIGEST=\"" + std::string(headers.digest) + "\"");
  call.arguments.insert(call.arguments.end(), {call.source, "-o", call.image});
  return compile_in_folder(job, call);
}

}  // namespace gantry::runtime
