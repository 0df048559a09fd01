// Reads the text of a fusion graph from left to right. What parse.hpp is made of.
#pragma once

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/detail/numbers.hpp>

namespace gantry::fusion {

using ParseProblem = Text<256>;

namespace detail {

// Not for constant expressions. A compiler that meets it there names it, with the column.
inline void the_text_could_not_be_read() {}
constexpr void the_text_has_an_error_at_column(int column) {
  if (column > 0) the_text_could_not_be_read();
}

struct NoUsers {
  static constexpr int kCount = 0;
};

// The user functions of a pack, as values.
struct UserNames {
  static constexpr int kMost = 8;
  const char* names[kMost] = {};
  int arities[kMost] = {};
  int count = 0;

  template <class Users>
  static constexpr UserNames of() {
    static_assert(Users::kCount <= kMost, "gantry: at most 8 user functions come with a graph");
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

class GraphReader {
 public:
  constexpr GraphReader(Chars text, const UserNames& users) : text_(text), users_(users) {}

  constexpr bool ok() const { return position_ < 0; }
  constexpr int position() const { return position_; }
  constexpr const ParseProblem& problem() const { return problem_; }
  constexpr const Graph& graph() const { return graph_; }

  // statement (';' statement)* [';']
  constexpr void read() {
    do {
      if (statements_ > 0 && peek() == '\0') break;
      statement();
    } while (ok() && accept(';'));
    if (ok() && peek() != '\0') expected("';' or an operator");
    for (int i = 0; ok() && i < value_count_; ++i) {
      if (values_[i].is_let && !values_[i].used) {
        refuse(values_[i].position).append(values_[i].name.text).append(" is used by nothing below");
      }
    }
  }

 private:
  static constexpr int kMostValues = kMaxNodes;
  static constexpr int kMostDepth = 100;

  struct Word {
    Name name;
    int position = 0;
  };
  struct NamedValue {
    Name name;
    int node = 0;
    int position = 0;
    bool is_let = false;
    bool used = false;
    bool is_reduction = false;
  };

  // Errors. The first one stays.
  constexpr ParseProblem& refuse(int position) {
    if (!ok()) return ignored_;
    position_ = position;
    return problem_;
  }
  constexpr void expected(const char* what) {
    const int at = skip();
    ParseProblem& out = refuse(at);
    out.append("expected ").append(what).append(", found ");
    if (at >= text_.size()) {
      out.append("the end");
    } else if (text_[at] >= ' ' && text_[at] <= '~') {
      out.append('\'').append(text_[at]).append('\'');
    } else {
      out.append("the byte ").append(static_cast<unsigned char>(text_[at]));
    }
  }
  constexpr void unknown(const Word& word, const char* what, const Name& nearest) {
    ParseProblem& out = refuse(word.position);
    out.append("there is no ").append(what).append(' ').append(word.name.text);
    if (nearest.text[0] != '\0') out.append("; did you mean ").append(nearest.text).append('?');
  }

  // Characters.
  constexpr int skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    return at_;
  }
  constexpr char peek() {
    const int at = skip();
    return at < text_.size() ? text_[at] : '\0';
  }
  constexpr bool accept(char c) {
    if (c == '\0' || peek() != c) return false;
    ++at_;
    return true;
  }
  constexpr void expect(char c, const char* what) {
    if (ok() && !accept(c)) expected(what);
  }
  static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  constexpr Word word(const char* what) {
    Word out;
    out.position = skip();
    if (!is_letter(peek())) {
      expected(what);
      return out;
    }
    int length = 0;
    for (; at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])); ++at_, ++length) {
      if (length < kMaxName) out.name.text[length] = text_[at_];
    }
    if (length > kMaxName)
      refuse(out.position).append("a name has at most 23 characters, and this has ").append(length);
    return out;
  }
  // A word that may be there: read only if it is this one.
  constexpr bool accept_word(const char* wanted) {
    const int start = skip();
    if (!is_letter(peek())) return false;
    int at = start;
    for (; *wanted != '\0'; ++wanted, ++at) {
      if (at >= text_.size() || text_[at] != *wanted) return false;
    }
    if (at < text_.size() && (is_letter(text_[at]) || is_digit(text_[at]))) return false;
    at_ = at;
    return true;
  }
  constexpr float number() {
    const bool negative = accept('-');
    const int start = skip();
    float value = 0;
    if (accept_word("inf")) {
      value = kInfinity;
    } else {
      const ReadNumber read = read_number(text_, start);
      if (!read.ok && read.end == 0) expected("a number");
      if (!read.ok && read.end > 0)
        refuse(start).append("this number is larger than every float: the largest is 3.4e38");
      value = read.value;
      at_ = read.ok ? read.end : at_;
    }
    return negative ? -value : value;
  }
  constexpr ElementType element() {
    const Word type = word("an element type, such as bf16");
    if (!ok()) return ElementType::f32;
    const ParsedElementType parsed = parse_element_type(type.name.text);
    if (!parsed.ok || parsed.type == ElementType::void_) unknown(type, "element type", Name(info(parsed.type).name));
    return parsed.type;
  }

