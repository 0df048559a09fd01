#include <chrono>
#include <cstring>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/stat.h>

#include <gantry/runtime/kernel_compiler.hpp>
#include <gantry/runtime/module.hpp>
#include <gantry/runtime/printable.hpp>

#include "compiler_log.hpp"
#include "cuda_version.hpp"
#include "nvrtc_headers.hpp"
#include "program_search.hpp"

namespace gantry::runtime {

namespace {

// The device as default is for generic lambdas, whose place NVRTC (to 13.0) neither finds from the function around them
// nor lets one write. Static data members that are constants become device variables with it and without it: the image
// is larger by them, and the kernel reads none of them.
constexpr const char* kFlags[] = {"--gpu-architecture=sm_90a", "--std=c++20",
                                  "--device-int128",           "--device-as-default-execution-space",
                                  "--pre-include=prelude.hpp", "--disable-warnings"};
constexpr int kOldestMajor = 12, kOldestMinor = 4;

// NVRTC looks for headers in the folder of the source, which for a plain name is the working directory. Older versions
// lack the flag that says otherwise; for those the source is in a folder that cannot be.
constexpr const char* kNoSourceInclude = "--no-source-include";
constexpr int kNoSourceIncludeMajor = 13;
constexpr const char* kSource = "kernel.cu";
constexpr const char* kSourceOfOlder = "/dev/null/kernel.cu";

using Program = void*;

}  // namespace

// The functions of libnvrtc, by their types in nvrtc.h.
struct NvrtcCompiler::Library {
  Module module;
  CudaVersion known{};
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  const char* (*error)(int) = nullptr;

  explicit Library(const std::string& name) : module(name) {}

  bool has_no_source_include() const { return known.major >= kNoSourceIncludeMajor; }
  const char* source_name() const { return has_no_source_include() ? kSource : kSourceOfOlder; }
  std::vector<const char*> flags() const {
    std::vector<const char*> out(std::begin(kFlags), std::end(kFlags));
    if (has_no_source_include()) out.push_back(kNoSourceInclude);
    return out;
  }

  // Why this is no libnvrtc that can be used; sentences begin with "it".
  Status look_up() {
    const auto one = [this](auto*& function, const char* name) {
      function = module.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
      return function != nullptr;
    };
    int (*version)(int*, int*) = nullptr;
    const bool all = one(version, "nvrtcVersion") && one(create, "nvrtcCreateProgram") &&
                     one(destroy, "nvrtcDestroyProgram") && one(compile, "nvrtcCompileProgram") &&
                     one(log_size, "nvrtcGetProgramLogSize") && one(log, "nvrtcGetProgramLog") &&
                     one(cubin_size, "nvrtcGetCUBINSize") && one(cubin, "nvrtcGetCUBIN") &&
                     one(error, "nvrtcGetErrorString");
    if (!all) return failure_of(RuntimeRule::compiler_unusable, "it lacks a function of libnvrtc");
    if (version(&known.major, &known.minor) != 0)
      return failure_of(RuntimeRule::compiler_unusable, "it does not tell its version");
    if (known.major < kOldestMajor || (known.major == kOldestMajor && known.minor < kOldestMinor))
      return failure_of(RuntimeRule::compiler_too_old,
                        "it is version " + known.text() + ", and kernels for Hopper need 12.4 or newer");
    return {};
  }

