// Questions about nested integer tuples, and tuples made from tuples. Names and meanings are CuTe's; modes are counted
// from 0, ranges of modes are [begin, end). A faulty argument gives its fault back.
//
// Example:
//     using namespace gantry;
//     constexpr IntTuple t = make_shape(2, make_shape(3, 4));
//     static_assert(flatten(t) == make_shape(2, 3, 4));
//     static_assert(group(make_shape(2, 3, 4), 1, 3) == t);
//     static_assert(congruent(t, make_shape(5, make_shape(6, 7))));
#pragma once

#include <gantry/layout/int_tuple.hpp>

namespace gantry {

// ---- Questions

GANTRY_HD constexpr int depth(TupleView t) {
  if (t.is_leaf()) return 0;
  int deepest = 0;
  for (TupleView mode : t) {
    const int d = depth(mode);
    deepest = d > deepest ? d : deepest;
  }
  return deepest + 1;
}

GANTRY_HD constexpr int leaf_count(TupleView t) {
  int n = 0;
  for (int i = 0; i < t.nodes(); ++i) n += t.node_is_leaf(i) ? 1 : 0;
  return n;
}

// The product of all leaves, fixed if every factor is (or one of them is `_0`). Of the empty tuple: `_1`.
GANTRY_HD constexpr Int product(TupleView t) {
  if (!t.ok()) return Int::faulty(t.fault());
  Int p = Int::fixed(1);
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i)) p = p * t.node_leaf(i);
  }
  return p;
}

// The product as a number. Refuses a faulty tuple, an overflow, and a value not known at compile time.
GANTRY_HD constexpr std::int64_t size(TupleView t) {
  if (!t.ok()) refuse(t.fault());
  const Int p = product(t);
  if (p.is_faulty()) refuse(p.fault());
  if (!p.is_known()) refuse({Rule::value_unknown});
  return p.value();
}

GANTRY_HD constexpr bool is_fixed(TupleView t) {
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i) && !t.node_leaf(i).is_fixed()) return false;
  }
  return t.ok();
}

GANTRY_HD constexpr bool has_underscore(TupleView t) {
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i) && t.node_leaf(i).is_all()) return true;
  }
  return false;
}

GANTRY_HD constexpr bool has_basis(TupleView t) {
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i) && t.node_leaf(i).is_basis()) return true;
  }
  return false;
}

// The same tree, whatever the leaves.
GANTRY_HD constexpr bool congruent(TupleView a, TupleView b) {
  const int nodes = a.nodes();
  if (!a.ok() || !b.ok() || nodes != b.nodes()) return false;
  for (int i = 0; i < nodes; ++i) {
    if (a.node_span(i) != b.node_span(i)) return false;
  }
  return true;
}

// The tree of a is a prefix of the tree of b: a leaf of a may stand for a whole tuple of b.
GANTRY_HD constexpr bool weakly_congruent(TupleView a, TupleView b) {
  if (!a.ok() || !b.ok()) return false;
  if (a.is_leaf()) return true;
  if (b.is_leaf() || rank(a) != rank(b)) return false;
  auto ib = b.begin();
  for (TupleView mode : a) {
    if (!weakly_congruent(mode, *ib)) return false;
    ++ib;
  }
  return true;
}

// Every coordinate of shape a is a coordinate of shape b: where a has a leaf, b has that many elements.
GANTRY_HD constexpr bool compatible(TupleView a, TupleView b) {
  if (!a.ok() || !b.ok()) return false;
  if (a.is_leaf()) return same_value(a.leaf(), product(b));
  if (b.is_leaf() || rank(a) != rank(b)) return false;
  auto ib = b.begin();
  for (TupleView mode : a) {
    if (!compatible(mode, *ib)) return false;
    ++ib;
  }
  return true;
}

// As compatible, but a leaf of a need only divide the size of what it stands for in b.
GANTRY_HD constexpr bool weakly_compatible(TupleView a, TupleView b) {
  if (!a.ok() || !b.ok()) return false;
  if (a.is_leaf()) return (product(b) % a.leaf()).value() == 0 && (product(b) % a.leaf()).is_known();
  if (b.is_leaf() || rank(a) != rank(b)) return false;
  auto ib = b.begin();
  for (TupleView mode : a) {
    if (!weakly_compatible(mode, *ib)) return false;
    ++ib;
  }
  return true;
}

