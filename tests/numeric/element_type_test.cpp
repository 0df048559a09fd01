#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

#include "mismatch.hpp"

namespace gantry::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The names and widths that CuTe prints for its element types.
const std::map<std::string, int> kCuteTypes = {
    {"half_t", 16},          {"bfloat16_t", 16},  {"tfloat32_t", 32},  {"float", 32},       {"double", 64},
    {"float_e4m3_t", 8},     {"float_e5m2_t", 8}, {"float_e2m1_t", 4}, {"float_e2m3_t", 6}, {"float_e3m2_t", 6},
    {"int8_t", 8},           {"uint8_t", 8},      {"int16_t", 16},     {"uint16_t", 16},    {"int32_t", 32},
    {"uint32_t", 32},        {"int64_t", 64},     {"uint64_t", 64},    {"int4b_t", 4},      {"uint4b_t", 4},
    {"int2b_t", 2},          {"uint2b_t", 2},     {"uint1b_t", 1},     {"void", 0},         {"complex<float>", 64},
    {"complex<double>", 128}};

TEST(ElementTypes, AreFoundByTheNameThatCutePrintsAndHaveItsWidth) {
  for (const auto& [name, bits] : kCuteTypes) {
    const ParsedElementType parsed = parse_element_type(name.c_str());
    ASSERT_TRUE(parsed.ok) << name;
    EXPECT_EQ(info(parsed.type).bits, bits) << name;
    EXPECT_EQ(info(parsed.type).cute_name, name);
  }
  EXPECT_EQ(std::size(kElementTypes), kCuteTypes.size());
}

TEST(ElementTypes, AreFoundByEachOfTheirNames) {
  for (const ElementInfo& e : kElementTypes) {
    for (const char* name : {e.name, e.cute_name, e.python_name}) {
      const ParsedElementType parsed = parse_element_type(name);
      EXPECT_TRUE(parsed.ok && parsed.problem.empty()) << name;
      EXPECT_EQ(parsed.type, e.type) << name;
    }
  }
}

TEST(ElementTypes, StandInTheTableInTheirOwnOrder) {
  for (std::size_t i = 0; i < std::size(kElementTypes); ++i) EXPECT_EQ(kElementTypes[i].type, ElementType(i));
}

TEST(ElementTypes, AnUnknownNameIsAnsweredWithTheNearestOne) {
  const std::map<std::string, std::string> mistakes = {{"bf61", "bf16"},    {"BF16", "bf16"},
                                                       {"fp16", "f16"},     {"float17", "float16"},
                                                       {"half", "half_t"},  {"e4m3fn", "e4m3"},
                                                       {"int8t", "int8_t"}, {"fp8_e5m2", "e5m2"},
                                                       {"flaot", "float"},  {"complex<flaot>", "complex<float>"},
                                                       {"voi", "void"}};
  for (const auto& [wrong, right] : mistakes) {
    const ParsedElementType parsed = parse_element_type(wrong.c_str());
    EXPECT_FALSE(parsed.ok) << wrong;
    EXPECT_THAT(parsed.problem.c_str(), StartsWith('"' + wrong + "\" is not an element type; the nearest name is "));
    EXPECT_THAT(parsed.problem.c_str(), HasSubstr('"' + right + '"'));
    EXPECT_EQ(parsed.type, parse_element_type(right.c_str()).type) << wrong;
  }
}

