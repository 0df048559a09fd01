// A folder that nobody else can write, and its files, reached through the folder's descriptor: what was checked is what
// is used, whatever happens to the path in between.
//
// A file is read only where it is a plain one, not a link, of the same user, and not open to others' writing. It is
// written under another name first and appears under its own in one step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace gantry::runtime {

// Whose folder, and what it may be.
enum class Trust {
  own,      // ours, made where it is not there, closed to everybody else
  shipped,  // ours or root's, read only; others may read it and not write it
};

struct FileFacts {
  std::string name;
  bool plain = false;  // and not a folder, a link, a pipe or a device
  unsigned long long bytes = 0;
  std::int64_t used = 0;  // when it was last written or touched, in nanoseconds since 1970
};

// What reading a file gave: its bytes, or why not; `absent` where there is none.
struct FileBytes {
  std::string bytes{};
  std::string problem{};
  bool absent = false;

  explicit operator bool() const { return problem.empty() && !absent; }
};

class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(const std::string& path, Trust trust);
  // A new folder in the one of this descriptor, or by its whole path where that is AT_FDCWD.
  static PrivateFolder made_in(int parent, const std::string& name);

  explicit operator bool() const { return descriptor_ != nullptr; }
  const std::string& problem() const { return problem_; }
  int descriptor() const { return descriptor_ == nullptr ? -1 : *descriptor_; }
  const std::string& path() const { return path_; }

  FileBytes read(const std::string& name) const;
  // Empty, or why not. What was there under this name is replaced.
  std::string write(const std::string& name, std::string_view bytes) const;
  // Empty, or why not. There must be none of this name; folders in the name are made.
  std::string add(const std::string& name, std::string_view bytes) const;
  void touch(const std::string& name) const;
  std::vector<FileFacts> files() const;
  // A file, or a folder with all that is in it. True where it is gone.
  bool remove(const std::string& name) const;

 private:
  void hold(int descriptor);

  std::shared_ptr<const int> descriptor_;
  std::string path_, problem_ = "there is no folder";
  Trust trust_ = Trust::own;
};

// Writes all of the bytes to an open file. False where that failed, which errno says more of.
bool write_whole(int file, std::string_view bytes);

// Removes a file, or a folder with all that is in it. True where it is gone.
bool remove_tree(int parent, const std::string& name);

// Empty, or why a file of this owner and mode is not relied on: "belongs to user 7, ...".
std::string why_not_trusted(const struct stat& facts, Trust trust);

}  // namespace gantry::runtime
