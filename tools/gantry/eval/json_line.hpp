// One line of a JSON-lines file: the fields of an object, in order, of which some are read and some are computed.
//
// Fields named as computed are not kept when they are read; set() gives them a value, in their old place if the line
// had them and at its end otherwise, and write() leaves out those that got none. All other fields are written as they
// were read. A line is meant to be reused: read() forgets what was there and keeps the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

// What is wrong with a line. Positions count from 1; 0 is none.
struct Problem {
  std::string sentence;
  std::int64_t position = 0;
  bool is_unreadable = true;  // the line itself is wrong, rather than that what it asks for has no answer
};

struct Field {
  enum class Kind { absent, string, integer, integers, other };

  std::string key;
  Kind kind = Kind::absent;
  std::string text;                    // of a string, its characters; of all others, JSON
  std::int64_t integer = 0;            // of an integer
  std::vector<std::int64_t> integers;  // of an array of integers
};

class JsonLine {
 public:
  explicit JsonLine(std::span<const std::string_view> computed) : computed_(computed) {}

  std::optional<Problem> read(std::string_view line);
  void write(std::string& out) const;

  // The field, or null where the line has none of that name or it is a computed one without a value.
  const Field* find(std::string_view key) const;

  void set(std::string_view key, std::string_view text);
  void set(std::string_view key, std::int64_t value);
  void set(std::string_view key, std::span<const std::int64_t> values);
  // Any other value, already written as JSON.
  void set_json(std::string_view key, std::string_view json);
  // Takes every computed field away again.
  void clear_computed();

 private:
  friend class FieldReader;

  bool is_computed(std::string_view key) const;
  Field& add(std::string_view key);
  Field& computed(std::string_view key);

  std::span<const std::string_view> computed_;
  std::vector<Field> fields_;
  std::size_t count_ = 0;  // fields in use; those behind are kept for their memory
};

// Appends characters as a JSON string. Requires UTF-8; what must be escaped is.
void append_json_string(std::string& out, std::string_view text);

}  // namespace gantry::tool
