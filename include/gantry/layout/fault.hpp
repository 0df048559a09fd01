// Why a layout could not be computed. Every rule of the layout layer stands once, in the table below; the same sentence
// is shown by the command line, thrown by accessors at run time and printed by the compiler.
//
// A tuple or layout that could not be computed carries its Fault instead of a value, and every function given such a
// value returns it unchanged, as arithmetic does with NaN: check once, at the end of a computation.
//
// Example:
//     constexpr gantry::Fault f{gantry::Rule::extent_below_one, -3, 1};
//     static_assert(gantry::describe(f) == "an extent is -3: extents must be at least 1");
#pragma once

#include <gantry/layout/text.hpp>

#if !GANTRY_ON_DEVICE
#include <exception>
#endif

// X(id, sentence). {actual} and {wanted} stand for the two values of the Fault.
#define GANTRY_LAYOUT_RULES(X)                                                                                         \
  X(none, "no fault")                                                                                                  \
  X(capacity, "a tuple needs {actual} nodes (leaves and parentheses): a tuple holds at most {wanted}")                 \
  X(basis_depth, "a basis element names {actual} nested modes: at most {wanted} are possible")                         \
  X(basis_index, "a basis element names mode {actual}: mode indices go from 0 to 31")                                  \
  X(overflow, "an integer result does not fit in 64 bits")                                                             \
  X(layout_overflow, "the size or the span of a layout does not fit in 64 bits")                                       \
  X(number_overflow, "a number does not fit in 64 bits: the largest is 9223372036854775807")                           \
  X(denominator_range, "a denominator is {actual}: denominators go from 1 to {wanted}")                                \
  X(division_by_zero, "a division by zero was asked for")                                                              \
  X(extent_below_one, "an extent is {actual}: extents must be at least {wanted}")                                      \
  X(not_an_integer, "an integer was expected where a tuple or '_' stands")                                             \
  X(not_an_extent, "an extent must be a plain integer, without '_' alone and without a basis '@'")                     \
  X(not_congruent,                                                                                                     \
    "shape and stride have different profiles: the shape's leaves number {wanted}, the stride's {actual}")             \
  X(coordinate_profile, "a coordinate has rank {actual}: the shape that it indexes has rank {wanted}")                 \
  X(coordinate_deeper, "a coordinate is nested more deeply than the shape that it indexes")                            \
  X(mode_out_of_range, "mode {actual} was asked for: modes 0 to {wanted} exist")                                       \
  X(range_empty, "a range of modes starts at {actual} and ends before it, at {wanted}")                                \
  X(rank_mismatch, "two tuples have ranks {actual} and {wanted}: they must have the same rank")                        \
  X(rank_above, "rank {wanted} was asked for: the rank is {actual} already")                                           \
  X(leaf_count, "the leaves number {actual}: the profile that they go on has places for {wanted}")                     \
  X(profiles_differ, "two tuples have different profiles: they must be nested in the same way")                        \
  X(basis_in_offset, "a layout whose strides are basis elements gives coordinates, not offsets: use at()")             \
  X(value_unknown, "a run-time value is needed that is not known at compile time: bind it first")                      \
  X(mixed_basis, "an integer and a basis element cannot be added")                                                     \
  X(basis_product, "two basis elements cannot be multiplied")                                                          \
  X(shape_div_not_divisible, "shape_div: {actual} and {wanted} must divide one another")                               \
  X(composition_stride,                                                                                                \
    "composition: stride {actual} of the right layout and extent {wanted} of a left mode must divide one another")     \
  X(composition_shape,                                                                                                 \
    "composition: extent {actual} of the right layout must be divisible by {wanted}, the part of a left mode that it " \
    "spans")                                                                                                           \
  X(composition_carry,                                                                                                 \
    "composition: modes of the right layout add up to index {actual} in a left mode of {wanted} elements: their sum "  \
    "must not carry into the next mode")                                                                               \
  X(composition_sign,                                                                                                  \
    "composition: over a left layout of several modes the strides of the right layout must have one sign, and some "   \
    "are negative")                                                                                                    \
  X(composition_basis, "composition: the right layout names mode {actual}, and the left layout has {wanted} modes")    \
  X(composition_rank,                                                                                                  \
    "composition: a tiler of rank {actual} needs a layout of at least that rank, and it has rank {wanted}")            \
  X(complement_overlap,                                                                                                \
    "complement: the layout must be injective, and the mode of stride {actual} overlaps the {wanted} offsets below "   \
    "it")                                                                                                              \
  X(complement_dynamic, "complement: only a rank-1 layout may have a stride that is not known at compile time")        \
  X(complement_negative, "complement: strides must not be negative, and one is {actual}")                              \
  X(recast_width, "recast: {actual} bits and {wanted} bits must divide one another")                                   \
  X(recast_bits, "recast: elements of {actual} bits were asked for: widths must be at least {wanted} bit")             \
  X(recast_too_wide, "recast: elements {actual} times as wide would have more than {wanted} bits")                     \
  X(recast_parts, "recast: elements of {actual} bits cannot be split into {wanted} equal parts")                       \
  X(recast_stride, "recast: stride {actual} must be divisible by {wanted}, or be 1 in a mode that is")                 \
  X(recast_shape, "recast: extent {actual} of the contiguous mode must be divisible by {wanted}")                      \
  X(swizzle_bits, "a swizzle of {actual} bits was asked for: bits go from 0 to {wanted}")                              \
  X(swizzle_base, "a swizzle base of {actual} was asked for: the base must be at least {wanted}")                      \
  X(swizzle_reach, "base and shift of a swizzle reach bit {actual}: bits up to {wanted} can be swizzled")              \
  X(swizzle_shift, "a swizzle shift of {actual} overlaps its own bits: its magnitude must be at least {wanted}")       \
  X(swizzle_recast, "a swizzle with base {actual} cannot be expressed for elements {wanted} times as wide")            \
  X(swizzle_product, "the composition of these two swizzles is not a swizzle: shifts {actual} and {wanted}")           \
  X(swizzle_through_layout,                                                                                            \
    "a swizzle cannot be carried through a layout that does not move each of its bits to one bit: bit {actual} goes "  \
    "to {wanted}")                                                                                                     \
  X(swizzle_offset, "the inverse of a swizzled layout needs offset {wanted}, and it is {actual}")                      \
  X(swizzle_alignment, "a swizzled buffer starts {actual} bytes past a multiple of {wanted}, its swizzle's period")    \
  X(smem_atom_width, "elements of {actual} bits have no shared-memory atom: the width must divide {wanted} bits")      \
  X(order_profile, "an order has rank {actual}: the shape that it orders has rank {wanted}")                           \
  X(product_rank, "a product by mode needs a tiler of rank at most {wanted}: this one has rank {actual}")              \
  X(profile_rank, "a profile of rank {actual} needs a layout of at least that rank, and it has rank {wanted}")         \
  X(zip_pair,                                                                                                          \
    "a zipped, tiled or flat form needs a pair (tile, rest) where the tiler has '_', and that mode has rank "          \
    "{actual}: write the mode's extent instead of '_'")                                                                \
  X(divide_rank, "a divide by mode needs a tiler of rank at most {wanted}: this one has rank {actual}")                \
  X(complement_basis, "complement: strides must be integers, not basis elements")                                      \
  X(inverse_basis, "inverse: strides must be integers, not basis elements")                                            \
  X(inverse_dynamic, "left_inverse: every stride must be known at compile time")                                       \
  X(inverse_negative, "left_inverse: strides must not be negative, and one is {actual}")                               \
  X(inverse_stride, "left_inverse: stride {actual} must be divisible by {wanted}, the next smaller stride")            \
  X(recast_basis, "recast: strides must be integers, not basis elements")                                              \
  X(recast_factor, "recast: elements {actual} times as wide were asked for: the factor must be at least {wanted}")     \
  X(downcast_contiguous,                                                                                               \
    "downcast: no mode has the fixed stride 1, so the parts of an element have no mode to lie along")                  \
  X(target_rank, "tile_to_shape: a block of rank {actual} does not fit in a target shape of rank {wanted}")            \
  X(target_shape, "tile_to_shape: extent {actual} of the target must be divisible by {wanted}, the block's extent")    \
  X(parse, "the text could not be read")

