// The functions that a node of a fusion graph may compute: the enumeration, and what is known of each, made from the
// entries in functions/ (entry.hpp says what an entry has). `round` needs an element type, `rotate` a second column,
// `across_...` and `top_k` all columns of a row and `user` a pack of functions beside their inputs; they have no entry.
//
// Example:
//     using namespace gantry::fusion;
//     static_assert(info(Function::leaky_relu).arity == 2 && info(Function::leaky_relu).parameter_count == 1);
//     static_assert(cost_of(Function::gelu).is_heavy() && !cost_of(Function::relu).is_heavy());
//     static_assert(info(Function::silu).derivative == Function::d_silu);
//     static_assert(__is_same(FunctionEntry<Function::silu>, functions::silu));
#pragma once

#include <gantry/epilogue/fusion/functions/activations.hpp>
#include <gantry/epilogue/fusion/functions/arithmetic.hpp>
#include <gantry/epilogue/fusion/functions/derivatives.hpp>

// X(name) of every function that has an entry.
#define GANTRY_FUSION_FUNCTIONS(X) GANTRY_FUSION_ARITHMETIC(X) GANTRY_FUSION_ACTIVATIONS(X) GANTRY_FUSION_DERIVATIVES(X)

namespace gantry::fusion {

enum class Function : std::uint8_t {
#define GANTRY_X(id) id,
  GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
      round,    // x as Node::element holds it
  rotate,       // the other column of the pair that Node::head says, with its sign (rotation.hpp)
  across_add,   // of the columns of a row, Node::head of them or all, the sum (across.hpp)
  across_max,   // the largest
  across_amax,  // the largest absolute value
  top_k,        // 1 where x is among the Node::most largest of its row, else 0
  user          // one of the functions that come with the graph
};

inline constexpr int kFunctionCount = static_cast<int>(Function::user) + 1;

namespace detail {

template <Function f>
struct EntryOfFunction;
template <class E>
struct FunctionOfEntry;
// That the library's own entries are whole is checked by the compilers of the host alone: nvcc reads this twice.
#if GANTRY_NVCC
#define GANTRY_WHOLE_ENTRY(id)
#else
#define GANTRY_WHOLE_ENTRY(id) static_assert(is_whole_entry<functions::id>());
#endif
#define GANTRY_X(id)                                \
  template <>                                       \
  struct EntryOfFunction<Function::id> {            \
    GANTRY_WHOLE_ENTRY(id)                          \
    using type = functions::id;                     \
  };                                                \
  template <>                                       \
  struct FunctionOfEntry<functions::id> {           \
    static constexpr Function value = Function::id; \
  };
GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
#undef GANTRY_WHOLE_ENTRY

}  // namespace detail

template <Function f>
using FunctionEntry = typename detail::EntryOfFunction<f>::type;

struct FunctionInfo {
  Function function{};
  const char* name = "";
  const char* inputs = "";
  const char* meaning = "";
  const char* specials = "";
  int arity = 0;
  FunctionCost cost{};
  ErrorBound error{};
  bool is_complex = false;               // may be given complex numbers
  bool takes_half = false;               // has `of_half`
  Function activation = Function::user;  // of a derivative, else user
  Function derivative = Function::user;  // of an activation that has one, else user
  FunctionParameter parameters[2] = {};  // of an activation
  int parameter_count = 0;
};

namespace detail {

template <class E>
concept TakesHalf = requires(float h) {
  E::of_half(h);
};

// Nobody knows what a user's function takes: it counts as one that takes much.
inline constexpr FunctionCost kCostOfRound{.special = 0, .instructions = 2, .registers = 0};
inline constexpr FunctionCost kCostOfRotate{.special = 0, .instructions = 1, .registers = 0};
// All columns of a row are on their way at once: beside the accumulators of 128 x 192 in one warpgroup they spill.
inline constexpr FunctionCost kCostOfAcross{.special = 0, .instructions = 2, .registers = 8};
inline constexpr FunctionCost kCostOfTopK{.special = 0, .instructions = 8, .registers = 8};
inline constexpr FunctionCost kCostOfUser{.special = 1, .instructions = 0, .registers = 0};

template <class E>
GANTRY_HD constexpr bool takes_complex() {
  if constexpr (kArityOf<E> == 1) return requires(cf32 z) {
      E::call(z);
    };
  if constexpr (kArityOf<E> == 2) return requires(cf32 z) {
      E::call(z, z);
    };
  return requires(cf32 z) { E::call(z, z, z); };
}

template <class E>
constexpr FunctionInfo info_of(const char* name) {
  FunctionInfo out;
  out.function = FunctionOfEntry<E>::value;
  out.name = name;
  out.inputs = E::kInputs;
  out.meaning = E::kMeaning;
  out.specials = E::kSpecials;
  out.arity = kArityOf<E>;
  out.cost = E::kCost;
  out.error = E::kError;
  out.is_complex = takes_complex<E>();
  out.takes_half = TakesHalf<E>;
  if constexpr (requires { typename E::of; }) out.activation = FunctionOfEntry<typename E::of>::value;
  if constexpr (requires { E::kParameters; }) {
    for (const FunctionParameter& parameter : E::kParameters) out.parameters[out.parameter_count++] = parameter;
  }
  return out;
}

struct FunctionTable {
  FunctionInfo of[kFunctionCount];
};
constexpr FunctionTable make_function_table() {
  FunctionTable table{{
#define GANTRY_X(id) info_of<functions::id>(#id),
      GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
          {.function = Function::round,
           .name = "round",
           .inputs = "x:type",
           .meaning = "x as the element type holds it",
           .arity = 1,
           .cost = kCostOfRound},
      {.function = Function::rotate,
       .name = "rotate",
       .inputs = "x, head",
       .meaning = "-x[m, n + head / 2] in the first half of each head columns, x[m, n - head / 2] in the second",
       .specials = "IEEE",
       .arity = 1,
       .cost = kCostOfRotate},
      {.function = Function::across_add,
       .name = "across_add",
       .inputs = "x, columns",
       .meaning = "the sum of x over the row, or over each block of so many columns of it",
       .specials = "IEEE",
       .arity = 1,
       .cost = kCostOfAcross,
       .error = {.scaled = 0x1p-16, .scale = "the sum of |x|"}},
      {.function = Function::across_max,
       .name = "across_max",
       .inputs = "x, columns",
       .meaning = "the largest x of the row, or of each block of so many columns of it",
       .specials = "a NaN is the result",
       .arity = 1,
       .cost = kCostOfAcross},
      {.function = Function::across_amax,
       .name = "across_amax",
       .inputs = "x, columns",
       .meaning = "the largest |x| of the row, or of each block of so many columns of it",
       .specials = "a NaN is the result",
       .arity = 1,
       .cost = kCostOfAcross},
      {.function = Function::top_k,
       .name = "top_k",
       .inputs = "x, k",
       .meaning = "1 where fewer than k values of the row are larger than x, else 0",
       .specials = "1 in a row with a NaN",
       .arity = 1,
       .cost = kCostOfTopK},
      {.function = Function::user, .name = "user", .cost = kCostOfUser},
  }};
  for (const FunctionInfo& f : table.of) {
    if (f.activation != Function::user) table.of[static_cast<int>(f.activation)].derivative = f.function;
  }
  return table;
}

}  // namespace detail

inline constexpr detail::FunctionTable kFunctions = detail::make_function_table();

constexpr const FunctionInfo& info(Function f) { return kFunctions.of[static_cast<int>(f)]; }
constexpr const char* text_of(Function f) { return info(f).name; }

// The same for device code, which cannot look into a table of the host.
GANTRY_HD constexpr int arity(Function f) {
  constexpr int kArities[] = {
#define GANTRY_X(id) kArityOf<functions::id>,
      GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
          1,
      1,
      1,
      1,
      1,
      1,
      0};
  return kArities[static_cast<int>(f)];
}
GANTRY_HD constexpr FunctionCost cost_of(Function f) {
  constexpr FunctionCost kCosts[] = {
#define GANTRY_X(id) functions::id::kCost,
      GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
          detail::kCostOfRound,
      detail::kCostOfRotate,
      detail::kCostOfAcross,
      detail::kCostOfAcross,
      detail::kCostOfAcross,
      detail::kCostOfTopK,
      detail::kCostOfUser};
  return kCosts[static_cast<int>(f)];
}
GANTRY_HD constexpr bool takes_complex(Function f) {
  constexpr bool kTakesComplex[] = {
#define GANTRY_X(id) detail::takes_complex<functions::id>(),
      GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
          false,
      false,
      false,
      false,
      false,
      false,
      false};
  return kTakesComplex[static_cast<int>(f)];
}
GANTRY_HD constexpr bool takes_half(Function f) {
  constexpr bool kTakesHalf[] = {
#define GANTRY_X(id) detail::TakesHalf<functions::id>,
      GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
          false,
      false,
      false,
      false,
      false,
      false,
      false};
  return kTakesHalf[static_cast<int>(f)];
}

}  // namespace gantry::fusion
