#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <gantry/gemm/detail/file_text.hpp>

namespace gantry::tool {

namespace fs = std::filesystem;

namespace {

// False where nobody takes it.
bool write_all(int file, const std::string& text) {
  constexpr int kPatience = 5'000;  // milliseconds
  for (std::size_t done = 0; done < text.size();) {
    pollfd one{file, POLLOUT, 0};
    if (poll(&one, 1, kPatience) == 0) return false;
    const ssize_t bytes = write(file, text.data() + done, text.size() - done);
    if (bytes < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
  }
  return true;
}

constexpr detail::FileReading kAnything{.streams = true};

std::string why_not_read(const detail::FileText& read) {
  switch (read.fault) {
    case detail::FileFault::none:
      return {};
    case detail::FileFault::absent:
      return "there is no such file";
    case detail::FileFault::not_opened:
      return std::string("it cannot be opened: ") + std::strerror(read.error);
    case detail::FileFault::not_plain:
      return "it is no plain file";
    case detail::FileFault::not_read:
      return std::string("it cannot be read: ") + std::strerror(read.error);
    case detail::FileFault::silent:
      return "nothing has come from it for " + std::to_string(kAnything.most_silence / 1000) + " s";
    case detail::FileFault::too_large:
      return "it has more than " + std::to_string(kAnything.most >> 20) + " MiB";
  }
  return {};
}

}  // namespace

ReadText read_text(const std::string& path) {
  detail::FileText read = detail::read_file_text(path, kAnything);
  return {std::move(read.text), why_not_read(read)};
}

bool write_text(const std::string& path, const std::string& text) {
  constexpr mode_t kAsTheUserAllows = 0666;
  // Opening a pipe without a reader would wait for one, were it not for O_NONBLOCK.
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kAsTheUserAllows);
  if (file < 0) return false;
  const bool written = write_all(file, text);
  return close(file) == 0 && written;
}

bool replace_text(const std::string& path, const std::string& text) {
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
  if (!error) return true;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return false;
}

std::string why_not_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return path + " is a folder";
  if (fs::exists(path, error)) {
    return access(path.c_str(), W_OK) == 0 ? "" : path + " cannot be written: " + std::strerror(errno);
  }
  const fs::path parent = fs::absolute(path, error).parent_path();
  if (!fs::is_directory(parent, error)) return "there is no folder " + parent.string();
  return access(parent.c_str(), W_OK | X_OK) == 0 ? ""
                                                  : parent.string() + " cannot be written: " + std::strerror(errno);
}

}  // namespace gantry::tool
