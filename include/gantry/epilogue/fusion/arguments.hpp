// The arguments of a fusion, by name, on the host.
//
//   args["alpha"] = 2.0f;                     a scalar by value
//   args["alpha"] = pointer;                  in device memory; with .batched(pointer, 1) another one for each batch
//   args["alpha"].by_gemm(pointers);          of a pointer array: an address for each GEMM; vectors likewise
//   args["bias"] = pointer;                   a vector; .batched(pointer, n) one for each batch
//   args["bias"] = 0.5f;                      a vector of one number, in the place of an address
//   args["aux"] = pointer;                    a dense tensor; .tensor(pointer, stride, batch_stride) any other
//   args["amax"] = pointer;                   a reduction; .batched(...) one for each batch, else one for all batches;
//                                             one that has results of blocks is given as a tensor is
// Strides count elements. Nothing is refused at once: problems() has a reason for every unknown name, wrong type, wrong
// alignment and missing argument. ArgumentsFor<F> knows the graph F::graph at compile time, where
// set<"bias">(pointer) does not compile with a wrong name or type.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry::fusion;
//     const Graph g = graph("d = relu(alpha * acc + row(bias))");
//     float bias[64] = {};
//     FusionArguments args(g);
//     args["bias"] = bias;
//     args["bais"] = bias;
//     const gantry::ArgumentReasons reasons = args.problems({.m = 128, .n = 64});
//     const bool known = reasons.has(gantry::ArgumentRule::unknown_name);
//     // describe(reasons[0]): "there is no argument bais: ...; did you mean bias? The arguments are alpha, bias"
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/epilogue/detail/distance.hpp>
#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/epilogue/fusion/function_names.hpp>
#include <gantry/epilogue/fusion/params.hpp>
#include <gantry/epilogue/fusion/print.hpp>

namespace gantry::fusion {

// Whether a number may be given in the place of an address: a vector is then the same everywhere.
constexpr bool takes_number(const Argument& argument) {
  return argument.kind == ArgumentKind::scalar || argument.kind == ArgumentKind::row ||
         argument.kind == ArgumentKind::column;
}

// What the host gave for one argument.
struct ArgumentValue {
  static constexpr std::int64_t kDense = -1;

  bool given = false;
  float value = 0;               // of a scalar or a vector without a pointer
  void* pointer = nullptr;       // where it is in memory; null: the value, or the default
  std::int64_t stride = kDense;  // of a tensor: from one row (or column) to the next
  // From one batch to the next; 0: all share one; kByAddress: an array of addresses (params.hpp). kDense is 0 but for
  // matrices; with groups of rows it is 0 but for row vectors, one for each group.
  std::int64_t batch_stride = kDense;
};

struct ProblemShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t batch = 1;
  bool groups_of_rows = false;     // `batch` groups share M rows: tensors and column vectors are one for all of them
  bool pointer_array = false;      // each group has its own: vectors and tensors are arrays of addresses
  bool groups_of_columns = false;  // groups of rows from the other side: row vectors are one for all of them

  bool share_tensors() const { return groups_of_rows || groups_of_columns; }
};

// The values as a kernel needs them: defaults in place, dense strides as numbers.
struct ResolvedArguments {
  ArgumentValue values[kMaxArguments];
};

class FusionArguments {
 public:
  GANTRY_LINKAGE explicit FusionArguments(const Graph& graph);
  GANTRY_LINKAGE FusionArguments(const FusionArguments&);
  GANTRY_LINKAGE FusionArguments(FusionArguments&&) noexcept;
  GANTRY_LINKAGE FusionArguments& operator=(const FusionArguments&);
  GANTRY_LINKAGE FusionArguments& operator=(FusionArguments&&) noexcept;
  GANTRY_LINKAGE ~FusionArguments();

  // One argument, to be given. Holds on to the FusionArguments.
  class Slot {
   public:
    Slot(FusionArguments& owner, int index) : owner_(owner), index_(index) {}

    void operator=(float value) { owner_.set_value(index_, value); }  // NOLINT(misc-unconventional-assign-operator)
    template <class T>
    void operator=(T* pointer) {  // NOLINT(misc-unconventional-assign-operator)
      owner_.set_pointer(index_, pointer, ArgumentValue::kDense, ArgumentValue::kDense);
    }
    void operator=(std::nullptr_t) {
      owner_.set_value(index_, 0, true);
    }  // NOLINT(misc-unconventional-assign-operator)

    template <class T>
    void batched(T* pointer, std::int64_t batch_stride) {
      owner_.set_pointer(index_, pointer, ArgumentValue::kDense, batch_stride);
    }
    // Of a pointer array: where the scalar or the vector of each GEMM is, in memory of the device; null: its default.
    template <class T>
    void by_gemm(T* const* pointers) {
      owner_.set_addresses(index_, pointers);
    }
    template <class T>
    void tensor(T* pointer, std::int64_t stride, std::int64_t batch_stride = ArgumentValue::kDense) {
      owner_.set_pointer(index_, pointer, stride, batch_stride);
    }

   private:
    FusionArguments& owner_;
    int index_;
  };

  Slot operator[](const char* name) { return {*this, find(name)}; }

  const Graph& graph() const { return graph_; }
  // The same values for a graph that has the same arguments in another form: the swapped one.
  GANTRY_LINKAGE FusionArguments with_graph(const Graph& graph) const;
  const ArgumentValue& value(int i) const { return values_[i]; }

  // Every reason why the fusion cannot run on a problem of this shape with what was given.
  GANTRY_COLD GANTRY_LINKAGE ArgumentReasons problems(const ProblemShape& shape) const;

