// print(graph): the text of a graph, as parse.hpp reads it. graph(print(g)) == canonical(g) for every g that `check`
// accepts.
//
// Example:
//     #include <gantry/epilogue/fusion/expression.hpp>
//     using namespace gantry::fusion;
//     using namespace gantry::fusion::names;
//     constexpr auto z = alpha * acc + row("bias", {.element = gantry::ElementType::bf16});
//     static_assert(print(expression(d = relu(z), aux = z)) ==
//                   "let t0 = alpha * acc + row(bias:bf16); d = relu(t0); aux = t0");
#pragma once

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/detail/graph_reader.hpp>
#include <gantry/epilogue/fusion/detail/numbers.hpp>

namespace gantry::fusion {

using GraphText = Text<4096>;

// name, element type where it is not f32, and what else differs from the default: `bias:bf16 = 0`, `x:f16 col`.
constexpr Text<96> print(const Argument& argument) {
  Text<96> out(argument.name.text);
  if (argument.element != ElementType::f32) out.append(':').append(info(argument.element).name);
  if (is_matrix(argument) && !argument.row_major) out.append(" col");
  if (argument.has_default && is_output(argument.kind)) out.append(" optional");
  if (argument.kind == ArgumentKind::reduction && argument.deterministic) out.append(" deterministic");
  if (argument.has_default && !is_output(argument.kind)) {
    out.append(" = ");
    detail::append_number(out, argument.value);
  }
  return out;
}

namespace detail {

constexpr bool is_leaf(NodeKind kind) { return kind != NodeKind::compute && !is_sink(kind); }

// How tightly what a node prints holds together; what stands around it decides on parentheses.
enum class Binding : std::uint8_t { comparison, sum, product, sign, value };

constexpr Binding binding_of(const Node& node) {
  if (node.kind != NodeKind::compute) return Binding::value;
  switch (node.function) {
    case Function::greater:
      return Binding::comparison;
    case Function::add:
    case Function::subtract:
      return Binding::sum;
    case Function::multiply:
    case Function::divide:
      return Binding::product;
    case Function::neg:
      return Binding::sign;
    default:
      return Binding::value;
  }
}

class GraphPrinter {
 public:
  constexpr GraphPrinter(const Graph& graph, const UserNames& users) : graph_(graph), users_(users) {
    if (graph.d >= 0) ++uses_[graph.d];
    for (int i = 0; i < graph.node_count; ++i) {
      for (const int input : graph.nodes[i].inputs) {
        if (input >= 0) ++uses_[input];
      }
    }
  }

  constexpr GraphText print() {
    if (graph_.compute_element != ElementType::f32) out_.append("compute ").append(info(graph_.compute_element).name);
    if (graph_.rounding != Rounding::nearest_even) {
      separate();
      out_.append("round ").append(text_of(graph_.rounding));
    }
    if (graph_.d >= 0) statement("d", graph_.d);
    for (int i = 0; i < graph_.node_count; ++i) {
      const Node& node = graph_.nodes[i];
      if (!is_sink(node.kind)) continue;
      const Argument& argument = graph_.arguments[node.argument];
      const Text<96> target = fusion::print(argument);
      if (node.kind == NodeKind::aux_store) {
        statement(target.c_str(), node.inputs[0], argument.name.text);
      } else {
        name_shared(node.inputs[0]);
        separate();
        out_.append(target).append(" = ").append(text_of(node.reduction, argument.extent)).append('(');
        value(node.inputs[0], Binding::comparison);
        if (argument.block > 0) out_.append(", ").append(argument.block);
        out_.append(')');
      }
    }
    return out_;
  }

 private:
  constexpr void separate() {
    if (!out_.empty()) out_.append("; ");
  }

  // `target = value`, after the values that it shares with others. From then on the value goes by `name`.
  constexpr void statement(const char* target, int i, const char* name = "d") {
    for (const int input : graph_.nodes[i].inputs) {
      if (input >= 0) name_shared(input);
    }
    separate();
    out_.append(target).append(" = ");
    value(i, Binding::comparison);
    if (!is_leaf(graph_.nodes[i].kind) && names_[i].text[0] == '\0') names_[i] = name;
  }

  // Gives a name to every value below that more than one reads.
  constexpr void name_shared(int i) {
    if (is_leaf(graph_.nodes[i].kind) || names_[i].text[0] != '\0') return;
    for (const int input : graph_.nodes[i].inputs) {
      if (input >= 0) name_shared(input);
    }
    if (uses_[i] < 2) return;
    const Name name = fresh_name();
    const Text<32> target = Text<32>("let ").append(name.text);
    statement(target.c_str(), i, name.text);
  }
  constexpr Name fresh_name() {
    while (true) {
      const Name name(Text<16>("t").append(fresh_++).c_str());
      bool taken = false;
      for (int i = 0; i < graph_.argument_count; ++i) taken = taken || graph_.arguments[i].name == name;
      if (!taken) return name;
    }
  }

