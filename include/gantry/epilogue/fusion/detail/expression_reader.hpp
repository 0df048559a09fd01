// Reads the expressions of a fusion graph's text: operators, calls, arguments, and the values that stand above.
#pragma once

#include <gantry/epilogue/fusion/detail/graph_nodes.hpp>

namespace gantry::fusion::detail {

class ExpressionReader : public GraphNodes {
 public:
  constexpr ExpressionReader(Chars text, const UserNames& users) : GraphNodes(text), users_(users) {}

 protected:
  static constexpr int kMostValues = kMaxNodes;

  struct NamedValue {
    Name name;
    int node = 0;
    int position = 0;
    bool is_let = false;
    bool used = false;
    bool is_reduction = false;
  };

  // sum (('>' | '<') sum)?
  constexpr int expression() {
    if (++depth_ > kMostDepth) return too_deep(skip());
    int out = sum();
    const int at = skip();
    if (ok() && accept('>')) {
      const int right = sum();
      if (ok()) out = compute(Function::greater, at, out, right);
    } else if (ok() && accept('<')) {
      const int right = sum();
      if (ok()) out = compute(Function::greater, at, right, out);
    }
    --depth_;
    return out;
  }

  // A whole number of something; `what` says of what.
  constexpr std::int16_t whole(const char* what) {
    const int at = skip();
    const float asked = ok() ? number() : 0;
    if (ok() && !(asked >= 0 && asked <= 4096 && static_cast<float>(static_cast<int>(asked)) == asked)) {
      refuse(at, TextRule::something_else_is_expected).append(what);
    }
    return ok() ? static_cast<std::int16_t>(asked) : std::int16_t{0};
  }

  NamedValue values_[kMostValues] = {};
  int value_count_ = 0;