// -1, 0 or 1. Lexicographic: the first mode decides first. Tuples of different profile compare leaf by leaf; a tuple
// that is a prefix of the other comes first.
GANTRY_HD constexpr int lex_compare(TupleView a, TupleView b) {
  int ia = 0;
  int ib = 0;
  while (true) {
    while (ia < a.nodes() && !a.node_is_leaf(ia)) ++ia;
    while (ib < b.nodes() && !b.node_is_leaf(ib)) ++ib;
    if (ia == a.nodes() || ib == b.nodes()) return (ib == b.nodes() ? 1 : 0) - (ia == a.nodes() ? 1 : 0);
    const auto va = a.node_leaf(ia++).value();
    const auto vb = b.node_leaf(ib++).value();
    if (va != vb) return va < vb ? -1 : 1;
  }
}

// Colexicographic: the last mode decides first, as offsets of column-major layouts do.
GANTRY_HD constexpr int colex_compare(TupleView a, TupleView b) {
  int ia = a.nodes() - 1;
  int ib = b.nodes() - 1;
  while (true) {
    while (ia >= 0 && !a.node_is_leaf(ia)) --ia;
    while (ib >= 0 && !b.node_is_leaf(ib)) --ib;
    if (ia < 0 || ib < 0) return (ib < 0 ? 1 : 0) - (ia < 0 ? 1 : 0);
    const auto va = a.node_leaf(ia--).value();
    const auto vb = b.node_leaf(ib--).value();
    if (va != vb) return va < vb ? -1 : 1;
  }
}

GANTRY_HD constexpr bool lex_less(TupleView a, TupleView b) { return lex_compare(a, b) < 0; }
GANTRY_HD constexpr bool lex_leq(TupleView a, TupleView b) { return lex_compare(a, b) <= 0; }
GANTRY_HD constexpr bool lex_gtr(TupleView a, TupleView b) { return lex_compare(a, b) > 0; }
GANTRY_HD constexpr bool lex_geq(TupleView a, TupleView b) { return lex_compare(a, b) >= 0; }
GANTRY_HD constexpr bool colex_less(TupleView a, TupleView b) { return colex_compare(a, b) < 0; }
GANTRY_HD constexpr bool colex_leq(TupleView a, TupleView b) { return colex_compare(a, b) <= 0; }
GANTRY_HD constexpr bool colex_gtr(TupleView a, TupleView b) { return colex_compare(a, b) > 0; }
GANTRY_HD constexpr bool colex_geq(TupleView a, TupleView b) { return colex_compare(a, b) >= 0; }

// Every leaf of a is less than its counterpart in b: "the coordinate a lies inside the shape b". False where the
// profiles differ.
GANTRY_HD constexpr bool elem_less(TupleView a, TupleView b) {
  if (a.is_leaf() != b.is_leaf()) return false;
  if (a.is_leaf()) return a.leaf().is_known() && b.leaf().is_known() && a.leaf().value() < b.leaf().value();
  if (rank(a) != rank(b)) return false;
  auto ib = b.begin();
  for (TupleView mode : a) {
    if (!elem_less(mode, *ib)) return false;
    ++ib;
  }
  return true;
}
GANTRY_HD constexpr bool elem_gtr(TupleView a, TupleView b) { return elem_less(b, a); }
// Not the elementwise order, but as CuTe has them: true unless every leaf is greater, and unless every leaf is less.
GANTRY_HD constexpr bool elem_leq(TupleView a, TupleView b) { return !elem_less(b, a); }
GANTRY_HD constexpr bool elem_geq(TupleView a, TupleView b) { return !elem_less(a, b); }

// ---- Leaf by leaf

