// Reductions by TMA: every operation with every element type that has it, on ordinary numbers and on special ones.
#pragma once

#include <cstring>
#include <string>

#include "copy_cases.hpp"

namespace gantry::conformance {

// Bit patterns of one floating type that arithmetic treats specially.
struct Specials {
  TmaDataType type;
  std::uint32_t patterns[10];
};
inline constexpr Specials kSpecials[] = {
    {TmaDataType::f16, {0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00}},
    {TmaDataType::bf16, {0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0}},
    {TmaDataType::f32,
     {0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
      0x7FC00000}}};

// Numbers of moderate size: exponents near one, any sign and fraction. Integers are any bits.
inline Bytes moderate(Dice& dice, TmaDataType type, std::size_t count) {
  Bytes out = dice.bytes(count * static_cast<std::size_t>(element_bytes(type)));
  const auto keep = [&](auto word, int fraction_bits, unsigned bias, auto exponent_mask) {
    using Word = decltype(word);
    for (std::size_t i = 0; i < out.size(); i += sizeof(Word)) {
      std::memcpy(&word, &out[i], sizeof word);
      const auto exponent = static_cast<Word>(static_cast<Word>(bias - 3 + dice.bits() % 7) << fraction_bits);
      word = static_cast<Word>((word & ~exponent_mask) | exponent);
      std::memcpy(&out[i], &word, sizeof word);
    }
  };
  if (type == TmaDataType::f16) keep(std::uint16_t{}, 10, 15, std::uint16_t{0x7C00});
  if (type == TmaDataType::bf16) keep(std::uint16_t{}, 7, 127, std::uint16_t{0x7F80});
  if (type == TmaDataType::f32) keep(std::uint32_t{}, 23, 127, std::uint32_t{0x7F800000});
  if (type == TmaDataType::f64) keep(std::uint64_t{}, 52, 1023, std::uint64_t{0x7FF} << 52);
  return out;
}

inline Copy reduced_matrix(TmaDataType type) {
  const auto element = static_cast<std::uint64_t>(element_bytes(type));
  Copy copy;
  copy.map = {.data_type = type,
              .rank = 2,
              .dims = {20, 9},
              .strides = {up(20 * element, 16)},
              .box = {static_cast<std::uint32_t>(16 * element >= 128 ? 128 / element : 16), 8},
              .swizzle = TmaSwizzle::bytes_128};
  copy.bytes = copy.map.strides[0] * 9;
  copy.at[0] = static_cast<std::int32_t>(16 / element);
  copy.at[1] = 3;  // two rows lie outside
  return copy;
}

template <arch::ReduceOp Op, class Machine>
void add_reductions_of(Cases<Machine>& cases, const char* name, std::initializer_list<TmaDataType> types) {
  using Kernel = StoreBox<2, Reduce<Op>>;
  for (const TmaDataType type : types) {
    const auto body = [type](Machine& m) {
      Dice dice(static_cast<std::uint64_t>(type) + 3);
      const Copy copy = reduced_matrix(type);
      const auto element = static_cast<std::size_t>(element_bytes(type));
      store_and_show<Kernel>(m, copy, moderate(dice, type, copy.bytes / element),
                             moderate(dice, type, image_bytes(copy.map) / element));
    };
    cases.push_back({std::string("reduce ") + name + " " + to_text(type), body});
  }
}

// Every special value meets every other.
template <arch::ReduceOp Op, class Machine>
void add_specials_of(Cases<Machine>& cases, const char* name, const Specials& specials) {
  const auto body = [&specials](Machine& m) {
    constexpr std::uint32_t kCount = 100, kRoom = 112;
    const auto element = static_cast<std::size_t>(element_bytes(specials.type));
    Bytes before(kRoom * element), tile(up(kRoom * element, 128));
    for (std::size_t i = 0; i < kCount; ++i) {
      std::memcpy(&before[i * element], &specials.patterns[i / 10], element);
      std::memcpy(&tile[i * element], &specials.patterns[i % 10], element);
    }
    Copy copy;
    copy.map = {.data_type = specials.type, .rank = 1, .dims = {kCount}, .box = {kRoom}};
    store_and_show<StoreBox<1, Reduce<Op>>>(m, copy, before, tile);
  };
  cases.push_back({std::string("reduce ") + name + " " + to_text(specials.type) + " of special values", body});
}

// Operations that a type does not have end the launch.
template <arch::ReduceOp Op, class Machine>
void add_missing_reductions_of(Cases<Machine>& cases, const char* name, std::initializer_list<TmaDataType> types) {
  const std::size_t first = cases.size();
  add_reductions_of<Op>(cases, name, types);
  for (std::size_t i = first; i < cases.size(); ++i) cases[i].breaks = {"tensor-reduce-type", kIllegalInstruction};
}

template <class Machine>
void add_missing_reductions(Cases<Machine>& cases) {
  using enum TmaDataType;
  using arch::ReduceOp;
  add_missing_reductions_of<ReduceOp::add>(cases, "add", {u16, s64});
  add_missing_reductions_of<ReduceOp::max>(cases, "max", {f32, u8});
  add_missing_reductions_of<ReduceOp::inc>(cases, "inc", {s32});
  add_missing_reductions_of<ReduceOp::and_>(cases, "and", {s64});
  add_missing_reductions_of<ReduceOp::xor_>(cases, "xor", {s64, f32});
}

template <class Machine>
void add_reductions(Cases<Machine>& cases) {
  using enum TmaDataType;
  using arch::ReduceOp;
  add_reductions_of<ReduceOp::add>(cases, "add", {u32, s32, u64, f32, f64, f16, bf16});
  add_reductions_of<ReduceOp::min>(cases, "min", {u32, s32, u64, s64, f16, bf16});
  add_reductions_of<ReduceOp::max>(cases, "max", {u32, s32, u64, s64, f16, bf16});
  add_reductions_of<ReduceOp::inc>(cases, "inc", {u32});
  add_reductions_of<ReduceOp::dec>(cases, "dec", {u32});
  add_reductions_of<ReduceOp::and_>(cases, "and", {u32, s32, u64});
  add_reductions_of<ReduceOp::or_>(cases, "or", {u32, s32, u64});
  add_reductions_of<ReduceOp::xor_>(cases, "xor", {u32, s32, u64});
  for (const Specials& specials : kSpecials) {
    add_specials_of<ReduceOp::add>(cases, "add", specials);
    if (specials.type == f32) continue;
    add_specials_of<ReduceOp::min>(cases, "min", specials);
    add_specials_of<ReduceOp::max>(cases, "max", specials);
  }
}

}  // namespace gantry::conformance
