// Nested tuples of integers: shapes, strides, coordinates and tilers. A value with a fixed capacity, no heap.
//
// A tuple is stored as its tree in preorder. Each node is a leaf or a parenthesis; a parenthesis knows how many nodes
// its subtree has, so that a mode is a contiguous run and stepping over it costs one addition. Capacity: kCapacity
// nodes, leaves and parentheses together (`((2,2),3)` has 5). A tuple that would need more is faulty, with the rule
// `capacity`.
//
// TupleView looks at a tuple or at one of its modes without copying; algorithms take views. Like a string_view it must
// not outlive the tuple.
//
// Example:
//     #include <gantry/layout/tuple_algorithms.hpp>
//     using namespace gantry;
//     constexpr IntTuple shape = make_shape(make_shape(_2, _4), 3);
//     static_assert(rank(shape) == 2 && depth(shape) == 2 && size(shape) == 24);
//     static_assert(shape[0] == make_shape(_2, _4));
#pragma once

#include <gantry/layout/int.hpp>

namespace gantry {

class TupleView;

class IntTuple {
 public:
  static constexpr int kCapacity = 32;

  // The empty tuple, `()`.
  GANTRY_HD constexpr IntTuple() {
    fill();
    open();
  }
  GANTRY_HD constexpr IntTuple(const Int& leaf) {
    fill();
    append_leaf(leaf);
  }
  template <Integer T>
  GANTRY_HD constexpr IntTuple(T leaf) : IntTuple(Int(leaf)) {}
  GANTRY_HD constexpr IntTuple(Underscore) : IntTuple(Int::all()) {}
  GANTRY_HD explicit constexpr IntTuple(TupleView view);

  GANTRY_HD static constexpr IntTuple faulty(const Fault& fault) {
    IntTuple out;
    out.fail(fault);
    return out;
  }

  GANTRY_HD constexpr bool ok() const { return rule_ == Rule::none; }
  GANTRY_HD constexpr Fault fault() const {
    return ok() ? Fault{} : Fault{rule_, store_.leaves[0].value(), store_.leaves[1].value()};
  }

  GANTRY_HD constexpr bool is_leaf() const { return store_.spans[0] == 0; }
  // Leaves and parentheses, in preorder; node_span is 0 for a leaf, else the number of nodes of the subtree.
  GANTRY_HD constexpr int nodes() const { return nodes_; }
  GANTRY_HD constexpr int node_span(int i) const { return store_.spans[i]; }
  GANTRY_HD constexpr const Int& node_leaf(int i) const { return store_.leaves[i]; }
  GANTRY_HD constexpr IntTuple operator[](int mode) const;
  // The integer itself. Requires a leaf.
  GANTRY_HD constexpr Int leaf() const {
    if (!is_leaf()) refuse(ok() ? Fault{Rule::not_an_integer} : fault());
    return store_.leaves[0];
  }

  // Building, in reading order: open() ... push(x) ... close(). A tuple under construction by these is not valid until
  // every parenthesis that was opened is closed. push_back appends a mode to a finished tuple.
  GANTRY_HD constexpr int open() {
    const int at = append_leaf(Int());
    if (ok()) store_.spans[at] = 1;
    return at;
  }
  GANTRY_HD constexpr void close(int opened_at) {
    if (ok()) store_.spans[opened_at] = static_cast<std::uint8_t>(nodes_ - opened_at);
  }
  GANTRY_HD constexpr void push(TupleView mode);
  GANTRY_HD constexpr void push(Int leaf) { append_leaf(leaf); }
  template <Integer T>
  GANTRY_HD constexpr void push(T leaf) {
    push(Int(leaf));
  }
  GANTRY_HD constexpr void push_back(TupleView mode);
  GANTRY_HD constexpr void push_back(Int leaf) {
    append_leaf(leaf);
    close(0);
  }
  template <Integer T>
  GANTRY_HD constexpr void push_back(T leaf) {
    push_back(Int(leaf));
  }
  GANTRY_HD constexpr void push_back(Underscore) { push_back(Int::all()); }
  GANTRY_HD constexpr void clear() {
    nodes_ = 0;
    rule_ = Rule::none;
  }
  GANTRY_HD constexpr void fail(const Fault& fault) {
    if (!ok()) return;
    rule_ = fault.rule;
    nodes_ = 1;
    store_.spans[0] = 1;
    store_.leaves[0] = Int::known(fault.actual, false);
    store_.leaves[1] = Int::known(fault.wanted, false);
  }
  GANTRY_HD constexpr void fail(Rule rule) { fail(Fault{rule}); }

