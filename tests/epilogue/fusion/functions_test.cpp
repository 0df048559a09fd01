// The element functions against their definitions. Built twice: with the host's approximations, and with ones that are
// as far off as the hardware's may be.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/function_names.hpp>
#include <gantry/epilogue/fusion/range.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;

constexpr float kInf = INFINITY;

constexpr Function kWithEntries[] = {
#define GANTRY_X(id) Function::id,
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
};
constexpr Function kActivations[] = {
#define GANTRY_X(id) Function::id,
    GANTRY_FUSION_ACTIVATIONS(GANTRY_X)
#undef GANTRY_X
};
constexpr Function kDerivatives[] = {
#define GANTRY_X(id) Function::id,
    GANTRY_FUSION_DERIVATIVES(GANTRY_X)
#undef GANTRY_X
};

// Parameter i of an activation, where it is left out.
float parameter(Function activation, int i) { return info(activation).parameters[i].value; }
float activate(Function f, float x) { return apply(f, x, parameter(f, 0), parameter(f, 1)); }
float derive(Function f, float g, float x) { return apply(f, g, x, parameter(info(f).activation, 0)); }

double define(Function f, double a, double b = 0, double c = 0) {
  return apply(f, exactly(a), exactly(b), exactly(c)).value;
}

// Every sort of float: small and large, both signs, near 0 and near where functions bend.
class Floats {
 public:
  explicit Floats(std::uint64_t seed) : random_(seed) {}