namespace detail {

template <class F>
GANTRY_HD constexpr void map_leaves_into(IntTuple& out, TupleView t, const F& f) {
  if (t.is_leaf()) return out.push(f(t.leaf()));
  const int at = out.open();
  for (TupleView mode : t) map_leaves_into(out, mode, f);
  out.close(at);
}

template <class F>
GANTRY_HD constexpr void map_leaves_into(IntTuple& out, TupleView a, TupleView b, const F& f) {
  if (a.is_leaf() && b.is_leaf()) return out.push(f(a.leaf(), b.leaf()));
  if (a.is_leaf() != b.is_leaf() || rank(a) != rank(b)) return out.fail({Rule::rank_mismatch, rank(a), rank(b)});
  const int at = out.open();
  auto ib = b.begin();
  for (TupleView mode : a) {
    map_leaves_into(out, mode, *ib, f);
    ++ib;
  }
  out.close(at);
}

}  // namespace detail

// The tuple of f(leaf), same tree.
template <class F>
GANTRY_HD constexpr IntTuple transform_leaf(TupleView t, const F& f) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  IntTuple out;
  out.clear();
  detail::map_leaves_into(out, t, f);
  return out;
}

// The tuple of f(leaf of a, leaf of b). Requires congruent arguments.
template <class F>
GANTRY_HD constexpr IntTuple transform_leaf(TupleView a, TupleView b, const F& f) {
  if (!a.ok()) return IntTuple::faulty(a.fault());
  if (!b.ok()) return IntTuple::faulty(b.fault());
  IntTuple out;
  out.clear();
  detail::map_leaves_into(out, a, b, f);
  return out;
}

GANTRY_HD constexpr IntTuple as_fixed(TupleView t) {
  return transform_leaf(t, [](const Int& v) { return v.as_fixed(); });
}
GANTRY_HD constexpr IntTuple as_dynamic(TupleView t) {
  return transform_leaf(t, [](const Int& v) { return v.as_dynamic(); });
}

namespace detail {

GANTRY_HD constexpr void ceil_div_into(IntTuple& out, TupleView a, Int& divisor) {
  if (a.is_leaf()) {
    out.push(ceil_div(a.leaf(), divisor));
    divisor = ceil_div(divisor, a.leaf());
    return;
  }
  const int at = out.open();
  for (TupleView mode : a) ceil_div_into(out, mode, divisor);
  out.close(at);
}

}  // namespace detail

// How many b it takes to cover a, two shapes. An integer b is used up by the modes of a in order; a tuple b divides
// mode by mode, and modes that it lacks count as 1. Requires rank(b) <= rank(a) then.
GANTRY_HD constexpr IntTuple ceil_div(TupleView a, TupleView b) {
  if (!a.ok()) return IntTuple::faulty(a.fault());
  if (!b.ok()) return IntTuple::faulty(b.fault());
  IntTuple out;
  out.clear();
  if (a.is_leaf() || b.is_leaf()) {
    Int divisor = product(b);
    detail::ceil_div_into(out, a, divisor);
    return out;
  }
  if (rank(b) > rank(a)) return IntTuple::faulty({Rule::rank_mismatch, rank(a), rank(b)});
  const int at = out.open();
  auto ib = b.begin();
  for (TupleView mode : a) {
    if (ib != b.end()) {
      out.push(ceil_div(mode, *ib));
      ++ib;
    } else {
      out.push(mode);
    }
  }
  out.close(at);
  return out;
}

// The sum of products of corresponding leaves. Requires congruent arguments.
GANTRY_HD constexpr Int inner_product(TupleView a, TupleView b) {
  if (!congruent(a, b)) return Int::faulty(Rule::profiles_differ);
  Int sum = Int::fixed(0);
  for (int i = 0; i < a.nodes(); ++i) {
    if (a.node_is_leaf(i)) sum = sum + a.node_leaf(i) * b.node_leaf(i);
  }
  return sum;
}

