// Files that commands read and write.
#pragma once

#include <string>

namespace gantry::tool {

struct ReadText {
  std::string text{};
  std::string problem{};  // "there is no such file"

  explicit operator bool() const { return problem.empty(); }
};

// Whatever is there: a pipe that nobody writes to, a device without an end and a folder are a problem within seconds.
ReadText read_text(const std::string& path);

// False within seconds for a pipe that nobody reads, too.
bool write_text(const std::string& path, const std::string& text);
// In one step where the path is a plain file or none: whoever reads it finds the old text or the new one.
bool replace_text(const std::string& path, const std::string& text);

// Empty, or why a file of this name could not be written: asked before something is done that takes long.
std::string why_not_writable(const std::string& path);

}  // namespace gantry::tool