  float next() {
    const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
    switch (random_() % 4) {
      case 0:
        return static_cast<float>((unit - 0.5) * 8);
      case 1:
        return static_cast<float>((unit - 0.5) * 200);
      case 2:
        return static_cast<float>((random_() % 2 == 0 ? 1 : -1) * std::exp2(unit * 60 - 40));
      default:
        return static_cast<float>(static_cast<int>(random_() % 13) - 6) * 0.5f;
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(FusionFunctions, StayWithinTheErrorThatStandsBesideThem) {
  Floats floats(1);
  for (const Function f : kWithEntries) {
    for (int k = 0; k < 40000; ++k) {
      const float a = floats.next(), b = floats.next(), c = floats.next();
      const Range range = apply(f, exactly(double{a}), exactly(double{b}), exactly(double{c}));
      const float y = apply(f, a, b, c);
      ASSERT_TRUE(range.holds(double{y}))
          << text_of(f) << "(" << a << ", " << b << ", " << c << ") is " << y << ", not " << range.value << " in ["
          << range.lower << ", " << range.upper << "]";
    }
  }
}

TEST(FusionFunctions, HaveRangesThatHoldEveryPointOfAnInterval) {
  Floats floats(2);
  std::mt19937_64 random(3);
  const auto inside = [&](float lower, float upper) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto x = static_cast<float>(double{lower} + unit * (double{upper} - double{lower}));
    return std::fmin(std::fmax(x, lower), upper);
  };
  const auto interval = [&] {
    const float a = floats.next(), b = random() % 3 == 0 ? a : floats.next();
    return Range{double{a}, double{std::fmin(a, b)}, double{std::fmax(a, b)}};
  };
  for (const Function f : kWithEntries) {
    for (int k = 0; k < 4000; ++k) {
      const Range a = interval(), b = interval(), c = interval();
      const Range range = apply(f, a, b, c);
      for (int j = 0; j < 8; ++j) {
        const float x = inside(static_cast<float>(a.lower), static_cast<float>(a.upper));
        const float y = inside(static_cast<float>(b.lower), static_cast<float>(b.upper));
        const float z = inside(static_cast<float>(c.lower), static_cast<float>(c.upper));
        ASSERT_TRUE(range.holds(double{apply(f, x, y, z)}))
            << text_of(f) << "(" << x << ", " << y << ", " << z << ") is " << apply(f, x, y, z) << ", not in ["
            << range.lower << ", " << range.upper << "]";
      }
    }
  }
}

TEST(FusionFunctions, HaveDefinitionsThatAgreeWithLongDouble) {
  for (double x = -13; x < 13; x += 0.0137) {
    const auto wide = static_cast<long double>(x);
    const long double gelu = wide / 2 * erfcl(-wide / sqrtl(2.0L));
    EXPECT_NEAR(define(Function::gelu, x), static_cast<double>(gelu),
                1e-15 * std::fabs(static_cast<double>(gelu)) * 50);
    const long double z = sqrtl(2 / acosl(-1.0L)) * (wide + 0.044715L * wide * wide * wide);
    const auto gelu_tanh = static_cast<double>(wide / 2 * (1 + tanhl(z)));
    EXPECT_NEAR(define(Function::gelu_tanh, x), gelu_tanh, 1e-14);
    EXPECT_NEAR(define(Function::silu, x), static_cast<double>(wide / (1 + expl(-wide))), 1e-14);
    EXPECT_NEAR(define(Function::tanh, x), static_cast<double>(tanhl(wide)), 1e-15);
    EXPECT_NEAR(define(Function::mish, x), static_cast<double>(wide * tanhl(logl(1 + expl(wide)))), 1e-14);
    const long double sine = sinl(1.5L * wide);
    EXPECT_NEAR(define(Function::snake, x, 1.5), static_cast<double>(wide + sine * sine / 1.5L), 1e-14);
  }
}

TEST(FusionFunctions, KeepTheDigitsOfGeluInItsNegativeTail) {
  for (float x = -10; x < -1; x += 0.01f) {
    const double y = define(Function::gelu, double{x});
    EXPECT_NEAR(double{apply<Function::gelu>(x)} / y, 1, 3e-5) << x;
  }
}

TEST(FusionFunctions, HaveDerivativesThatAreTheSlopesOfTheirDefinitions) {
  constexpr double kStep = 1e-5;
  for (const Function derivative : kDerivatives) {
    const Function f = info(derivative).activation;
    const auto p = static_cast<double>(parameter(f, 0));
    for (double x = -6.0005; x < 6; x += 0.0113) {
      const bool at_a_bend = std::fabs(x) < 1e-3 || std::fabs(std::fabs(x) - 3) < 1e-3;
      if (at_a_bend) continue;
      const double slope = (define(f, x + kStep, p) - define(f, x - kStep, p)) / (2 * kStep);
      EXPECT_NEAR(define(derivative, 1, x, p), slope, 1e-8) << text_of(derivative) << " at " << x;
      EXPECT_DOUBLE_EQ(define(derivative, -2.5, x, p), -2.5 * define(derivative, 1, x, p));
    }
  }
}

TEST(FusionFunctions, PassNotANumberThroughActivations) {
  for (const Function f : kActivations) EXPECT_TRUE(std::isnan(activate(f, NAN))) << text_of(f);
  for (const Function f : kDerivatives) {
    const bool chooses = f == Function::d_relu || f == Function::d_leaky_relu;
    EXPECT_EQ(std::isnan(derive(f, 1.0f, NAN)), !chooses) << text_of(f);
    EXPECT_TRUE(std::isnan(derive(f, NAN, 1.0f))) << text_of(f);
  }
  EXPECT_EQ(apply(Function::d_relu, 1.0f, NAN), 0);
}

// What goes in is NaN for certain, or one of a few numbers; what comes out is held by the range, and is NaN for certain
// wherever the other inputs do not matter.
TEST(FusionFunctions, HaveRangesThatSayWhereNotANumberComesOut) {
  const float all[] = {NAN, -kInf, -2.0f, -0.0f, 0.0f, 0.5f, 3.0f, kInf};
  for (const Function f : kWithEntries) {
    for (const float a : all) {
      for (const float b : all) {
        for (const float c : all) {
          const Range range = apply(f, exactly(double{a}), exactly(double{b}), exactly(double{c}));
          ASSERT_TRUE(range.holds(double{apply(f, a, b, c)}))
              << text_of(f) << "(" << a << ", " << b << ", " << c << ")";
        }
      }
    }
  }
  for (const Function f : kActivations) {
    const Range first = exactly(static_cast<double>(parameter(f, 0)));
    const Range second = exactly(static_cast<double>(parameter(f, 1)));
    EXPECT_TRUE(apply(f, exactly(NAN), first, second).is_nan()) << text_of(f);
  }
  EXPECT_TRUE(apply(Function::add, exactly(1), exactly(NAN)).is_nan());
  EXPECT_FALSE(apply(Function::add, exactly(1), exactly(NAN)).holds(1));
  EXPECT_TRUE(apply(Function::multiply, Range{0, -HUGE_VAL, HUGE_VAL}, exactly(0)).holds(0));
}

TEST(FusionFunctions, LetANumberWinOverNotANumberInMinimumAndMaximum) {
  EXPECT_EQ(apply(Function::min, NAN, 2.0f), 2);
  EXPECT_EQ(apply(Function::max, 2.0f, NAN), 2);
  EXPECT_EQ(apply(Function::greater, NAN, 2.0f), 0);
  EXPECT_EQ(apply(Function::greater, 2.0f, NAN), 0);
  EXPECT_EQ(apply(Function::select, NAN, 2.0f, 3.0f), 2);
}

TEST(FusionFunctions, HaveLimitsAtInfinity) {
  EXPECT_EQ(apply(Function::relu, kInf), kInf);
  EXPECT_EQ(apply(Function::relu, -kInf), 0);
  EXPECT_EQ(apply(Function::sigmoid, -kInf), 0);
  EXPECT_NEAR(apply(Function::sigmoid, kInf), 1, 0x1p-21);
  EXPECT_NEAR(apply(Function::tanh, kInf), 1, 0x1p-11);
  EXPECT_EQ(apply(Function::exp, -kInf), 0);
  EXPECT_EQ(apply(Function::exp, kInf), kInf);
  EXPECT_EQ(apply(Function::log, 0.0f), -kInf);
  EXPECT_TRUE(std::isnan(apply(Function::log, -1.0f)));
  EXPECT_TRUE(std::isnan(apply(Function::sqrt, -1.0f)));
  EXPECT_EQ(apply(Function::rcp, 0.0f), kInf);
  EXPECT_EQ(apply(Function::rcp, -0.0f), -kInf);
  EXPECT_EQ(apply(Function::divide, 1.0f, 0.0f), kInf);
  for (const Function f : {Function::silu, Function::gelu, Function::hardswish, Function::mish}) {
    EXPECT_EQ(apply(f, kInf), kInf) << text_of(f);
    EXPECT_TRUE(std::isnan(apply(f, -kInf))) << text_of(f);
  }
  for (const Function f :
       {Function::d_silu, Function::d_gelu, Function::d_gelu_tanh, Function::d_hardswish, Function::d_mish}) {
    EXPECT_NEAR(apply(f, 1.0f, kInf), 1, 0x1p-20) << text_of(f);
    EXPECT_NEAR(apply(f, 1.0f, -kInf), 0, 0x1p-20) << text_of(f);
    EXPECT_NEAR(apply(f, 1.0f, 1e30f), 1, 0x1p-20) << text_of(f);
  }
  for (const Function f : {Function::d_sigmoid, Function::d_tanh}) {
    EXPECT_EQ(apply(f, 1.0f, kInf), 0) << text_of(f);
    EXPECT_EQ(apply(f, 1.0f, -kInf), 0) << text_of(f);
  }
}

TEST(FusionFunctions, CutAtTheirThresholds) {
  EXPECT_EQ(apply(Function::threshold_relu, 0.5f, 0.5f, 6.0f), 0) << "at the threshold";
  EXPECT_EQ(apply(Function::threshold_relu, 0.75f, 0.5f, 6.0f), 0.75f);
  EXPECT_EQ(apply(Function::threshold_relu, 7.0f, 0.5f, 6.0f), 6);
  EXPECT_EQ(apply(Function::threshold_relu, -1.0f, -2.0f, 6.0f), -1) << "above a negative threshold";
  EXPECT_EQ(apply(Function::threshold_relu, -3.0f, -2.0f, -1.0f), -1) << "the bound wins over 0";
  EXPECT_EQ(apply(Function::lower_bound, -3.0f, -2.0f), -2);
  EXPECT_EQ(apply(Function::lower_bound, 3.0f, -2.0f), 3);
}

TEST(FusionFunctions, KeepTheDigitsOfMishInItsNegativeTail) {
  for (float x = -80; x < -1; x += 0.1f) {
    EXPECT_NEAR(double{apply<Function::mish>(x)} / define(Function::mish, double{x}), 1, 3e-5) << x;
  }
}

TEST(FusionFunctions, AddNothingToAWholeHalfTurnOfSnake) {
  const auto pi = static_cast<float>(std::acos(-1.0));
  EXPECT_NEAR(apply(Function::snake, pi, 1.0f), pi, 1e-6f);
  EXPECT_NEAR(apply(Function::snake, pi / 2, 1.0f), pi / 2 + 1, 1e-6f);
  EXPECT_NEAR(apply(Function::snake, pi / 2, -1.0f), pi / 2 - 1, 1e-6f);
  EXPECT_NEAR(apply(Function::snake, 0.25f, 4.0f), 0.25 + std::sin(1.0) * std::sin(1.0) / 4, 1e-6);
}

TEST(FusionFunctions, TreatNegativeZeroAsStated) {
  EXPECT_FALSE(std::signbit(apply(Function::relu, -0.0f)));
  EXPECT_TRUE(std::signbit(apply(Function::neg, 0.0f)));
  EXPECT_FALSE(std::signbit(apply(Function::abs, -0.0f)));
  EXPECT_EQ(apply(Function::select, -0.0f, 2.0f, 3.0f), 3);
}

TEST(FusionFunctions, AreThoseOfConstantIndicesToo) {
  EXPECT_EQ(apply<Function::fma>(2.0f, 3.0f, 4.0f), 10);
  EXPECT_EQ(apply<Function::clamp>(5.0f, -1.0f, 1.0f), 1);
  EXPECT_EQ(apply<Function::clamp>(0.0f, 2.0f, 1.0f), 1) << "upper wins";
  EXPECT_EQ((apply<Function::leaky_relu>(-2.0f, 0.25f)), -0.5f);
}

TEST(FusionFunctions, ComputeWithComplexNumbers) {
  const cf32 a{1, 2}, b{3, -1}, c{0.5f, 0.5f};
  EXPECT_TRUE(apply<Function::add>(a, b) == (cf32{4, 1}));
  EXPECT_TRUE(apply<Function::subtract>(a, b) == (cf32{-2, 3}));
  EXPECT_TRUE(apply<Function::multiply>(a, b) == (cf32{5, 5}));
  EXPECT_TRUE((apply<Function::fma>(a, b, c) == cf32{5.5f, 5.5f}));
  EXPECT_TRUE(apply<Function::neg>(a) == (cf32{-1, -2}));
}

template <ElementType e>
void rounds_as_convert_does() {
  Floats floats(5);
  for (int i = 0; i < 5000; ++i) {
    const float x = floats.next();
    EXPECT_EQ(round_to<e>(x), convert<float>(convert<element_t<e>>(x))) << info(e).name << " of " << x;
    EXPECT_EQ(round_to(e, x), round_to<e>(x));
  }
}

TEST(FusionFunctions, RoundAsTheElementTypesDo) {
  rounds_as_convert_does<ElementType::f16>();
  rounds_as_convert_does<ElementType::bf16>();
  rounds_as_convert_does<ElementType::tf32>();
  rounds_as_convert_does<ElementType::e4m3>();
  rounds_as_convert_does<ElementType::e5m2>();
  rounds_as_convert_does<ElementType::s8>();
  EXPECT_EQ(round_to<ElementType::f32>(0.1f), 0.1f);
  EXPECT_TRUE(round_to<ElementType::bf16>(cf32{1.001f, 2}) == (cf32{1, 2}));
}

struct Twice {
  static constexpr const char* name = "twice";
  static float call(float x) { return 2 * x; }
};
struct Minus {
  static constexpr const char* name = "minus";
  static float call(float a, float b) { return a - b; }
};

TEST(FusionFunctions, CallTheUsersOwnByTheirPosition) {
  using Users = UserFunctions<Twice, Minus>;
  EXPECT_STREQ(Users::name(0), Twice::name);
  EXPECT_STREQ(Users::name(1), Minus::name);
  static_assert(Users::kCount == 2 && Users::arity(0) == 1 && Users::arity(1) == 2);
  EXPECT_EQ((apply_user<0, Users>(3.0f)), 6);
  EXPECT_EQ((apply_user<1, Users>(3.0f, 1.0f)), 2);
  EXPECT_EQ((apply_user<Users>(1, 3.0f, 1.0f, 0.0f)), 2);
  EXPECT_TRUE(std::isnan(apply_user<Users>(2, 3.0f, 1.0f, 0.0f)));
}

}  // namespace