// One extent divided by another: a / b where b divides a, 1 (with a's sign) where a divides b.
GANTRY_HD constexpr Int shape_div(const Int& a, const Int& b) {
  if (!a.is_known() || !b.is_known()) return a / b;
  if (b.value() == 0) return Int::faulty(Rule::division_by_zero);
  const bool divides = a.value() % b.value() == 0 || (a.value() != 0 && b.value() % a.value() == 0);
  if (!divides) return Int::faulty({Rule::shape_div_not_divisible, a.value(), b.value()});
  const Int q = ceil_div(abs(a), abs(b)) * signum(a) * signum(b);
  return a.is_fixed() && b.is_fixed() ? q.as_fixed() : q;
}

// What remains of shape a after b of its elements are taken, from the first mode on: size(result) is size(a) / size(b)
// where they divide. An integer b is used up by the modes of a in order; a tuple b divides mode by mode.
GANTRY_HD constexpr IntTuple shape_div(TupleView a, TupleView b);

namespace detail {

GANTRY_HD constexpr void shape_div_into(IntTuple& out, TupleView a, Int& divisor) {
  if (a.is_leaf()) {
    const Int q = shape_div(a.leaf(), divisor);
    // A tuple has room for both numbers, however large they are.
    if (q.rule() == Rule::shape_div_not_divisible) {
      return out.fail({q.rule(), a.leaf().value(), divisor.value()});
    }
    out.push(q);
    divisor = shape_div(divisor, a.leaf());
    return;
  }
  const int at = out.open();
  for (TupleView mode : a) shape_div_into(out, mode, divisor);
  out.close(at);
}

}  // namespace detail

GANTRY_HD constexpr IntTuple shape_div(TupleView a, TupleView b) {
  if (!a.ok()) return IntTuple::faulty(a.fault());
  if (!b.ok()) return IntTuple::faulty(b.fault());
  IntTuple out;
  out.clear();
  if (b.is_leaf() || a.is_leaf()) {
    Int divisor = product(b);
    detail::shape_div_into(out, a, divisor);
    return out;
  }
  if (rank(a) != rank(b)) return IntTuple::faulty({Rule::rank_mismatch, rank(a), rank(b)});
  const int at = out.open();
  auto ib = b.begin();
  for (TupleView mode : a) {
    out.push(shape_div(mode, *ib));
    ++ib;
  }
  out.close(at);
  return out;
}

// ---- Tuples from tuples

// All leaves in one tuple. A leaf stays a leaf.
GANTRY_HD constexpr IntTuple flatten(TupleView t) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (t.is_leaf()) return IntTuple(t);
  IntTuple out;
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i)) out.push(t.node_leaf(i));
  }
  out.close(0);
  return out;
}

// The leaves of `flat`, in order, on the tree of `profile`. Requires as many leaves in both.
GANTRY_HD constexpr IntTuple unflatten(TupleView flat, TupleView profile) {
  if (!flat.ok()) return IntTuple::faulty(flat.fault());
  if (leaf_count(flat) != leaf_count(profile)) {
    return IntTuple::faulty({Rule::leaf_count, leaf_count(flat), leaf_count(profile)});
  }
  int next = 0;
  return transform_leaf(profile, [&](const Int&) {
    while (!flat.node_is_leaf(next)) ++next;
    return flat.node_leaf(next++);
  });
}

// Modes [begin, end), as a tuple even when there is only one.
GANTRY_HD constexpr IntTuple take(TupleView t, int begin, int end) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (begin < 0 || end > rank(t)) {
    return IntTuple::faulty({Rule::mode_out_of_range, begin < 0 ? begin : end - 1, rank(t) - 1});
  }
  if (end < begin) return IntTuple::faulty({Rule::range_empty, begin, end});
  IntTuple out;
  for (int i = begin; i < end; ++i) out.push_back(t[i]);
  return out;
}

// The listed modes, in the listed order.
template <class... Modes>
GANTRY_HD constexpr IntTuple select(TupleView t, Modes... modes) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  IntTuple out;
  const int n = rank(t);
  (((modes >= 0 && modes < n) ? out.push_back(t[static_cast<int>(modes)])
                              : out.fail({Rule::mode_out_of_range, modes, n - 1})),
   ...);
  return out;
}

