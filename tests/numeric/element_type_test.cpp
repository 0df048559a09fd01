#include <cstring>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

namespace gantry::test {
namespace {

using testing::HasSubstr;

// The names and widths that CuTe prints for its element types.
const std::map<std::string, int> kCuteTypes = {
    {"half_t", 16},      {"bfloat16_t", 16},  {"tfloat32_t", 32},     {"float", 32},           {"double", 64},
    {"float_e4m3_t", 8}, {"float_e5m2_t", 8}, {"float_e2m1_t", 4},    {"float_e2m3_t", 6},     {"float_e3m2_t", 6},
    {"int8_t", 8},       {"uint8_t", 8},      {"int16_t", 16},        {"uint16_t", 16},        {"int32_t", 32},
    {"uint32_t", 32},    {"int64_t", 64},     {"uint64_t", 64},       {"int4b_t", 4},          {"uint4b_t", 4},
    {"uint1b_t", 1},     {"void", 0},         {"complex<float>", 64}, {"complex<double>", 128}};

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
    EXPECT_THAT(parsed.problem.c_str(),
                HasSubstr('"' + wrong + "\" is not an element type; the nearest name is \"" + right + "\""));
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

TEST(ElementTypes, KnowWhatKindOfNumberTheyHold) {
  for (const ElementInfo& e : kElementTypes) {
    visit_element_type(e.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(e.kind == ElementKind::floating, Floating<T>) << e.name;
      EXPECT_EQ(e.kind == ElementKind::complex, Complex<T>) << e.name;
      EXPECT_EQ(e.kind == ElementKind::none, std::is_void_v<T>) << e.name;
      if constexpr (AnyInteger<T>) {
        EXPECT_EQ(e.kind == ElementKind::signed_integer, limits<T>::lowest() < 0) << e.name;
        EXPECT_EQ(e.kind == ElementKind::unsigned_integer, limits<T>::lowest() == 0) << e.name;
      }
    });
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

// Element 5 of memory that starts at an odd address, for every pattern of the narrow types and random ones of the wide.
TEST(ElementAccess, ReadsWhatTheTypeReadsAndWritesTheSameBitsBack) {
  constexpr int index = 5;
  std::mt19937_64 random(50);
  for (const ElementInfo& e : kElementTypes) {
    visit_element_type(e.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_void_v<T>) {
        std::vector<std::uint8_t> memory(256), copy(256);
        for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
        for (int i = 0; i < 65536; ++i) {
          copy = memory;
          T x{};
          if constexpr (SubByte<T>) {
            x.bits = static_cast<std::uint8_t>(i & ((1 << sizeof_bits_v<T>)-1));
            store_packed(memory.data() + 1, index, x);
          } else {
            const std::uint64_t bits[2] = {sizeof(T) <= 2 ? static_cast<std::uint64_t>(i) : random() >> 11, random()};
            std::memcpy(&x, bits, sizeof(T));
            std::memcpy(memory.data() + 1 + index * sizeof(T), &x, sizeof(T));
          }
          const cf64 read = load_as_complex(e.type, memory.data() + 1, index);
          const cf64 expected = convert<cf64>(x);
          if (is_nan(expected.real) || is_nan(expected.imag)) continue;
          ASSERT_EQ(read, expected);
          ASSERT_EQ(load_as_double(e.type, memory.data() + 1, index), expected.real);
          if constexpr (Floating<T>) {
            if (is_infinity(x)) continue;  // a saturating type does not write it
          }
          if constexpr (std::is_same_v<T, tf32>) continue;  // 13 bits of a random pattern mean nothing
          store_from_complex(e.type, copy.data() + 1, index, read);
          ASSERT_EQ(copy, memory) << e.name << " pattern " << i;
        }
      }
    });
  }
}

TEST(ElementAccess, WritesAsConvertDoes) {
  std::uint8_t memory[64] = {};
  const auto stored = [&](ElementType type, double x) {
    store_from_double(type, memory, 2, x);
    return load_as_double(type, memory, 2);
  };
  EXPECT_EQ(stored(ElementType::s8, 2.5), 2);
  EXPECT_EQ(stored(ElementType::s8, 1e9), 127);
  EXPECT_EQ(stored(ElementType::u8, -1), 0);
  EXPECT_EQ(stored(ElementType::s4, -100), -8);
  EXPECT_EQ(stored(ElementType::u1, 0.75), 1);
  EXPECT_EQ(stored(ElementType::e4m3, 1e9), 448);
  EXPECT_EQ(stored(ElementType::f16, 1e9), HUGE_VAL);
  EXPECT_EQ(stored(ElementType::f32, 0.1), double{0.1f});
  EXPECT_EQ(stored(ElementType::tf32, 1 + 0x1p-11), 1);
  EXPECT_EQ(stored(ElementType::f64, 0.1), 0.1);
  EXPECT_EQ(stored(ElementType::u64, 0x1p63), 0x1p63);
  EXPECT_EQ(stored(ElementType::cf32, 0.5), 0.5);
  EXPECT_EQ(load_as_complex(ElementType::cf32, memory, 2), (cf64{0.5, 0}));
}

}  // namespace
}  // namespace gantry::test
