#include "cache_entry.hpp"

#include <charconv>
#include <string_view>

#include <gantry/runtime/runtime_rules.hpp>

#include "digest.hpp"

namespace gantry::runtime {

namespace {

constexpr std::string_view kMagic = "gantry kernel 1\n";
constexpr std::size_t kDigestBytes = 64;

std::string digest_of(const std::string& name, std::string_view parts) {
  return Digest().add_part(name).add_part(parts).text();
}

// Takes "<length>:<bytes>" off the front; false where there is none.
bool take_part(std::string_view& from, std::string& out) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), length);
  const std::size_t digits = static_cast<std::size_t>(end - from.data());
  if (error != std::errc() || digits >= from.size() || from[digits] != ':') return false;
  from.remove_prefix(digits + 1);
  if (length > from.size()) return false;
  out = from.substr(0, length);
  from.remove_prefix(length);
  return true;
}

}  // namespace

std::string seal(const std::string& name, const CacheRecord& record) {
  std::string parts;
  for (const std::string* part : {&record.kind, &record.toolchain, &record.title, &record.body}) {
    parts += std::to_string(part->size()) + ":";
    parts += *part;
  }
  return std::string(kMagic) + digest_of(name, parts) + "\n" + parts;
}

Result<CacheRecord> unseal(const std::string& name, const std::string& bytes) {
  const auto damaged = [&name] {
    return unexpected(failure_of(RuntimeRule::entry_damaged, "it was altered or cut off", name));
  };
  std::string_view rest = bytes;
  if (!rest.starts_with(kMagic) || rest.size() <= kMagic.size() + kDigestBytes) return damaged();
  rest.remove_prefix(kMagic.size());
  const std::string_view digest = rest.substr(0, kDigestBytes);
  rest.remove_prefix(kDigestBytes + 1);
  if (digest != digest_of(name, rest)) return damaged();
  CacheRecord out;
  for (std::string* part : {&out.kind, &out.toolchain, &out.title, &out.body}) {
    if (!take_part(rest, *part)) return damaged();
  }
  if (!rest.empty()) return damaged();
  return out;
}

}  // namespace gantry::runtime
