// What functions, reductions and values are called in the text of a fusion graph, and the nearest such name.
//
// Example:
//     using namespace gantry::fusion;
//     static_assert(find_function("sqrt") == Function::sqrt);
//     static_assert(find_function("gleu") == Function::user);  // no function of ours
//     static_assert(nearest_function("gleu") == Name("gelu"));
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/numeric/element_name.hpp>

namespace gantry::fusion {

// Function::user when no function of ours has this name.
constexpr Function find_function(const char* text) {
  for (const FunctionInfo& f : kFunctions.of) {
    if (gantry::detail::same_text(text, f.name)) return f.function;
  }
  return Function::user;
}

struct ReductionName {
  const char* text;
  Reduction reduction;
  Extent extent;
};
// reduce_row_... gives a row vector, one result for each n; reduce_col_... a column vector.
inline constexpr ReductionName kReductionNames[] = {{"reduce_add", Reduction::add, Extent::scalar},
                                                    {"reduce_row_add", Reduction::add, Extent::row},
                                                    {"reduce_col_add", Reduction::add, Extent::column},
                                                    {"reduce_max", Reduction::max, Extent::scalar},
                                                    {"reduce_row_max", Reduction::max, Extent::row},
                                                    {"reduce_col_max", Reduction::max, Extent::column},
                                                    {"reduce_amax", Reduction::amax, Extent::scalar},
                                                    {"reduce_row_amax", Reduction::amax, Extent::row},
                                                    {"reduce_col_amax", Reduction::amax, Extent::column},
                                                    {"reduce_min", Reduction::min, Extent::scalar},
                                                    {"reduce_row_min", Reduction::min, Extent::row},
                                                    {"reduce_col_min", Reduction::min, Extent::column},
                                                    {"reduce_mul", Reduction::mul, Extent::scalar},
                                                    {"reduce_row_mul", Reduction::mul, Extent::row},
                                                    {"reduce_col_mul", Reduction::mul, Extent::column},
                                                    {"reduce_lse", Reduction::lse, Extent::scalar},
                                                    {"reduce_row_lse", Reduction::lse, Extent::row},
                                                    {"reduce_col_lse", Reduction::lse, Extent::column},
                                                    {"reduce_sumexp", Reduction::sumexp, Extent::scalar},
                                                    {"reduce_row_sumexp", Reduction::sumexp, Extent::row},
                                                    {"reduce_col_sumexp", Reduction::sumexp, Extent::column},
                                                    // Other names of the first three.
                                                    {"reduce_sum", Reduction::add, Extent::scalar},
                                                    {"reduce_row_sum", Reduction::add, Extent::row},
                                                    {"reduce_col_sum", Reduction::add, Extent::column}};

constexpr const char* text_of(Reduction reduction, Extent extent) {
  for (const ReductionName& name : kReductionNames) {
    if (name.reduction == reduction && name.extent == extent) return name.text;
  }
  return "";
}

struct RoundingName {
  const char* text;
  Rounding rounding;
};
inline constexpr RoundingName kRoundingNames[] = {{"nearest_even", Rounding::nearest_even},
                                                  {"nearest_away", Rounding::nearest_away},
                                                  {"toward_zero", Rounding::toward_zero}};

constexpr const char* text_of(Rounding rounding) { return kRoundingNames[static_cast<int>(rounding)].text; }

// Keeps the nearest of the names it is shown to one that nobody knows.
class Nearest {
 public:
  constexpr explicit Nearest(const char* wanted) : wanted_(cut(wanted)) {}

  constexpr void consider(const char* name) {
    const int distance = gantry::detail::edit_distance(wanted_.text, name);
    if (distance < smallest_) {
      smallest_ = distance;
      name_ = name;
    }
  }
  // Empty where not even half of the letters agree.
  constexpr const Name& name() const { return name_; }

 private:
  static constexpr int half_of(const Name& name) {
    int length = 0;
    while (length < kMaxName && name.text[length] != '\0') ++length;
    return length / 2 + 1;
  }
  static constexpr Name cut(const char* text) {
    Name name(text);
    name.text[kMaxName] = '\0';
    return name;
  }

  Name wanted_;
  Name name_;
  int smallest_ = half_of(wanted_) + 1;
};

// The nearest function or reduction, or an empty name.
constexpr Name nearest_function(const char* text) {
  Nearest nearest(text);
  for (const FunctionInfo& f : kFunctions.of) {
    if (f.function != Function::user) nearest.consider(f.name);
  }
  for (const ReductionName& name : kReductionNames) nearest.consider(name.text);
  constexpr const char* kLoads[] = {
      "scalar",          "row",           "col",         "load",    "keep",         "dropout",
      "rotary_adjacent", "rotary_halves", "block_scale", "softmax", "top_k_softmax"};
  for (const char* name : kLoads) nearest.consider(name);
  return nearest.name();
}

}  // namespace gantry::fusion