TEST(ElementTypes, TheAnswerListsAllTypesWholeEvenForALongWrongName) {
  for (const std::string& wrong : {std::string(), std::string(10'000, 'q')}) {
    const ParsedElementType parsed = parse_element_type(wrong.c_str());
    EXPECT_FALSE(parsed.ok);
    for (const ElementInfo& e : kElementTypes) EXPECT_THAT(parsed.problem.c_str(), HasSubstr(e.name));
    EXPECT_THAT(parsed.problem.c_str(), testing::EndsWith("cf64"));
  }
}

TEST(ElementTypes, GoFromTypeToValueAndBack) {
  for (const ElementInfo& e : kElementTypes) {
    const ElementType back = visit_element_type(e.type, [](auto tag) {
      using T = typename decltype(tag)::type;
      static_assert(std::is_same_v<element_t<element_type_v<T>>, T>);
      EXPECT_EQ(info(element_type_v<T>).bits, sizeof_bits_v<T>);
      return element_type_v<T>;
    });
    EXPECT_EQ(back, e.type);
  }
  static_assert(element_type_v<e4m3> == ElementType::e4m3 && element_type_v<void> == ElementType::void_);
}

// The kind of T, from what the language and the library know of it.
template <class T>
ElementKind kind_of() {
  if constexpr (AnyInteger<T>) {
    return limits<T>::lowest() < 0 ? ElementKind::signed_integer : ElementKind::unsigned_integer;
  } else if constexpr (Complex<T>) {
    return ElementKind::complex;
  } else {
    return Floating<T> ? ElementKind::floating : ElementKind::none;
  }
}

TEST(ElementTypes, KnowWhatKindOfNumberTheyHold) {
  for (const ElementInfo& e : kElementTypes) {
    const ElementKind expected =
        visit_element_type(e.type, [](auto tag) { return kind_of<typename decltype(tag)::type>(); });
    EXPECT_EQ(e.kind, expected) << e.name;
  }
}

// What the PTX manual lists as types of wgmma's A and B.
TEST(ElementTypes, KnowWhatWgmmaMultiplies) {
  const std::map<ElementType, MmaKind> operands = {
      {ElementType::f16, MmaKind::f16},  {ElementType::bf16, MmaKind::bf16}, {ElementType::tf32, MmaKind::tf32},
      {ElementType::e4m3, MmaKind::fp8}, {ElementType::e5m2, MmaKind::fp8},  {ElementType::s8, MmaKind::int8},
      {ElementType::u8, MmaKind::int8}};
  for (const ElementInfo& e : kElementTypes) {
    const auto found = operands.find(e.type);
    EXPECT_EQ(e.mma, found == operands.end() ? MmaKind::none : found->second) << e.name;
    EXPECT_EQ(mma_kind(e.type), e.mma) << e.name;
    EXPECT_EQ(element_bits(e.type), e.bits) << e.name;
    EXPECT_STREQ(to_text(e.type), e.name);
  }
}

// A type that the tensor map has no name for travels as an unsigned one that it divides into, or that divides it.
TEST(ElementTypes, AreCarriedByTypesThatTheTensorMapNames) {
  for (const ElementInfo& e : kElementTypes) {
    const ElementInfo& carrier = info(e.carrier);
    EXPECT_EQ(carrier.carrier, carrier.type) << e.name;
    if (e.carrier == e.type || e.kind == ElementKind::none) continue;
    EXPECT_EQ(carrier.kind, ElementKind::unsigned_integer) << e.name;
    EXPECT_TRUE(carrier.bits % e.bits == 0 || e.bits % carrier.bits == 0) << e.name;
  }
}

TEST(ElementTypes, TakeWholeBytesForPackedElements) {
  EXPECT_EQ(bytes_for(ElementType::s4, 7), 4);
  EXPECT_EQ(bytes_for(ElementType::u1, 17), 3);
  EXPECT_EQ(bytes_for(ElementType::e2m3, 4), 3);
  EXPECT_EQ(bytes_for(ElementType::cf64, 3), 48);
  EXPECT_EQ(bytes_for(ElementType::void_, 1000), 0);
  EXPECT_EQ(bytes_for(ElementType::f64, std::int64_t{1} << 40), std::int64_t{1} << 43);
}

// A value of T for the i-th step of a test: every pattern of the narrow types, random ones of the wide, all of them
// exact in double and written back as they were read.
template <class T>
T sample(int i, std::mt19937_64& random) {
  T x{};
  if constexpr (SubByte<T>) {
    x.bits = static_cast<std::uint8_t>(i & ((1 << sizeof_bits_v<T>)-1));
  } else if constexpr (Integer<T> && sizeof(T) == 8) {
    x = static_cast<T>(random() >> 11) * static_cast<T>(i % 2 == 0 ? 1 : -1);
    if (limits<T>::lowest() == 0) x >>= 11;
  } else {
    const std::uint64_t bits[2] = {sizeof(T) <= 2 ? static_cast<std::uint64_t>(i) : random(), random()};
    std::memcpy(&x, bits, sizeof(T));
    if constexpr (std::is_same_v<T, tf32>) x.bits &= 0xffffe000U;
    if constexpr (Floating<T>) {
      if (!is_finite(x)) x = T(0.0F);
    }
  }
  return x;
}

// Element 5 of memory that starts at an odd address, its neighbours untouched.
template <class T>
void compare_access(Mismatch& mismatch, std::mt19937_64& random) {
  constexpr ElementType type = element_type_v<T>;
  constexpr int index = 5;
  std::vector<std::uint8_t> memory(128), copy(128);
  for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
  for (int i = 0; i < 65536; ++i) {
    copy = memory;
    const T x = sample<T>(i, random);
    if constexpr (SubByte<T>) {
      store_packed(memory.data() + 1, index, x);
    } else {
      std::memcpy(memory.data() + 1 + index * sizeof(T), &x, sizeof(T));
    }
    const cf64 expected = convert<cf64>(x);
    if (is_nan(expected.real) || is_nan(expected.imag)) continue;
    const cf64 read = load_as_complex(type, memory.data() + 1, index);
    mismatch.expect(read == expected, expected.real);
    mismatch.expect(load_as_double(type, memory.data() + 1, index) == expected.real, expected.real);
    store_from_complex(type, copy.data() + 1, index, read);
    mismatch.expect(copy == memory, expected.real);
  }
}

TEST(ElementAccess, ReadsWhatTheTypeReadsAndWritesTheSameBitsBack) {
  std::mt19937_64 random(50);
  for (const ElementInfo& e : kElementTypes) {
    Mismatch mismatch;
    visit_element_type(e.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_void_v<T>) compare_access<T>(mismatch, random);
    });
    EXPECT_FALSE(mismatch.found()) << e.name << ": " << mismatch;
  }
}

TEST(ElementAccess, WritesAsConvertDoes) {
  struct {
    ElementType type;
    double value, stored;
  } const cases[] = {
      {ElementType::s8, 2.5, 2},          {ElementType::s8, 1e9, 127},
      {ElementType::u8, -1, 0},           {ElementType::s4, -100, -8},
      {ElementType::u1, 0.75, 1},         {ElementType::e4m3, 1e9, 448},
      {ElementType::f16, 1e9, HUGE_VAL},  {ElementType::f32, 0.1, double{0.1F}},
      {ElementType::f64, 0.1, 0.1},       {ElementType::tf32, 1 + 0x1p-11, 1},
      {ElementType::u64, 0x1p63, 0x1p63}, {ElementType::cf32, 0.5, 0.5},
  };
  std::uint8_t memory[64] = {};
  for (const auto& c : cases) {
    store_from_double(c.type, memory, 2, c.value);
    EXPECT_EQ(load_as_double(c.type, memory, 2), c.stored) << info(c.type).name << " of " << c.value;
  }
  EXPECT_EQ(load_as_complex(ElementType::cf32, memory, 2), (cf64{0.5, 0}));
}

}  // namespace
}  // namespace gantry::test