namespace gantry {

enum class Rule : std::uint8_t {
#define GANTRY_X(id, sentence) id,
  GANTRY_LAYOUT_RULES(GANTRY_X)
#undef GANTRY_X
};

struct Fault {
  // Stands for a value that was too large to be carried to where the fault is read.
  static constexpr std::int64_t kTooLarge = INT64_MIN;

  Rule rule = Rule::none;
  std::int64_t actual = 0;
  std::int64_t wanted = 0;

  GANTRY_HD constexpr explicit operator bool() const { return rule != Rule::none; }
};

using Sentence = Text<256>;

GANTRY_HD constexpr const char* sentence_of(Rule rule) {
  switch (rule) {
#define GANTRY_X(id, sentence) \
  case Rule::id:               \
    return sentence;
    GANTRY_LAYOUT_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return "";
}

// The rule's sentence with the values filled in.
GANTRY_HD constexpr Sentence describe(const Fault& fault) {
  Sentence out;
  for (const char* s = sentence_of(fault.rule); *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    const std::int64_t value = s[1] == 'a' ? fault.actual : fault.wanted;
    if (value == Fault::kTooLarge) {
      out.append("a number beyond 2^47");
    } else {
      out.append(value);
    }
    while (*s != '}') ++s;
  }
  return out;
}

#if !GANTRY_ON_DEVICE
// What accessors that return a plain number throw, since a number cannot carry a Fault.
class LayoutError : public std::exception {
 public:
  explicit LayoutError(const Fault& fault) : fault_(fault), text_(describe(fault)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
  Sentence text_;
};
#endif

namespace misuse {

[[noreturn]] GANTRY_HD inline void stop(const Fault& fault) {
#if GANTRY_ON_DEVICE
  (void)fault;
  __trap();
#else
  throw LayoutError(fault);
#endif
}

// One function per rule, and none of them constexpr: where a constant expression stops, compilers print the name.
#define GANTRY_X(id, sentence) \
  [[noreturn]] GANTRY_HD inline void id(std::int64_t actual, std::int64_t wanted) { stop({Rule::id, actual, wanted}); }
GANTRY_LAYOUT_RULES(GANTRY_X)
#undef GANTRY_X

using Stop = void (*)(std::int64_t actual, std::int64_t wanted);

GANTRY_HD constexpr Stop named(Rule rule) {
  switch (rule) {
#define GANTRY_X(id, sentence) \
  case Rule::id:               \
    return &misuse::id;
    GANTRY_LAYOUT_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return nullptr;
}

// By value, and on a line that no macro makes: compilers show the arguments and the line.
GANTRY_HD constexpr void rule_is_broken(Stop rule, std::int64_t actual, std::int64_t wanted) { rule(actual, wanted); }

}  // namespace misuse

// Ends an accessor that was used against its contract: a LayoutError on the host, a trap on the device, and in a
// constant expression an error that names the rule, as in "call to non-constexpr function misuse::composition_stride".
[[noreturn]] GANTRY_HD constexpr void refuse(const Fault& fault) {
  if (is_constant_evaluated()) {
    misuse::rule_is_broken(misuse::named(fault.rule), fault.actual, fault.wanted);
    __builtin_unreachable();
  } else {
    misuse::stop(fault);
  }
}

// One static assertion per rule, so that every compiler prints the sentence itself; the values are the template
// arguments.
template <Rule rule, std::int64_t actual, std::int64_t wanted>
struct Refused;
#define GANTRY_X(id, sentence)                                                             \
  template <std::int64_t actual, std::int64_t wanted>                                      \
  struct Refused<Rule::id, actual, wanted> {                                               \
    static constexpr bool ok = Rule::id == Rule::none || (actual != actual);               \
    static_assert(ok, "gantry: " sentence "  (values: see Refused<..., actual, wanted>)"); \
  };
GANTRY_LAYOUT_RULES(GANTRY_X)
#undef GANTRY_X

}  // namespace gantry

// Stops the build with the fault's sentence if `value` (a constant expression with a fault() member) was not computed.
// The size is never 0: only the assertion inside speaks, once.
#define GANTRY_STATIC_CHECK(value) \
  static_assert(sizeof(::gantry::Refused<(value).fault().rule, (value).fault().actual, (value).fault().wanted>) != 0)