  // In parentheses where what stands around it binds more tightly.
  constexpr void value(int i, Binding around) {
    const Node& node = graph_.nodes[i];
    if (names_[i].text[0] != '\0') {
      out_.append(names_[i].text);
      return;
    }
    const bool parentheses = binding_of(node) < around;
    if (parentheses) out_.append('(');
    if (node.kind == NodeKind::compute) {
      compute(node);
    } else {
      leaf(node);
    }
    if (parentheses) out_.append(')');
  }

  constexpr void leaf(const Node& node) {
    if (node.kind == NodeKind::constant) {
      append_number(out_, node.constant);
      return;
    }
    if (!has_argument(node.kind)) {
      out_.append(text_of(node));
      return;
    }
    const Argument& argument = graph_.arguments[node.argument];
    if (argument == kAlpha || argument == kBeta) {
      out_.append(argument.name.text);
      return;
    }
    out_.append(text_of(node)).append('(');
    if (node.kind == NodeKind::keep) {
      append_number(out_, node.constant);
      out_.append(", ");
    }
    out_.append(fusion::print(argument)).append(')');
  }

  constexpr void infix(const Node& node, const char* between) {
    const Binding binding = binding_of(node);
    const bool chains = binding == Binding::sum || binding == Binding::product;
    const auto tighter = static_cast<Binding>(static_cast<int>(binding) + 1);
    value(node.inputs[0], chains ? binding : tighter);
    out_.append(between);
    value(node.inputs[1], tighter);
  }

  // select(keep(p, seed), x * 1/(1 - p), 0), which nothing else has a part of: dropout(x, p, seed).
  constexpr bool is_dropout(const Node& node) const {
    if (node.function != Function::select) return false;
    const Node& kept = graph_.nodes[node.inputs[0]];
    const Node& scaled = graph_.nodes[node.inputs[1]];
    const Node& dropped = graph_.nodes[node.inputs[2]];
    if (kept.kind != NodeKind::keep || uses_[node.inputs[1]] > 1 || names_[node.inputs[1]].text[0] != '\0')
      return false;
    if (scaled.kind != NodeKind::compute || scaled.function != Function::multiply) return false;
    const Node& scale = graph_.nodes[scaled.inputs[1]];
    return same(scale, {.kind = NodeKind::constant, .constant = dropout_scale(kept.constant)}) &&
           same(dropped, {.kind = NodeKind::constant});
  }

  constexpr void compute(const Node& node) {
    switch (node.function) {
      case Function::greater:
        return infix(node, " > ");
      case Function::add:
        return infix(node, " + ");
      case Function::subtract:
        return infix(node, " - ");
      case Function::multiply:
        return infix(node, " * ");
      case Function::divide:
        return infix(node, " / ");
      case Function::neg: {
        // A minus sign before a number would belong to it.
        const bool number = graph_.nodes[node.inputs[0]].kind == NodeKind::constant;
        out_.append(number ? "-(" : "-");
        value(node.inputs[0], number ? Binding::comparison : Binding::sign);
        if (number) out_.append(')');
        return;
      }
      default:
        break;
    }
    if (is_dropout(node)) {
      const Node& kept = graph_.nodes[node.inputs[0]];
      out_.append("dropout(");
      value(graph_.nodes[node.inputs[1]].inputs[0], Binding::comparison);
      out_.append(", ");
      append_number(out_, kept.constant);
      out_.append(", ").append(fusion::print(graph_.arguments[kept.argument])).append(')');
      return;
    }
    const bool is_user = node.function == Function::user && node.user < users_.count;
    out_.append(is_user ? users_.names[node.user] : text_of(node.function)).append('(');
    for (int k = 0; k < 3 && node.inputs[k] >= 0; ++k) {
      if (k > 0) out_.append(", ");
      value(node.inputs[k], Binding::comparison);
    }
    if (node.function == Function::round) out_.append(':').append(info(node.element).name);
    if (span_of(node) > 0 && node.head != kWholeRow) out_.append(", ").append(node.head);
    if (node.function == Function::top_k) out_.append(", ").append(node.most);
    out_.append(')');
  }

  const Graph& graph_;
  UserNames users_;
  GraphText out_;
  Name names_[kMaxNodes] = {};
  int uses_[kMaxNodes] = {};
  int fresh_ = 0;
};

constexpr GraphText print_with(const Graph& graph, const UserNames& users) {
  const Graph shown = canonical(graph);
  return GraphPrinter(shown, users).print();
}

// The same at run time.
GANTRY_LINKAGE GraphText print_now(const Graph& graph, const UserNames& users);

}  // namespace detail

// `users`: the functions that come with the graph. Requires a graph that `check` accepts.
template <class Users = detail::NoUsers>
constexpr GraphText print(const Graph& graph, Users /*users*/ = {}) {
  if (!is_constant_evaluated()) return detail::print_now(graph, detail::UserNames::of<Users>());
  return detail::print_with(graph, detail::UserNames::of<Users>());
}

}  // namespace gantry::fusion

#if GANTRY_DEFINES_PLANNING
#include <gantry/epilogue/fusion/detail/print_definitions.hpp>
#endif