 private:
  friend class TupleView;

  GANTRY_HD constexpr int append_leaf(Int leaf) {
    if (rule_ != Rule::none) return 0;
    if (leaf.is_faulty()) {
      fail(leaf.fault());
      return 0;
    }
    if (nodes_ == kCapacity) {
      fail({Rule::capacity, kCapacity + 1, kCapacity});
      return 0;
    }
    store_.leaves[nodes_] = leaf;
    store_.spans[nodes_] = 0;
    return nodes_++;
  }

  struct Store {
    Int leaves[kCapacity];
    std::uint8_t spans[kCapacity];  // 0 for a leaf; for a parenthesis, the nodes of its subtree, itself included
  };
  // Nodes that are not in use have no value, except in constant expressions, which must not leave any without.
  GANTRY_HD constexpr void fill() {
    if (is_constant_evaluated()) store_ = Store{};
  }

  Store store_;
  std::uint8_t nodes_ = 0;
  Rule rule_ = Rule::none;
};

class TupleView {
 public:
  GANTRY_HD constexpr TupleView(const IntTuple& tuple) : tuple_(&tuple), at_(0) {}
  // A single integer is a view of itself.
  GANTRY_HD constexpr TupleView(const Int& leaf) : own_(leaf) {}
  template <Integer T>
  GANTRY_HD constexpr TupleView(T leaf) : own_(leaf) {}
  GANTRY_HD constexpr TupleView(Underscore) : own_(Int::all()) {}

  GANTRY_HD constexpr bool ok() const { return !is_own() ? tuple_->ok() : !own_.is_faulty(); }
  GANTRY_HD constexpr Fault fault() const { return !is_own() ? tuple_->fault() : own_.fault(); }
  GANTRY_HD constexpr bool is_leaf() const { return node_is_leaf(0); }
  GANTRY_HD constexpr bool is_tuple() const { return !is_leaf(); }
  GANTRY_HD constexpr const Int& leaf() const { return node_leaf(0); }
  // Written out, as are modes and push: constant expressions are made of these, and each call in them takes time.
  GANTRY_HD constexpr int nodes() const {
    if (at_ < 0) return 1;
    const int span = tuple_->store_.spans[at_];
    return span == 0 ? 1 : span;
  }

  GANTRY_HD constexpr int modes() const {
    if (is_leaf()) return 1;
    const std::uint8_t* const spans = tuple_->store_.spans;
    const int end = at_ + spans[at_];
    int n = 0;
    for (int at = at_ + 1; at < end; at += spans[at] == 0 ? 1 : spans[at]) ++n;
    return n;
  }

  // Modes, in order. A leaf is its own only mode.
  class Iterator;
  struct End {
    int at;  // behind the last node
  };
  GANTRY_HD constexpr Iterator begin() const;
  GANTRY_HD constexpr End end() const { return {at_ + nodes()}; }

  // Refuses a mode that is not there.
  GANTRY_HD constexpr TupleView operator[](int mode) const;

  // The subtree that starts at node i. Requires 0 <= i < nodes().
  GANTRY_HD constexpr TupleView subtree(int i) const {
    TupleView out = *this;
    if (at_ >= 0) out.at_ += i;
    return out;
  }

  // The subtree node by node, in preorder: what algorithms that do not care about nesting loop over.
  GANTRY_HD constexpr bool node_is_leaf(int i) const { return at_ < 0 || tuple_->store_.spans[at_ + i] == 0; }
  GANTRY_HD constexpr const Int& node_leaf(int i) const {
    if (at_ < 0) return own_;
    return tuple_->store_.leaves[at_ + i];
  }
  GANTRY_HD constexpr int node_span(int i) const { return at_ < 0 ? 0 : tuple_->store_.spans[at_ + i]; }