  // Requires that there are no problems.
  GANTRY_LINKAGE ResolvedArguments resolved(const ProblemShape& shape) const;

 private:
  struct Refusals;

  GANTRY_LINKAGE void copy_values(const FusionArguments& other);
  GANTRY_LINKAGE int find(const char* name);

  GANTRY_COLD GANTRY_LINKAGE ArgumentReason about(int i, ArgumentRule rule) const;
  // Of argument `i`; -1: there is none of that name.
  GANTRY_LINKAGE void refuse(int i, const ArgumentReason& reason);
  // What is given again takes the place of what was refused.
  GANTRY_LINKAGE void forget_refusals(int i);

  GANTRY_LINKAGE void set_value(int i, float value, bool is_null = false);

  // An address as it was given: of which element type, void_ where the program does not say, and whether it is const.
  struct Address {
    void* pointer;
    ElementType element;
    bool bytes;  // of std::uint8_t, which stand for packed elements too
    bool is_const;
    std::int64_t stride, batch_stride;
  };
  template <class T>
  void set_pointer(int i, T* pointer, std::int64_t stride, std::int64_t batch_stride) {
    using Element = std::remove_const_t<T>;
    ElementType element = ElementType::void_;
    if constexpr (!__is_same(Element, void)) element = element_type_v<Element>;
    set_address(i, {const_cast<Element*>(pointer), element, __is_same(Element, std::uint8_t),  // NOLINT: inputs stay so
                    std::is_const_v<T>, stride, batch_stride});
  }
  template <class T>
  void set_addresses(int i, T* const* pointers) {
    if (i < 0) return;
    ElementType element = ElementType::void_;
    if constexpr (!__is_same(std::remove_const_t<T>, void)) element = element_type_v<std::remove_const_t<T>>;
    const bool scalar = graph_.arguments[i].kind == ArgumentKind::scalar;
    set_address(i, {const_cast<void*>(static_cast<const void*>(pointers)), element, false,  // NOLINT: inputs stay so
                    true, ArgumentValue::kDense, scalar ? kByAddress : ArgumentValue::kDense});
  }
  GANTRY_LINKAGE void set_address(int i, const Address& given);

  GANTRY_LINKAGE ArgumentValue resolve(int i, const ProblemShape& shape) const;

  GANTRY_COLD GANTRY_LINKAGE void check(int i, const ProblemShape& shape, ArgumentReasons& out) const;

  // Both columns of every pair that is rotated are there.
  GANTRY_COLD GANTRY_LINKAGE void check_heads(const ProblemShape& shape, ArgumentReasons& out) const;

  GANTRY_COLD GANTRY_LINKAGE void check_tensor(int i, const ArgumentValue& value, const ProblemShape& shape,
                                               ArgumentReasons& out) const;

  GANTRY_COLD GANTRY_LINKAGE void check_results(int i, const ArgumentValue& value, const ProblemShape& shape,
                                                ArgumentReasons& out) const;

  Graph graph_;
  ArgumentValue values_[kMaxArguments];
  bool null_[kMaxArguments] = {};  // given as a null pointer
  Refusals* refusals_ = nullptr;
};

// With a graph that is known at compile time: F has a `static constexpr Graph graph`.
template <class F>
class ArgumentsFor : public FusionArguments {
 public:
  ArgumentsFor() : FusionArguments(TheGraph::value) {}

  // args.set<"bias">(pointer), args.set<"alpha">(2.0f): the name and the type are checked by the compiler.
  template <Name name>
  void set(float value) {
    constexpr int i = index<name>();
    static_assert(takes_number(F::graph.arguments[i]),
                  "gantry: scalars and vectors are given by value; tensors and reductions by their address");
    (*this)[name.text] = value;
  }
  template <Name name, class T>
  void set(T* pointer, std::int64_t batch_stride = ArgumentValue::kDense) {
    expect_element<name, T>();
    (*this)[name.text].batched(pointer, batch_stride);
  }
  template <Name name, class T>
  void set_tensor(T* pointer, std::int64_t stride, std::int64_t batch_stride = ArgumentValue::kDense) {
    expect_element<name, T>();
    static_assert(is_matrix(F::graph.arguments[index<name>()]),
                  "gantry: only a tensor, and the results of blocks, have a stride");
    (*this)[name.text].tensor(pointer, stride, batch_stride);
  }

 private:
  template <Name name, class T>
  static constexpr void expect_element() {
    constexpr Argument argument = F::graph.arguments[index<name>()];
    using Element = std::remove_const_t<T>;
    if constexpr (!__is_same(Element, void)) {
      constexpr bool kBytes = info(argument.element).bits < 8 && __is_same(Element, std::uint8_t);
      static_assert(element_type_v<Element> == argument.element || kBytes,
                    "gantry: this address is of another element type than the argument of this name");
    }
    static_assert(!is_output(argument.kind) || !std::is_const_v<T>, "gantry: this argument is written");
  }

  // F::graph itself is not to be referred to: nvcc would then want everything that F has on the device as well.
  struct TheGraph {
    static constexpr Graph value = F::graph;
  };

  template <Name name>
  static constexpr int index() {
    constexpr int found = [] {
      for (int i = 0; i < F::graph.argument_count; ++i) {
        if (F::graph.arguments[i].name == name) return i;
      }
      return -1;
    }();
    static_assert(found >= 0, "gantry: the fusion has no argument of this name");
    return found < 0 ? 0 : found;
  }
};

}  // namespace gantry::fusion

#if GANTRY_DEFINES_PLANNING
#include <gantry/epilogue/fusion/detail/arguments_definitions.hpp>
#endif