  // The file that was loaded, and when it was written.
  std::string file() const {
    Dl_info info = {};
    struct stat facts = {};
    if (dladdr(reinterpret_cast<const void*>(compile), &info) == 0 || stat(info.dli_fname, &facts) != 0) return {};
    return std::string(info.dli_fname) + " of " + std::to_string(facts.st_mtime);
  }
};

NvrtcSearch NvrtcSearch::from_environment(int driver_version) {
  NvrtcSearch search;
  search.library = variable("GANTRY_NVRTC");
  search.cuda_home = variable("CUDA_HOME");
  search.driver_version = driver_version;
  return search;
}

NvrtcCompiler NvrtcCompiler::find(const NvrtcSearch& search) {
  std::vector<std::string> names;
  if (!search.library.empty()) {
    names = {search.library};
  } else {
    if (!search.cuda_home.empty()) names = {search.cuda_home + "/lib64/libnvrtc.so"};
    names.insert(names.end(), search.names.begin(), search.names.end());
  }
  NvrtcCompiler out;
  std::string why;  // the last could not be loaded
  for (const std::string& name : names) {
    const auto library = std::make_shared<Library>(name);
    if (!library->module) {
      why = library->module.status().describe();
      continue;
    }
    out.status_ = with_words_before(one_line(name) + " cannot be used: ", library->look_up());
    if (out.status_) {
      out.status_ =
          with_words_before(one_line(name), check_driver_loads(library->known, search.driver_version, "libnvrtc"));
    }
    if (!out.status_.ok()) continue;
    out.library_ = library;
    out.path_ = name;
    return out;
  }
  if (!out.status_.ok()) return out;
  out.status_ =
      search.library.empty()
          ? failure_of(RuntimeRule::nvrtc_missing,
                       "there is no libnvrtc where libraries are looked for; install it (package "
                       "cuda-nvrtc), or set GANTRY_NVRTC to its path")
          : failure_of(RuntimeRule::named_compiler_missing, "GANTRY_NVRTC names a library, and " + why, "GANTRY_NVRTC");
  return out;
}

std::string NvrtcCompiler::version() const { return library_ == nullptr ? "" : library_->known.text(); }

std::string NvrtcCompiler::identity() const {
  if (library_ == nullptr) return "nvrtc";
  std::string out = "nvrtc " + version() + " " + library_->file();
  for (const char* flag : library_->flags()) out += std::string(" ") + flag;
  return one_line(out + " prelude " + std::string(nvrtc_headers().digest));
}

CompiledImage NvrtcCompiler::compile(const CompileJob& job) const {
  CompiledImage out;
  const Library& nvrtc = *library_;
  const DeviceHeaders& headers = job.headers == nullptr ? DeviceHeaders::embedded() : *job.headers;
  std::vector<std::string> texts;  // with their zeros
  std::vector<const char*> names, contents, flags = nvrtc.flags();
  for (const DeviceHeaders* some : {&headers, &nvrtc_headers()}) {
    for (const HeaderFile& file : some->files) {
      names.push_back(file.name);
      texts.emplace_back(file.text);
    }
  }
  contents.reserve(texts.size());
  for (const std::string& text : texts) contents.push_back(text.c_str());
  for (const std::string& flag : job.flags) flags.push_back(flag.c_str());
  const auto start = std::chrono::steady_clock::now();
  Program program = nullptr;
  int status = nvrtc.create(&program, job.text.c_str(), nvrtc.source_name(), static_cast<int>(names.size()),
                            contents.data(), names.data());
  if (status == 0) status = nvrtc.compile(program, static_cast<int>(flags.size()), flags.data());
  std::size_t size = 0;
  if (status != 0) {
    std::string log;
    if (program != nullptr && nvrtc.log_size(program, &size) == 0) log.resize(size);
    if (!log.empty() && nvrtc.log(program, log.data()) == 0) log.resize(std::strlen(log.c_str()));
    out.status = failure_of(rule_in_log(log), std::string("NVRTC ended with \"") + nvrtc.error(status) +
                                                  "\" and said:\n" + compiler_log(log));
  } else if (nvrtc.cubin_size(program, &size) != 0 || size == 0) {
    out.status = failure_of(RuntimeRule::compiler_failed, "NVRTC made no cubin");
  } else {
    out.bytes.resize(size);
    nvrtc.cubin(program, out.bytes.data());
  }
  if (program != nullptr) nvrtc.destroy(&program);
#if defined(__GLIBC__)
  malloc_trim(0);  // of the 350 MB that a compilation takes, next to nothing is in use any more
#endif
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace gantry::runtime