// Modes [begin, end) gathered into one mode.
GANTRY_HD constexpr IntTuple group(TupleView t, int begin, int end) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (begin < 0 || end > rank(t)) {
    return IntTuple::faulty({Rule::mode_out_of_range, begin < 0 ? begin : end - 1, rank(t) - 1});
  }
  if (end < begin) return IntTuple::faulty({Rule::range_empty, begin, end});
  IntTuple out;
  for (int i = 0; i < begin; ++i) out.push_back(t[i]);
  out.push_back(take(t, begin, end));
  for (int i = end; i < rank(t); ++i) out.push_back(t[i]);
  return out;
}

// t followed by x, repeated until the rank is n (once if n is not given). A leaf counts as a tuple of one.
GANTRY_HD constexpr IntTuple append(TupleView t, TupleView x, int n = -1) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (n >= 0 && rank(t) == n) return IntTuple(t);
  if (n >= 0 && rank(t) > n) return IntTuple::faulty({Rule::rank_above, rank(t), n});
  IntTuple out;
  for (TupleView mode : t) out.push_back(mode);
  const int count = n < 0 ? 1 : n - rank(t);
  for (int i = 0; i < count; ++i) out.push_back(x);
  return out;
}

// x, repeated until the rank is n (once if n is not given), followed by t.
GANTRY_HD constexpr IntTuple prepend(TupleView t, TupleView x, int n = -1) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (n >= 0 && rank(t) == n) return IntTuple(t);
  if (n >= 0 && rank(t) > n) return IntTuple::faulty({Rule::rank_above, rank(t), n});
  IntTuple out;
  const int count = n < 0 ? 1 : n - rank(t);
  for (int i = 0; i < count; ++i) out.push_back(x);
  for (TupleView mode : t) out.push_back(mode);
  return out;
}

// t with mode i replaced by x.
GANTRY_HD constexpr IntTuple replace(TupleView t, int i, TupleView x) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (i < 0 || i >= rank(t)) return IntTuple::faulty({Rule::mode_out_of_range, i, rank(t) - 1});
  if (t.is_leaf()) return IntTuple(x);
  IntTuple out;
  int at = 0;
  for (TupleView mode : t) out.push_back(at++ == i ? x : mode);
  return out;
}

// t without mode i.
GANTRY_HD constexpr IntTuple remove(TupleView t, int i) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  if (i < 0 || i >= rank(t)) return IntTuple::faulty({Rule::mode_out_of_range, i, rank(t) - 1});
  IntTuple out;
  int at = 0;
  for (TupleView mode : t) {
    if (at++ != i) out.push_back(mode);
  }
  return out;
}

// ((a0,b0),(a1,b1),...). Requires the same rank.
GANTRY_HD constexpr IntTuple zip(TupleView a, TupleView b) {
  if (!a.ok()) return IntTuple::faulty(a.fault());
  if (!b.ok()) return IntTuple::faulty(b.fault());
  if (rank(a) != rank(b)) return IntTuple::faulty({Rule::rank_mismatch, rank(a), rank(b)});
  if (a.is_leaf() && b.is_leaf()) return make_int_tuple(a.leaf(), b.leaf());
  IntTuple out;
  auto ib = b.begin();
  for (TupleView mode : a) {
    IntTuple pair;
    pair.push_back(mode);
    pair.push_back(*ib);
    out.push_back(pair);
    ++ib;
  }
  return out;
}

// A leaf as a tuple of one; a tuple as it is. unwrap is the other way: tuples of one are opened.
GANTRY_HD constexpr IntTuple wrap(TupleView t) {
  return t.is_leaf() && t.ok() ? make_int_tuple(t.leaf()) : IntTuple(t);
}
GANTRY_HD constexpr IntTuple unwrap(TupleView t) {
  if (!t.ok()) return IntTuple::faulty(t.fault());
  while (t.is_tuple() && rank(t) == 1) t = *t.begin();
  return IntTuple(t);
}

// (x, x, ..., x), n times.
GANTRY_HD constexpr IntTuple repeat(TupleView x, int n) {
  IntTuple out;
  for (int i = 0; i < n; ++i) out.push_back(x);
  return out;
}

}  // namespace gantry
