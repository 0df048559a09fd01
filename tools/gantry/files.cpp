#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <gantry/gemm/detail/file_text.hpp>
#include <gantry/runtime/runtime_rules.hpp>

namespace gantry::tool {

namespace fs = std::filesystem;

using runtime::failure_of;
using runtime::RuntimeRule;

namespace {

Status not_written(const std::string& what) {
  return failure_of(RuntimeRule::file_not_written, what + ": " + std::strerror(errno));
}

Status write_all(int file, const std::string& text) {
  constexpr int kPatience = 5'000;  // milliseconds
  for (std::size_t done = 0; done < text.size();) {
    pollfd one{file, POLLOUT, 0};
    if (poll(&one, 1, kPatience) == 0) {
      return failure_of(RuntimeRule::file_not_written,
                        "nobody has taken anything of it for " + std::to_string(kPatience / 1000) + " s");
    }
    const ssize_t bytes = write(file, text.data() + done, text.size() - done);
    if (bytes < 0 && errno != EINTR && errno != EAGAIN) return not_written("it cannot be written");
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  return {};
}

constexpr detail::FileReading kAnything{.streams = true};

Status status_of(const detail::FileText& read) {
  switch (read.fault) {
    case detail::FileFault::none:
      return {};
    case detail::FileFault::absent:
      return failure_of(RuntimeRule::file_missing, "there is no such file");
    case detail::FileFault::not_opened:
      return failure_of(RuntimeRule::file_not_read, std::string("it cannot be opened: ") + std::strerror(read.error));
    case detail::FileFault::not_plain:
      return failure_of(RuntimeRule::file_not_plain, "it is no plain file");
    case detail::FileFault::not_read:
      if (read.error == EISDIR) return failure_of(RuntimeRule::file_not_plain, "it is a folder");
      return failure_of(RuntimeRule::file_not_read, std::string("it cannot be read: ") + std::strerror(read.error));
    case detail::FileFault::silent:
      return failure_of(RuntimeRule::file_not_read,
                        "nothing has come from it for " + std::to_string(kAnything.most_silence / 1000) + " s");
    case detail::FileFault::too_large:
      return failure_of(RuntimeRule::file_too_large,
                        "it has more than " + std::to_string(kAnything.most >> 20) + " MiB");
  }
  return {};
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  detail::FileText read = detail::read_file_text(path, kAnything);
  if (Status refused = status_of(read); !refused) return unexpected(std::move(refused));
  return std::move(read.text);
}

Status write_text(const std::string& path, const std::string& text) {
  constexpr mode_t kAsTheUserAllows = 0666;
  // Opening a pipe without a reader would wait for one, were it not for O_NONBLOCK.
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kAsTheUserAllows);
  if (file < 0) return not_written("it cannot be opened");
  Status out = write_all(file, text);
  if (close(file) != 0 && out) out = not_written("it cannot be written");
  return out;
}

Status replace_text(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  const bool plain = status.type() == fs::file_type::not_found || status.type() == fs::file_type::regular;
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  // Beside a file that can be written there may be no room for another one.
  if (!plain || !write_text(temporary, text)) {
    if (plain) fs::remove(temporary, error);
    return write_text(path, text);
  }
  fs::rename(temporary, path, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return failure_of(RuntimeRule::file_not_written, "it cannot be replaced: " + error.message());
}

Status check_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return failure_of(RuntimeRule::file_not_plain, path + " is a folder", path);
  if (fs::exists(path, error)) {
    return access(path.c_str(), W_OK) == 0 ? Status() : not_written(path + " cannot be written");
  }
  const fs::path parent = fs::absolute(path, error).parent_path();
  if (!fs::is_directory(parent, error)) {
    return failure_of(RuntimeRule::folder_missing, "there is no folder " + parent.string(), parent.string());
  }
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {};
  return failure_of(RuntimeRule::folder_not_writable, parent.string() + " cannot be written: " + std::strerror(errno),
                    parent.string());
}

}  // namespace gantry::tool