 private:
  static constexpr int kMostDepth = 100;

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
    if (ok() && !accept(')')) {
      constexpr const char* kMajors[] = {"row", "col"};
      if (kind == NodeKind::aux_load) {
        expected("':' and an element type, 'row', 'col', '=' and a number, or ')'", kMajors);
      } else {
        expected("':' and an element type, '=' and a number, or ')'");
      }
    }
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
    if (called == Name("keep")) return keep(name);
    if (called == Name("dropout")) return dropout(name);
    if (called == Name("rotary_adjacent")) return rotary(name, true);
    if (called == Name("rotary_halves")) return rotary(name, false);
    if (called == Name("block_scale")) return scale_of_block(name);
    if (called == Name("softmax")) return softmax(name, false);
    if (called == Name("top_k_softmax")) return softmax(name, true);
    if (called == Name("gate")) return half_of_accumulators(NodeKind::gate, name);
    if (called == Name("up")) return half_of_accumulators(NodeKind::up, name);
    for (const ReductionName& reduction : kReductionNames) {
      if (called != Name(reduction.text)) continue;
      refuse(name.position, TextRule::a_reduction_is_no_value)
          .append("a reduction is no value of an element: it is assigned, as in x = ");
      more().append(called.text).append("(...)");
      return 0;
    }
    const Function f = find_function(called.text);
    int user = -1;
    for (int i = 0; i < users_.count && f == Function::user; ++i) {
      if (called == Name(users_.names[i])) user = i;
    }
    if (f == Function::user && user < 0) {
      unknown(name, TextRule::there_is_no_such_function, "function", nearest(called));
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

  // share ',' seed, up to and with the closing parenthesis.
  constexpr int keep(const Word& name) {
    const int at = skip();
    const char first = peek();
    if (!is_digit(first) && first != '.' && first != '-') {
      expected("the share that is dropped, a number in [0, 1): keep(0.1, seed), dropout(x, 0.1, seed)");
      return 0;
    }
    const float share = number();
    if (ok() && !(share >= 0 && share < 1)) {
      refuse(at, TextRule::a_share_is_no_share).append("dropout drops a share of the elements: 0 or more, and below 1");
    }
    expect(',', "',' and the name of the seed");
    const Word seed = ok() ? word("the name of the seed") : Word{};
    Argument wanted{.name = seed.name, .element = ElementType::u32};
    if (ok() && accept(':')) wanted.element = element();
    if (ok() && accept('=')) {
      wanted.has_default = true;
      wanted.value = number();
    }
    expect(')', "':' and an element type, '=' and a number, or ')'");
    if (!ok()) return 0;
    const int argument_of = argument(used_fields(wanted), seed.position);
    return add({.kind = NodeKind::keep, .argument = static_cast<std::int8_t>(argument_of), .constant = share},
               name.position);
  }
  // x ',' share ',' seed: x, times what makes up for the dropped ones, where it is kept, else 0.
  constexpr int dropout(const Word& name) {
    const int x = expression();
    expect(',', "',' and the share that is dropped: dropout(x, 0.1, seed)");
    const int kept = ok() ? keep(name) : 0;
    if (!ok()) return 0;
    const auto constant = [&](float value) {
      return add({.kind = NodeKind::constant, .constant = value}, name.position);
    };
    const int scale = constant(dropout_scale(graph_.nodes[kept].constant));
    const int scaled = compute(Function::multiply, name.position, x, scale);
    return compute(Function::select, name.position, kept, scaled, constant(0));
  }

  // ',' and the columns of a head.
  constexpr std::int16_t head() {
    expect(',', "',' and how many columns a head has: rotate(x, 64)");
    return whole("a head has a whole number of columns: 2, or 16, 32, ... to 256");
  }
  // ',' and the columns of a block, or nothing: a row's.
  constexpr std::int16_t block() {
    if (!ok() || !accept(',')) return kWholeRow;
    return whole("a block has a whole number of columns: 8, 16, 24, ... to 256");
  }
  // ',' and how many of a row are the largest.
  constexpr std::int8_t most() {
    expect(',', "',' and how many of a row are the largest: top_k(x, 2)");
    const int asked = whole("the largest of a row are a whole number: 1 to 8");
    return static_cast<std::int8_t>(asked > 127 ? 127 : asked);  // more than 8, which check refuses
  }
  constexpr int across(Function f, int position, int x, std::int16_t columns = kWholeRow) {
    Node node{.kind = NodeKind::compute, .function = f, .head = columns};
    node.inputs[0] = static_cast<std::int8_t>(x);
    return add(node, position);
  }

  // x ':' type, and ',' columns unless the block is the row: what a block of x is divided by so that it fills the type.
  constexpr int scale_of_block(const Word& name) {
    const int x = expression();
    expect(':', "':' and the element type that is to be filled: block_scale(x:e4m3, 128)");
    const int at = skip();
    const ElementType type = ok() ? element() : ElementType::void_;
    const float largest = largest_of(type);
    if (ok() && largest == 0) {
      refuse(at, TextRule::something_else_is_expected)
          .append("blocks are scaled for e4m3, e5m2, s8 and u8, and not for ")
          .append(to_text(type));
    }
    const std::int16_t columns = block();
    expect(')', "',' and how many columns a block has, or ')'");
    if (!ok()) return 0;
    const auto constant = [&](float value) {
      return add({.kind = NodeKind::constant, .constant = value}, name.position);
    };
    const int top = across(Function::across_amax, name.position, x, columns);
    const int scale = compute(Function::divide, name.position, top, constant(largest));
    const int normal = compute(Function::lower_bound, name.position, scale, constant(kLeastScale));
    return compute(Function::select, name.position, top, normal, constant(1));
  }

  // x, and of the k largest ',' k, whose others are left out: exp(x - max) over its sum.
  constexpr int softmax(const Word& name, bool only_top) {
    int x = expression();
    const std::int8_t count = ok() && only_top ? most() : std::int8_t{0};
    expect(')', "an operator or ')'");
    if (!ok()) return 0;
    if (only_top) {
      Node kept{.kind = NodeKind::compute, .function = Function::top_k, .head = kWholeRow, .most = count};
      kept.inputs[0] = static_cast<std::int8_t>(x);
      const int lowest = add({.kind = NodeKind::constant, .constant = kLowest}, name.position);
      x = compute(Function::select, name.position, add(kept, name.position), x, lowest);
    }
    const int top = across(Function::across_max, name.position, x);
    const int e = compute(Function::exp, name.position, compute(Function::subtract, name.position, x, top));
    const int sum = across(Function::across_add, name.position, e);
    return compute(Function::multiply, name.position, e, compute(Function::rcp, name.position, sum));
  }

  // x ',' cos ',' sin, and of halves ',' head: x cos + rotate(x) sin.
  constexpr int rotary(const Word& name, bool adjacent) {
    const char* const form = adjacent ? "',': rotary_adjacent(x, cos, sin)" : "',': rotary_halves(x, cos, sin, head)";
    const int x = expression();
    expect(',', form);
    const int cosine = ok() ? expression() : 0;
    expect(',', form);
    const int sine = ok() ? expression() : 0;
    Node rotated{.kind = NodeKind::compute, .function = Function::rotate, .head = 2};
    if (ok() && !adjacent) rotated.head = head();
    expect(')', "an operator or ')'");
    if (!ok()) return 0;
    rotated.inputs[0] = static_cast<std::int8_t>(x);
    const int kept = compute(Function::multiply, name.position, x, cosine);
    const int turned = compute(Function::multiply, name.position, add(rotated, name.position), sine);
    return compute(Function::add, name.position, kept, turned);
  }

  // 'acc' and the closing parenthesis.
  constexpr int half_of_accumulators(NodeKind kind, const Word& name) {
    if (!accept_word("acc")) {
      expected(kind == NodeKind::gate ? "acc: gate(acc)" : "acc: up(acc)");
      return 0;
    }
    expect(')', "')'");
    return ok() ? add({.kind = kind}, name.position) : 0;
  }

  // The inputs of a function, up to and with the closing parenthesis.
  constexpr int inputs(const Word& name, Function f, int user) {
    Node node{.kind = NodeKind::compute, .function = f, .user = static_cast<std::int8_t>(user)};
    const int wanted = user >= 0 ? users_.arities[user] : arity(f);
    for (int i = 0; i < wanted && ok(); ++i) {
      if (i > 0 && !accept(',')) {
        refuse(skip(), TextRule::a_function_has_too_few_inputs)
            .append(name.name.text)
            .append(" takes ")
            .append(wanted)
            .append(" inputs, and has ")
            .append(i);
        if (user < 0) more().append(": ").append(name.name.text).append('(').append(info(f).inputs).append(')');
        return 0;
      }
      node.inputs[i] = static_cast<std::int8_t>(expression());
    }
    if (ok() && f == Function::round) {
      expect(':', "':' and an element type: round(x:bf16)");
      if (ok()) node.element = element();
    }
    if (ok() && f == Function::rotate) node.head = head();
    if (ok() && f >= Function::across_add && f <= Function::across_amax) node.head = block();
    if (ok() && f == Function::top_k) {
      node.head = kWholeRow;
      node.most = most();
    }
    if (ok() && peek() == ',') {
      refuse(skip(), TextRule::a_function_has_too_many_inputs).append(name.name.text).append(" takes ").append(wanted);
      more().append(wanted == 1 ? " input, and there are more" : " inputs, and there are more");
      if (user < 0) more().append(": ").append(name.name.text).append('(').append(info(f).inputs).append(')');
    }
    expect(')', "an operator or ')'");
    return ok() ? add(node, name.position) : 0;
  }

  constexpr int named(const Word& name) {
    for (int i = 0; i < value_count_; ++i) {
      if (values_[i].name != name.name) continue;
      if (values_[i].is_reduction) {
        refuse(name.position, TextRule::a_reduction_is_no_value)
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
    unknown(name, TextRule::there_is_no_such_value, "value", nearest.name());
    if (nearest.name().text[0] == '\0') {
      more().append("; arguments are scalar(").append(name.name.text).append("), row(...), col(...) or load(...)");
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
    if (!ok() || !accept('-')) return primary();
    const char next = peek();
    const int inside = skip();
    if (is_digit(next) || next == '.' || accept_word("inf")) {
      rewind(start);
      return add({.kind = NodeKind::constant, .constant = number()}, start);
    }
    rewind(inside);
    if (++depth_ > kMostDepth) return too_deep(start);
    const int out = unary();
    --depth_;
    return ok() ? compute(Function::neg, start, out) : 0;
  }

  constexpr int product() {
    int out = unary();
    while (ok() && (peek() == '*' || peek() == '/')) {
      const int at = skip();
      const Function f = accept('*') ? Function::multiply : Function::divide;
      if (f == Function::divide) accept('/');
      const int right = unary();
      if (ok()) out = compute(f, at, out, right);
    }
    return out;
  }
  constexpr int sum() {
    int out = product();
    while (ok() && (peek() == '+' || peek() == '-')) {
      const int at = skip();
      const Function f = accept('+') ? Function::add : Function::subtract;
      if (f == Function::subtract) accept('-');
      const int right = product();
      if (ok()) out = compute(f, at, out, right);
    }
    return out;
  }
  constexpr int too_deep(int position) {
    refuse(position, TextRule::parentheses_are_nested_too_deep)
        .append("parentheses are nested at most ")
        .append(kMostDepth)
        .append(" deep");
    return 0;
  }

  UserNames users_;
  int depth_ = 0;
};

}  // namespace gantry::fusion::detail
