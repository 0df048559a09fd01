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

#include <gantry/runtime/runtime_rules.hpp>

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

class PrivateFolder {
 public:
  PrivateFolder() = default;
  // Sentences of refusals begin with "it".
  static Result<PrivateFolder> open(const std::string& path, Trust trust);
  // A new folder in the one of this descriptor, or by its whole path where that is AT_FDCWD.
  static Result<PrivateFolder> made_in(int parent, const std::string& name);

  // There is one: everything below requires that.
  explicit operator bool() const { return descriptor_ != nullptr; }
  int descriptor() const { return descriptor_ == nullptr ? -1 : *descriptor_; }
  const std::string& path() const { return path_; }

  // By the rule file_missing where there is none of this name.
  Result<std::string> read(const std::string& name) const;
  // What was there under this name is replaced.
  Status write(const std::string& name, std::string_view bytes) const;
  // There must be none of this name; folders in the name are made.
  Status add(const std::string& name, std::string_view bytes) const;
  void touch(const std::string& name) const;
  std::vector<FileFacts> files() const;
  // A file, or a folder with all that is in it. True where it is gone.
  [[nodiscard]] bool remove(const std::string& name) const;

 private:
  void hold(int descriptor);
  // Nothing but the cache is in it, or will be.
  bool is_caches_alone(const struct stat& facts) const;
  // Makes it private where it may; or says why it is not relied on.
  Status check(struct stat facts) const;

  std::shared_ptr<const int> descriptor_;
  std::string path_;
  Trust trust_ = Trust::own;
};

// What a file is that is no plain one, for the end of a sentence: "is a named pipe".
const char* kind_of(mode_t mode);

// Writes all of the bytes to an open file. False where that failed, which errno says more of.
[[nodiscard]] bool write_whole(int file, std::string_view bytes);

// Removes a file, or a folder with all that is in it. True where it is gone.
[[nodiscard]] bool remove_tree(int parent, const std::string& name);

// Whether a file of this owner and mode is relied on; sentences begin with the verb: "belongs to user 7, ...".
Status check_trust(const struct stat& facts, Trust trust);

}  // namespace gantry::runtime
