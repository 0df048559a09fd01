// Nodes and arguments of a graph that is read from text, with a refusal where they do not fit; and the user functions
// that come with it. What graph_reader.hpp is made of.
#pragma once

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/detail/text_reader.hpp>

namespace gantry::fusion::detail {

// The user functions of a pack, as values.
struct UserNames {
  static constexpr int kMost = 8;
  const char* names[kMost] = {};
  int arities[kMost] = {};
  int count = 0;

  // A name of the library would call the library's function, whatever comes with the graph.
  template <class Users>
  static constexpr bool are_free() {
    if constexpr (Users::kCount > 0) {
      for (int i = 0; i < Users::kCount; ++i) {
        if (find_function(Users::name(i)) != Function::user) return false;
      }
    }
    return true;
  }

  template <class Users>
  static constexpr UserNames of() {
    static_assert(Users::kCount <= kMost, "gantry: at most 8 user functions come with a graph");
    static_assert(are_free<Users>(), "gantry: a user function has the name of a function of the library");
    UserNames out;
    out.count = Users::kCount;
    if constexpr (Users::kCount > 0) {
      for (int i = 0; i < Users::kCount; ++i) {
        out.names[i] = Users::name(i);
        out.arities[i] = Users::arity(i);
      }
    }
    return out;
  }
};

class GraphNodes : public TextReader {
 public:
  using TextReader::TextReader;

  constexpr const Graph& graph() const { return graph_; }

 protected:
  constexpr int add(const Node& node, int position) {
    const int out = intern(graph_, node);
    if (graph_.overflow)
      refuse(position, TextRule::the_graph_is_too_large)
          .append("a graph has at most ")
          .append(kMaxNodes)
          .append(" nodes, and this would be one more");
    return out;
  }
  constexpr int compute(Function f, int position, int a, int b = -1, int third = -1) {
    Node node{.kind = NodeKind::compute, .function = f};
    node.inputs[0] = static_cast<std::int8_t>(a);
    node.inputs[1] = static_cast<std::int8_t>(b);
    node.inputs[2] = static_cast<std::int8_t>(third);
    return add(node, position);
  }
  constexpr int argument(const Argument& wanted, int position) {
    for (int i = 0; i < graph_.argument_count; ++i) {
      if (graph_.arguments[i] == wanted) return i;
      if (graph_.arguments[i].name != wanted.name) continue;
      refuse(position, TextRule::a_name_stands_for_two_arguments)
          .append(wanted.name.text)
          .append(" stands above for another argument: one name, one argument");
      return 0;
    }
    const int out = graph_.add_argument(wanted);
    if (graph_.overflow)
      refuse(position, TextRule::the_graph_is_too_large)
          .append("a graph has at most ")
          .append(kMaxArguments)
          .append(" arguments, and this would be one more");
    return out;
  }
  constexpr int leaf(NodeKind kind, const Argument& wanted, int position) {
    return add({.kind = kind, .argument = static_cast<std::int8_t>(argument(used_fields(wanted), position))}, position);
  }

  Graph graph_;
};

}  // namespace gantry::fusion::detail
