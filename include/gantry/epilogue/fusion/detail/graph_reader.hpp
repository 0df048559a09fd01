// Reads the text of a fusion graph from left to right, statement by statement. What parse.hpp is made of.
#pragma once

#include <gantry/epilogue/fusion/detail/expression_reader.hpp>

namespace gantry::fusion::detail {

class GraphReader : public ExpressionReader {
 public:
  using ExpressionReader::ExpressionReader;

  // statement (';' statement)* [';']
  constexpr void read() {
    refuse_control_characters();
    while (ok()) {
      if (statements_ > 0 && peek() == '\0') break;
      statement();
      if (!ok() || !accept(';')) break;
    }
    if (ok() && peek() != '\0') expected("';' or an operator");
    for (int i = 0; ok() && i < value_count_; ++i) {
      if (values_[i].is_let && !values_[i].used) {
        refuse(values_[i].position, TextRule::a_value_is_used_by_nothing)
            .append(values_[i].name.text)
            .append(" is used by nothing below");
      }
    }
  }

 private:
  constexpr void remember(const Word& name, int node, bool is_let, bool is_reduction = false) {
    if (value_count_ == kMostValues) {
      refuse(name.position, TextRule::the_graph_is_too_large)
          .append("a text has at most ")
          .append(kMostValues)
          .append(" statements");
      return;
    }
    values_[value_count_++] = {name.name, node, name.position, is_let, false, is_reduction};
  }
  constexpr bool is_known(const Name& name) const {
    if (is_reserved(name) && name != Name("d")) return true;
    for (int i = 0; i < value_count_; ++i) {
      if (values_[i].name == name) return true;
    }
    return false;
  }

  constexpr void statement() {
    ++statements_;
    if (compute_statement() || round_statement()) return;
    const bool is_let = accept_word("let");
    const Word name = word(is_let ? "a name" : "a statement such as d = acc");
    if (ok() && is_known(name.name))
      refuse(name.position, TextRule::a_name_has_a_meaning_already)
          .append(name.name.text)
          .append(" has a meaning already");
    if (!ok()) return;
    const bool is_d = !is_let && name.name == Name("d");
    if (is_let || is_d) {
      if (is_d && peek() == ':') {
        refuse(skip(), TextRule::d_has_no_type_here)
            .append("the element type and the major of D belong to the kernel, not to the fusion");
      }
      expect('=', "'='");
      const int node = ok() ? expression() : 0;
      if (is_d) graph_.d = node;
      if (ok()) remember(name, node, is_let);
      return;
    }
    output(name);
  }

  // 'compute' type. An output may have that name all the same: what follows it then is no element type.
  constexpr bool compute_statement() {
    const int start = skip();
    if (!accept_word("compute")) return false;
    const int at = skip();
    const Word type = is_letter(peek()) ? word("an element type") : Word{};
    const ParsedElementType parsed = parse_element_type(type.name.text);
    if (!parsed.ok) {
      rewind(start);
      return false;
    }
    if (!is_compute_element(parsed.type)) {
      refuse(at, TextRule::something_else_is_expected)
          .append("values are computed in f32, or are rounded to f16 or bf16, and not to ")
          .append(to_text(parsed.type));
    }
    graph_.compute_element = parsed.type;
    return true;
  }

  // 'round' and how. An output may have that name all the same: what follows it then is no letter.
  constexpr bool round_statement() {
    const int start = skip();
    if (!accept_word("round")) return false;
    if (!is_letter(peek())) {
      rewind(start);
      return false;
    }
    for (const RoundingName& name : kRoundingNames) {
      if (!accept_word(name.text)) continue;
      graph_.rounding = name.rounding;
      return true;
    }
    constexpr const char* kWords[] = {"nearest_even", "nearest_away", "toward_zero"};
    expected("how outputs are rounded: nearest_even, nearest_away or toward_zero", kWords);
    return true;
  }

  // name [':' type] words '=' value, or a reduction of one.
  constexpr void output(const Word& name) {
    Argument wanted{.name = name.name, .kind = ArgumentKind::aux_out};
    if (accept(':')) wanted.element = element();
    if (!ok()) return;
    const int major_at = skip();
    wanted.row_major = !accept_word("col");
    const bool has_major = !wanted.row_major || accept_word("row");
    wanted.has_default = accept_word("optional");
    const int deterministic_at = skip();
    wanted.deterministic = accept_word("deterministic");
    if (!accept('=')) {
      constexpr const char* kWords[] = {"row", "col", "optional", "deterministic"};
      expected("':' and an element type, 'row', 'col', 'optional', 'deterministic' or '='", kWords);
      return;
    }
    Node node{.kind = NodeKind::aux_store};
    if (reduction(node, wanted)) {
      if (has_major && wanted.block == 0) {
        refuse(major_at, TextRule::a_reduction_has_no_major)
            .append("a reduction has no major; the results of blocks have, as in x col = reduce_col_add(acc, 128)");
      }
    } else {
      if (wanted.deterministic)
        refuse(deterministic_at, TextRule::only_a_reduction_is_deterministic)
            .append("only a reduction is deterministic or not");
      node.inputs[0] = static_cast<std::int8_t>(expression());
    }
    if (!ok()) return;
    node.argument = static_cast<std::int8_t>(argument(used_fields(wanted), name.position));
    add(node, name.position);
    remember(name, node.inputs[0], false, node.kind == NodeKind::reduce);
  }

  // True, and read to its end, where a reduction begins here.
  constexpr bool reduction(Node& node, Argument& wanted) {
    const int start = skip();
    for (const ReductionName& name : kReductionNames) {
      if (!accept_word(name.text)) continue;
      if (!accept('(')) break;
      node.kind = NodeKind::reduce;
      node.reduction = name.reduction;
      wanted.kind = ArgumentKind::reduction;
      wanted.extent = name.extent;
      node.inputs[0] = static_cast<std::int8_t>(expression());
      if (ok() && name.extent != Extent::scalar && accept(',')) {
        wanted.block = whole("a block has a whole number of rows or columns: 8, 16, 24, ... to 256");
        if (ok() && wanted.block == 0) {
          refuse(skip(), TextRule::something_else_is_expected)
              .append("a block has 8, 16, 24, ... to 256 rows or columns; without a number, all of them are combined");
        }
      }
      expect(')', name.extent == Extent::scalar ? "an operator or ')'" : "',' and the size of a block, or ')'");
      wanted.deterministic = wanted.deterministic || takes_workspace(name.reduction, wanted);
      return true;
    }
    rewind(start);
    return false;
  }

  int statements_ = 0;
};

}  // namespace gantry::fusion::detail
