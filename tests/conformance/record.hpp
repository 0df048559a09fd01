// The file that carries the simulator's answers to a GPU: for each case its name, the rule that was broken, and its
// bytes.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "suite.hpp"

namespace gantry::conformance {

struct Answer {
  std::string broken;  // empty: none
  Bytes bytes;
};
using Answers = std::map<std::string, Answer>;

namespace detail {

inline constexpr char kMagic[8] = {'g', 'a', 'n', 't', 'r', 'y', 'c', '1'};

template <class Text>
void put(std::ofstream& file, const Text& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file.write(reinterpret_cast<const char*>(text.data()), static_cast<std::streamsize>(size));
}

template <class Text>
bool get(std::ifstream& file, Text& text) {
  constexpr std::uint32_t kMost = 1u << 26;
  std::uint32_t size = 0;
  file.read(reinterpret_cast<char*>(&size), sizeof size);
  if (!file || size > kMost) return false;
  text.resize(size);
  file.read(reinterpret_cast<char*>(text.data()), static_cast<std::streamsize>(size));
  return static_cast<bool>(file);
}

}  // namespace detail

inline bool write_answers(const std::string& path, const Answers& answers) {
  std::ofstream file(path, std::ios::binary);
  file.write(detail::kMagic, sizeof detail::kMagic);
  for (const auto& [name, answer] : answers) {
    detail::put(file, name);
    detail::put(file, answer.broken);
    detail::put(file, answer.bytes);
  }
  return static_cast<bool>(file);
}

inline bool read_answers(const std::string& path, Answers& answers) {
  std::ifstream file(path, std::ios::binary);
  char magic[sizeof detail::kMagic] = {};
  file.read(magic, sizeof magic);
  if (!file || std::string(magic, sizeof magic) != std::string(detail::kMagic, sizeof magic)) return false;
  std::string name;
  while (file.peek() != std::ifstream::traits_type::eof()) {
    Answer answer;
    if (!detail::get(file, name) || !detail::get(file, answer.broken) || !detail::get(file, answer.bytes)) return false;
    answers.emplace(name, std::move(answer));
  }
  return true;
}

}  // namespace gantry::conformance