 private:
  friend class IntTuple;
  GANTRY_HD constexpr bool is_own() const { return at_ < 0; }

  const IntTuple* tuple_ = nullptr;
  int at_ = kOwnLeaf;  // where the subtree starts; negative for a single integer, which is then own_
  Int own_{};
  static constexpr int kOwnLeaf = -2;
};

class TupleView::Iterator {
 public:
  GANTRY_HD constexpr Iterator(const TupleView& tuple, int at) : view_(tuple) { view_.at_ = at; }
  GANTRY_HD constexpr const TupleView& operator*() const { return view_; }
  GANTRY_HD constexpr Iterator& operator++() {
    view_.at_ += view_.nodes();
    return *this;
  }
  GANTRY_HD constexpr bool operator!=(End end) const { return view_.at_ != end.at; }

 private:
  TupleView view_;
};

GANTRY_HD constexpr TupleView::Iterator TupleView::begin() const { return {*this, is_leaf() ? at_ : at_ + 1}; }
GANTRY_HD constexpr TupleView TupleView::operator[](int mode) const {
  int modes = 0;
  for (TupleView m : *this) {
    if (modes++ == mode) return m;
  }
  refuse({Rule::mode_out_of_range, mode, modes - 1});
}

GANTRY_HD constexpr int rank(TupleView t) { return t.modes(); }

// Exact equality: same tree, same leaves, fixed and dynamic told apart.
GANTRY_HD constexpr bool operator==(TupleView a, TupleView b) {
  if (!a.ok() || !b.ok() || a.nodes() != b.nodes()) return false;
  for (int i = 0; i < a.nodes(); ++i) {
    if (a.node_is_leaf(i) != b.node_is_leaf(i)) return false;
    if (a.node_is_leaf(i) ? !(a.node_leaf(i) == b.node_leaf(i)) : a.node_span(i) != b.node_span(i)) return false;
  }
  return true;
}

GANTRY_HD constexpr void IntTuple::push(TupleView mode) {
  if (!mode.ok()) return fail(mode.fault());
  if (!ok()) return;
  if (mode.is_leaf()) {
    append_leaf(mode.leaf());
    return;
  }
  const int n = mode.nodes();
  if (nodes_ + n > kCapacity) return fail({Rule::capacity, nodes_ + n, kCapacity});
  const Store& from = mode.tuple_->store_;
  for (int at = mode.at_; at < mode.at_ + n; ++at) {
    store_.leaves[nodes_] = from.leaves[at];
    store_.spans[nodes_++] = from.spans[at];
  }
}

GANTRY_HD constexpr void IntTuple::push_back(TupleView mode) {
  push(mode);
  close(0);
}

GANTRY_HD constexpr IntTuple::IntTuple(TupleView view) {
  // A constant is copied whole, which takes a compiler one step; at run time there is less to copy.
  if (is_constant_evaluated() && view.at_ == 0) {
    *this = *view.tuple_;
    return;
  }
  fill();
  push(view);
}

GANTRY_HD constexpr IntTuple IntTuple::operator[](int mode) const {
  if (!ok()) return *this;
  const int n = rank(*this);
  if (mode < 0 || mode >= n) return faulty({Rule::mode_out_of_range, mode, n - 1});
  return IntTuple(TupleView(*this)[mode]);
}

// (a, b, ...) from integers, `_` and tuples.
template <class... Modes>
GANTRY_HD constexpr IntTuple make_int_tuple(const Modes&... modes) {
  IntTuple out;
  (out.push_back(modes), ...);
  return out;
}
template <class... Modes>
GANTRY_HD constexpr IntTuple make_shape(const Modes&... modes) {
  return make_int_tuple(modes...);
}
template <class... Modes>
GANTRY_HD constexpr IntTuple make_stride(const Modes&... modes) {
  return make_int_tuple(modes...);
}
template <class... Modes>
GANTRY_HD constexpr IntTuple make_coord(const Modes&... modes) {
  return make_int_tuple(modes...);
}

}  // namespace gantry