  // Nodes.
  constexpr int add(const Node& node, int position) {
    const int out = intern(graph_, node);
    if (graph_.overflow) refuse(position).append("a graph has at most 48 nodes, and this would be one more");
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
      refuse(position).append(wanted.name.text).append(" stands above for another argument: one name, one argument");
      return 0;
    }
    const int out = graph_.add_argument(wanted);
    if (graph_.overflow) refuse(position).append("a graph has at most 20 arguments, and this would be one more");
    return out;
  }
  constexpr int leaf(NodeKind kind, const Argument& wanted, int position) {
    return add({.kind = kind, .argument = static_cast<std::int8_t>(argument(used_fields(wanted), position))}, position);
  }

  // name [':' type] ['row' | 'col'] ['=' number], up to and with the closing parenthesis.
  constexpr int loaded(NodeKind kind) {
    const Word name = word("the name of an argument");
    Argument wanted{.name = name.name, .kind = argument_kind(kind)};
    if (ok() && accept(':')) wanted.element = element();
    if (ok() && kind == NodeKind::aux_load) major(wanted);
    if (ok() && accept('=')) {
      wanted.has_default = true;
      wanted.value = number();
    }
    expect(')', kind == NodeKind::aux_load ? "':' and an element type, 'row', 'col', '=' and a number, or ')'"
                                           : "':' and an element type, '=' and a number, or ')'");
    return ok() ? leaf(kind, wanted, name.position) : 0;
  }
  constexpr void major(Argument& wanted) {
    if (accept_word("col")) {
      wanted.row_major = false;
    } else {
      accept_word("row");
    }
  }

  constexpr int call(const Word& name) {
    const Name& called = name.name;
    if (called == Name("scalar")) return loaded(NodeKind::scalar);
    if (called == Name("row")) return loaded(NodeKind::row);
    if (called == Name("col")) return loaded(NodeKind::column);
    if (called == Name("load")) return loaded(NodeKind::aux_load);
    for (const ReductionName& reduction : kReductionNames) {
      if (called != Name(reduction.text)) continue;
      refuse(name.position).append("a reduction is no value of an element: it is assigned, as in x = ");
      problem_.append(called.text).append("(...)");
      return 0;
    }
    const Function f = find_function(called.text);
    int user = -1;
    for (int i = 0; i < users_.count && f == Function::user; ++i) {
      if (called == Name(users_.names[i])) user = i;
    }
    if (f == Function::user && user < 0) {
      unknown(name, "function", nearest(called));
      return 0;
    }
    return inputs(name, f, user);
  }
  constexpr Name nearest(const Name& called) const {
    Nearest out(called.text);
    out.consider(nearest_function(called.text).text);
    for (int i = 0; i < users_.count; ++i) out.consider(users_.names[i]);
    return out.name();
  }

  // The inputs of a function, up to and with the closing parenthesis.
  constexpr int inputs(const Word& name, Function f, int user) {
    Node node{.kind = NodeKind::compute, .function = f, .user = static_cast<std::int8_t>(user)};
    const int wanted = user >= 0 ? users_.arities[user] : arity(f);
    for (int i = 0; i < wanted && ok(); ++i) {
      if (i > 0 && !accept(',')) {
        refuse(skip()).append(name.name.text).append(" takes ").append(wanted).append(" inputs, and has ").append(i);
        return 0;
      }
      node.inputs[i] = static_cast<std::int8_t>(expression());
    }
    if (ok() && f == Function::round) {
      expect(':', "':' and an element type: round(x:bf16)");
      if (ok()) node.element = element();
    }
    if (ok() && peek() == ',') {
      refuse(skip()).append(name.name.text).append(" takes ").append(wanted);
      problem_.append(wanted == 1 ? " input, and there are more" : " inputs, and there are more");
    }
    expect(')', "an operator or ')'");
    return ok() ? add(node, name.position) : 0;
  }

  constexpr int named(const Word& name) {
    for (int i = 0; i < value_count_; ++i) {
      if (values_[i].name != name.name) continue;
      if (values_[i].is_reduction) {
        refuse(name.position)
            .append(name.name.text)
            .append(" is a reduction: whole, it is known only when the kernel ends");
      }
      values_[i].used = true;
      return values_[i].node;
    }
    if (name.name == Name("acc")) return add({.kind = NodeKind::accumulator}, name.position);
    if (name.name == Name("c")) return add({.kind = NodeKind::source}, name.position);
    if (name.name == Name("inf")) return add({.kind = NodeKind::constant, .constant = kInfinity}, name.position);
    if (name.name == kAlpha.name) return leaf(NodeKind::scalar, kAlpha, name.position);
    if (name.name == kBeta.name) return leaf(NodeKind::scalar, kBeta, name.position);
    Nearest nearest(name.name.text);
    constexpr const char* kKnown[] = {"acc", "c", "alpha", "beta"};
    for (const char* known : kKnown) nearest.consider(known);
    for (int i = 0; i < value_count_; ++i) nearest.consider(values_[i].name.text);
    unknown(name, "value", nearest.name());
    if (nearest.name().text[0] == '\0') {
      problem_.append("; arguments are scalar(").append(name.name.text).append("), row(...), col(...) or load(...)");
    }
    return 0;
  }

  constexpr int primary() {
    const int start = skip();
    const char first = peek();
    if (accept('(')) {
      const int out = expression();
      expect(')', "an operator or ')'");
      return out;
    }
    if (is_digit(first) || first == '.') return add({.kind = NodeKind::constant, .constant = number()}, start);
    if (!is_letter(first)) {
      expected("a value");
      return 0;
    }
    const Word name = word("a value");
    return ok() && accept('(') ? call(name) : named(name);
  }

  // A minus sign right before a number belongs to it.
  constexpr int unary() {
    const int start = skip();
    if (!ok() || peek() != '-') return primary();
    ++at_;
    const char next = peek();
    const int inside = at_;
    if (is_digit(next) || next == '.' || accept_word("inf")) {
      at_ = start;
      return add({.kind = NodeKind::constant, .constant = number()}, start);
    }
    at_ = inside;
    if (++depth_ > kMostDepth) return too_deep(start);
    const int out = unary();
    --depth_;
    return ok() ? compute(Function::negate, start, out) : 0;
  }

  constexpr int product() {
    int out = unary();
    while (ok() && (peek() == '*' || peek() == '/')) {
      const int at = at_++;
      const int right = unary();
      if (ok()) out = compute(text_[at] == '*' ? Function::multiply : Function::divide, at, out, right);
    }
    return out;
  }
  constexpr int sum() {
    int out = product();
    while (ok() && (peek() == '+' || peek() == '-')) {
      const int at = at_++;
      const int right = product();
      if (ok()) out = compute(text_[at] == '+' ? Function::add : Function::subtract, at, out, right);
    }
    return out;
  }
  constexpr int expression() {
    if (++depth_ > kMostDepth) return too_deep(skip());
    int out = sum();
    if (ok() && (peek() == '>' || peek() == '<')) {
      const int at = at_++;
      const int right = sum();
      if (ok())
        out =
            text_[at] == '>' ? compute(Function::greater, at, out, right) : compute(Function::greater, at, right, out);
    }
    --depth_;
    return out;
  }
  constexpr int too_deep(int position) {
    refuse(position).append("parentheses are nested at most 100 deep");
    return 0;
  }

  // Statements.
  constexpr void remember(const Word& name, int node, bool is_let, bool is_reduction = false) {
    if (value_count_ == kMostValues) {
      refuse(name.position).append("a text has at most 48 statements");
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
    const bool is_let = accept_word("let");
    const Word name = word(is_let ? "a name" : "a statement such as d = acc");
    if (ok() && is_known(name.name)) refuse(name.position).append(name.name.text).append(" has a meaning already");
    if (!ok()) return;
    const bool is_d = !is_let && name.name == Name("d");
    if (is_let || is_d) {
      if (is_d && peek() == ':') {
        refuse(skip()).append("the element type and the major of D belong to the kernel, not to the fusion");
      }
      expect('=', "'='");
      const int node = ok() ? expression() : 0;
      if (is_d) graph_.d = node;
      if (ok()) remember(name, node, is_let);
      return;
    }
    output(name);
  }

  // name [':' type] words '=' value, or a reduction of one.
  constexpr void output(const Word& name) {
    Argument wanted{.name = name.name, .kind = ArgumentKind::aux_out};
    if (accept(':')) wanted.element = element();
    if (!ok()) return;
    const int major_at = skip();
    const bool has_major = is_letter(peek()) && (accept_word("row") || accept_word("col"));
    if (has_major) wanted.row_major = text_[major_at] == 'r';
    wanted.has_default = accept_word("optional");
    const int deterministic_at = skip();
    wanted.deterministic = accept_word("deterministic");
    expect('=', "':' and an element type, 'row', 'col', 'optional', 'deterministic' or '='");
    if (!ok()) return;
    Node node{.kind = NodeKind::aux_store};
    if (reduction(node, wanted)) {
      if (has_major) refuse(major_at).append("a reduction has no major");
    } else {
      if (wanted.deterministic) refuse(deterministic_at).append("only a reduction is deterministic or not");
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
      expect(')', "an operator or ')'");
      return true;
    }
    at_ = start;
    return false;
  }

  Chars text_;
  UserNames users_;
  Graph graph_;
  int at_ = 0;
  int depth_ = 0;
  int statements_ = 0;
  NamedValue values_[kMostValues] = {};
  int value_count_ = 0;
  int position_ = -1;
  ParseProblem problem_;
  ParseProblem ignored_;
};

}  // namespace detail

}  // namespace gantry::fusion
