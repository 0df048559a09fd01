#include "eval/json_line.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gantry::tool {

namespace {

void append_integer(std::string& out, std::int64_t v) {
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void append_integers(std::string& out, std::span<const std::int64_t> values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_integer(out, values[i]);
  }
  out += ']';
}

// The parser's message without its preamble, "[json.exception...] parse error at line 1, column 3: ". It quotes the
// line, which may hold anything: only printable ASCII is kept, and not too much of it.
std::string tidied(std::string_view message) {
  constexpr std::size_t kLongest = 240;
  if (const auto name = message.find("] "); message.starts_with('[') && name != std::string_view::npos) {
    message.remove_prefix(name + 2);
  }
  if (const auto place = message.find(": "); message.starts_with("parse error") && place != std::string_view::npos) {
    message.remove_prefix(place + 2);
  }
  std::string out(message.substr(0, kLongest));
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return message.size() > kLongest ? out + "..." : out;
}

constexpr std::size_t kMaxFields = 256;

}  // namespace

// Takes the parser's events and puts them into a line's fields.
class FieldReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit FieldReader(JsonLine& line) : line_(line) {}

  std::optional<Problem> problem;

  bool null() override { return other("null"); }
  bool boolean(bool v) override { return other(v ? "true" : "false"); }
  bool number_integer(std::int64_t v) override { return integer(v); }
  bool number_unsigned(std::uint64_t v) override {
    return v <= INT64_MAX ? integer(static_cast<std::int64_t>(v)) : other(std::to_string(v));
  }
  bool number_float(double, const std::string& text) override { return other(text); }
  bool binary(binary_t&) override { return false; }

  bool string(std::string& text) override {
    if (depth_ == 1) {
      if (field_ != nullptr) {
        field_->kind = Field::Kind::string;
        field_->text = text;
      }
      return true;
    }
    if (!begin_value()) return depth_ > 0 || not_an_object();
    append_json_string(field_->text, text);
    field_->kind = Field::Kind::other;
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_++ == 0) return true;
    return open('{');
  }
  bool end_object() override {
    if (--depth_ > 0) close('}');
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return not_an_object();
    ++depth_;
    if (depth_ == 2 && field_ != nullptr) field_->kind = Field::Kind::integers;
    return open('[');
  }
  bool end_array() override {
    --depth_;
    close(']');
    return true;
  }

  bool key(std::string& name) override {
    if (depth_ == 1) return top_key(name);
    if (field_ == nullptr) return true;
    separate();
    append_json_string(field_->text, name);
    field_->text += ':';
    after_key_ = true;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    problem = Problem{fmt::format("the line is not JSON: {}", tidied(e.what())), static_cast<std::int64_t>(position)};
    return false;
  }

 private:
  bool not_an_object() {
    problem = Problem{"the line must hold a JSON object, {...}", 1};
    return false;
  }

  bool top_key(const std::string& name) {
    for (std::size_t i = 0; i < line_.count_; ++i) {
      if (line_.fields_[i].key != name) continue;
      problem = Problem{fmt::format("the field \"{}\" stands twice in the line", name)};
      return false;
    }
    if (line_.count_ == kMaxFields) {
      problem = Problem{fmt::format("the line has more than {} fields", kMaxFields)};
      return false;
    }
    Field& field = line_.add(name);
    field_ = line_.is_computed(name) ? nullptr : &field;
    return true;
  }

  // The comma between the values of a nested array or object.
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    const char last = field_->text.empty() ? '[' : field_->text.back();
    if (last != '[' && last != '{') field_->text += ',';
  }

  // Prepares a field for one more value inside of it; false where the value is to be forgotten.
  bool begin_value() {
    if (depth_ == 0 || field_ == nullptr) return false;
    if (depth_ > 1) separate();
    return true;
  }

  bool open(char bracket) {
    if (field_ == nullptr) return true;
    --depth_;
    begin_value();
    ++depth_;
    if (depth_ > 2 || bracket == '{') field_->kind = Field::Kind::other;
    field_->text += bracket;
    return true;
  }
  void close(char bracket) {
    if (field_ != nullptr) field_->text += bracket;
  }

  bool integer(std::int64_t v) {
    if (!begin_value()) return depth_ > 0 || not_an_object();
    append_integer(field_->text, v);
    if (depth_ == 1) {
      field_->kind = Field::Kind::integer;
      field_->integer = v;
    } else if (field_->kind == Field::Kind::integers) {
      field_->integers.push_back(v);
    }
    return true;
  }

  bool other(std::string_view json) {
    if (!begin_value()) return depth_ > 0 || not_an_object();
    field_->text += json;
    field_->kind = Field::Kind::other;
    return true;
  }

  JsonLine& line_;
  Field* field_ = nullptr;  // the field being read; null while a computed one is
  int depth_ = 0;
  bool after_key_ = false;
};

std::optional<Problem> JsonLine::read(std::string_view line) {
  count_ = 0;
  FieldReader reader(*this);
  nlohmann::json::sax_parse(line.begin(), line.end(), &reader);
  if (reader.problem) count_ = 0;  // fields may have been read halfway
  return std::move(reader.problem);
}

void JsonLine::write(std::string& out) const {
  out += '{';
  bool first = true;
  for (std::size_t i = 0; i < count_; ++i) {
    const Field& field = fields_[i];
    if (field.kind == Field::Kind::absent) continue;
    if (!first) out += ',';
    first = false;
    append_json_string(out, field.key);
    out += ':';
    if (field.kind == Field::Kind::string) {
      append_json_string(out, field.text);
    } else {
      out += field.text;
    }
  }
  out += '}';
}

const Field* JsonLine::find(std::string_view key) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (fields_[i].key == key) return fields_[i].kind == Field::Kind::absent ? nullptr : &fields_[i];
  }
  return nullptr;
}

void JsonLine::set(std::string_view key, std::string_view text) {
  Field& field = computed(key);
  field.kind = Field::Kind::string;
  field.text = text;
}

void JsonLine::set(std::string_view key, std::int64_t value) {
  Field& field = computed(key);
  field.kind = Field::Kind::integer;
  append_integer(field.text, value);
}

void JsonLine::set(std::string_view key, std::span<const std::int64_t> values) {
  Field& field = computed(key);
  field.kind = Field::Kind::integers;
  append_integers(field.text, values);
}

void JsonLine::set_json(std::string_view key, std::string_view json) {
  Field& field = computed(key);
  field.kind = Field::Kind::other;
  field.text = json;
}

void JsonLine::clear_computed() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_computed(fields_[i].key)) fields_[i].kind = Field::Kind::absent;
  }
}

bool JsonLine::is_computed(std::string_view key) const {
  return std::find(computed_.begin(), computed_.end(), key) != computed_.end();
}

Field& JsonLine::add(std::string_view key) {
  if (count_ == fields_.size()) fields_.emplace_back();
  Field& field = fields_[count_++];
  field.key = key;
  field.kind = Field::Kind::absent;
  field.text.clear();
  field.integers.clear();
  return field;
}

Field& JsonLine::computed(std::string_view key) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (fields_[i].key != key) continue;
    fields_[i].text.clear();
    return fields_[i];
  }
  return add(key);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace gantry::tool
