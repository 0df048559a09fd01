// An entry of the cache as bytes: what it is, what made it, and a digest over all of it and over its own name, so that
// an entry that was altered, cut off or renamed is none.
#pragma once

#include <string>

#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

struct CacheRecord {
  std::string kind;       // "cubin", "shared object", "refusal"
  std::string toolchain;  // the compiler with its flags and the environment that it reads
  std::string title;      // in words, for people
  std::string body;       // the image, or the reason of a refusal
};

std::string seal(const std::string& name, const CacheRecord& record);
// By the rule entry_damaged where it is not as it was sealed.
Result<CacheRecord> unseal(const std::string& name, const std::string& bytes);

}  // namespace gantry::runtime
