// From a source to an image that can be loaded, by whichever compiler there is.
//
// NvrtcCompiler is libnvrtc, loaded where it is found: it needs no nvcc, no host compiler and no files. NvccCompiler
// runs nvcc, for a cubin or for a shared object with its host's part. Both see Gantry's headers as <gantry/...> and
// none of this program's folders. A cubin of either does for the same request, which is why the cache asks for
// `identity`: where a compiler is used, an entry that another one made is not taken for its work.
//
// Example:
//     using namespace gantry::runtime;
//     const NvrtcCompiler compiler = NvrtcCompiler::find();
//     if (!compiler.status()) throw compiler.status();  // nvrtc_missing: "there is no libnvrtc ..."
//     const CompiledImage image = compiler.compile({.text = "extern \"C\" __global__ void nothing() {}\n"});
//     if (!image) throw image.status;  // with what the compiler said
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gantry/runtime/compiler.hpp>
#include <gantry/runtime/headers.hpp>

namespace gantry::runtime {

enum class ImageKind { cubin, shared_object };

const char* to_text(ImageKind kind);

struct CompileJob {
  std::string text;
  std::vector<std::string> flags{};         // besides the compiler's own, after them
  const DeviceHeaders* headers = nullptr;   // null: those that are embedded
  int folder = -1;                          // descriptor of a private folder for files on the way; -1: one in TMPDIR
  std::string folder_name = "work-kernel";  // how the name of the folder that is made there begins
};

struct [[nodiscard]] CompiledImage {
  std::string bytes{};
  Status status{};     // why there is no image
  double seconds = 0;  // that the compiler took

  explicit operator bool() const { return status.ok(); }
};

class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;

  // Why it cannot compile.
  virtual const Status& status() const = 0;
  virtual ImageKind kind() const = 0;
  // Everything beside the source and the headers that decides what comes out: the compiler's version, its flags, and
  // the environment that it reads. One line.
  virtual std::string identity() const = 0;
  // Requires that status() is ok.
  virtual CompiledImage compile(const CompileJob& job) const = 0;
};

class NvccCompiler : public KernelCompiler {
 public:
  NvccCompiler(Compiler compiler, ImageKind kind) : compiler_(std::move(compiler)), kind_(kind) {}

  const Status& status() const override { return compiler_.status(); }
  ImageKind kind() const override { return kind_; }
  std::string identity() const override;
  CompiledImage compile(const CompileJob& job) const override;

 private:
  Compiler compiler_;
  ImageKind kind_;
};

// Where libnvrtc is looked for. Empty: not set.
struct NvrtcSearch {
  std::string library{};    // GANTRY_NVRTC: the one and only
  std::string cuda_home{};  // CUDA_HOME: its lib64
  std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
  int driver_version = 0;  // as DeviceFacts has it; 0: any library will do

  static NvrtcSearch from_environment(int driver_version = 0);
};

class NvrtcCompiler : public KernelCompiler {
 public:
  // A library of a newer major version than the driver's makes cubins that the driver does not load: the next is looked
  // for, and where there is no other, status() says so.
  static NvrtcCompiler find(const NvrtcSearch& search = NvrtcSearch::from_environment());

  const Status& status() const override { return status_; }
  ImageKind kind() const override { return ImageKind::cubin; }
  std::string identity() const override;
  CompiledImage compile(const CompileJob& job) const override;
  const std::string& path() const { return path_; }
  std::string version() const;  // "13.0"

 private:
  struct Library;

  std::shared_ptr<const Library> library_;
  Status status_;
  std::string path_;
};

}  // namespace gantry::runtime
