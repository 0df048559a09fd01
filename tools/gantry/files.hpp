// Files that commands read and write.
#pragma once

#include <string>

#include <gantry/runtime/status.hpp>

namespace gantry::tool {

// Whatever is there: a pipe that nobody writes to, a device without an end and a folder are refused within seconds.
// Sentences are to stand behind the file's name: "there is no such file".
Result<std::string> read_text(const std::string& path);

// Refused within seconds for a pipe that nobody reads, too. Sentences name no file: "it cannot be opened: ...".
Status write_text(const std::string& path, const std::string& text);
// In one step where the path is a plain file or none: whoever reads it finds the old text or the new one.
Status replace_text(const std::string& path, const std::string& text);

// Whether a file of this name could be written: asked before something is done that takes long.
Status check_writable(const std::string& path);

}  // namespace gantry::tool
