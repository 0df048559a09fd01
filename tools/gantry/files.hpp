// Files that commands read and write.
#pragma once

#include <optional>
#include <string>

namespace gantry::tool {

// Nothing where it cannot be read.
std::optional<std::string> read_text(const std::string& path);

bool write_text(const std::string& path, const std::string& text);
// In one step where the path is a plain file or none: whoever reads it finds the old text or the new one.
bool replace_text(const std::string& path, const std::string& text);

// Empty, or why a file of this name could not be written: asked before something is done that takes long.
std::string why_not_writable(const std::string& path);

}  // namespace gantry::tool
