// The text of fusion graphs: what it means, and what is said about text that means nothing.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;

std::string printed(const char* text) {
  const ParsedGraph parsed = parse_graph(text);
  return parsed.ok() ? print(parsed.graph).c_str() : explain(text, parsed).c_str();
}

TEST(FusionText, IsPrintedWithNoMoreParenthesesThanItNeeds) {
  EXPECT_EQ(printed("d=acc-(c-acc)"), "d = acc - (c - acc)");
  EXPECT_EQ(printed("d=(acc-c)-acc"), "d = acc - c - acc");
  EXPECT_EQ(printed("d=(acc*c)+(acc/(c*acc))"), "d = acc * c + acc / (c * acc)");
  EXPECT_EQ(printed("d=-(acc+c)*-acc"), "d = -(acc + c) * -acc");
  EXPECT_EQ(printed("d=(acc>c)*acc"), "d = (acc > c) * acc");
  EXPECT_EQ(printed("d=(acc>c)>acc"), "d = (acc > c) > acc");
  EXPECT_EQ(printed("d = acc < c"), "d = c > acc");
}

TEST(FusionText, NamesValuesThatAreUsedTwice) {
  EXPECT_EQ(printed("let z = acc + c; d = z * z"), "let t0 = acc + c; d = t0 * t0");
  EXPECT_EQ(printed("d = relu(acc); aux = d"), "d = relu(acc); aux = d");
  EXPECT_EQ(printed("t0 = relu(acc); d = square(t0) + 1"), "let t1 = relu(acc); d = square(t1) + 1; t0 = t1");
  EXPECT_EQ(printed("aux = relu(acc); r = reduce_add(aux)"), "aux = relu(acc); r = reduce_add(aux)");
}

TEST(FusionText, CutsAccumulatorsIntoAGateAndUp) {
  constexpr Graph swiglu = graph("d = silu(gate(acc)) * up(acc)");
  static_assert(swiglu.gated() && swiglu.node_count == 4 && !graph("d = acc").gated());
  EXPECT_EQ(printed("g:bf16 = gate(acc); d = silu( gate (acc) ) * up(acc)"),
            "d = silu(gate(acc)) * up(acc); g:bf16 = gate(acc)");
  EXPECT_EQ(printed("gate = gate(acc); d = gate * up(acc)"), "d = gate(acc) * up(acc); gate = gate(acc)");
}

TEST(FusionText, RefusesAGateOfAnythingButAcc) {
  EXPECT_EQ(printed("d = gate(c) * up(acc)"), "d = gate(c) * up(acc)\n         ^\nexpected acc: gate(acc), found 'c'");
  EXPECT_EQ(printed("d = gate(acc + c)"), "d = gate(acc + c)\n             ^\nexpected ')', found '+'");
  const ParsedGraph mixed = parse_graph("d = silu(gate(acc)) * acc");
  EXPECT_EQ(mixed.rule, TextRule::the_graph_is_malformed);
  EXPECT_NE(std::string(mixed.problem.c_str()).find("acc alone does not say which"), std::string::npos);
}

TEST(FusionText, ReadsNumbersAsCppDoes) {
  const auto constant = [](const char* text) {
    const ParsedGraph parsed = parse_graph(text);
    EXPECT_TRUE(parsed.ok()) << text;
    return parsed.graph.nodes[parsed.graph.d].constant;
  };
  EXPECT_EQ(constant("d = 0.1"), 0.1f);
  EXPECT_EQ(constant("d = 0.044715"), 0.044715f);
  EXPECT_EQ(constant("d = .5"), 0.5f);
  EXPECT_EQ(constant("d = 1e-3"), 1e-3f);
  EXPECT_EQ(constant("d = 2.5E+4"), 2.5e4f);
  EXPECT_EQ(constant("d = 3.402823466e38"), 3.402823466e38f);
  EXPECT_EQ(constant("d = 1e-45"), 1e-45f);
  EXPECT_EQ(constant("d = 0x1.8p-4"), 0x1.8p-4f);
  EXPECT_EQ(constant("d = 123456789012345678901234567890"), 123456789012345678901234567890.0f);
  EXPECT_EQ(constant("d = -7"), -7.0f);
  EXPECT_TRUE(__builtin_signbit(constant("d = -0")));
  EXPECT_EQ(constant("d = inf"), __builtin_huge_valf());
  EXPECT_EQ(constant("d = -inf"), -__builtin_huge_valf());
}

TEST(FusionText, WritesEveryFloatSoThatItReadsBack) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    float x;
    const std::uint32_t bits = i < 100 ? static_cast<std::uint32_t>(i) : static_cast<std::uint32_t>(random());
    __builtin_memcpy(&x, &bits, sizeof(x));
    if (x != x) continue;
    Graph g;
    g.d = g.add({.kind = NodeKind::constant, .constant = x});
    const ParsedGraph back = parse_graph(print(g));
    ASSERT_TRUE(back.ok()) << print(g).c_str();
    ASSERT_EQ(bits_of(back.graph.nodes[0].constant), bits_of(x)) << print(g).c_str();
  }
}

struct Refusal {
  const char* text;
  int position;
  const char* problem;
};

constexpr Refusal kRefusals[] = {
    {"d = gleu(acc)", 4, "there is no function gleu; did you mean gelu?"},
    {"d = reduce_row_ad(acc)", 4, "there is no function reduce_row_ad; did you mean reduce_row_add?"},
    {"d = alhpa * acc", 4, "there is no value alhpa; did you mean alpha?"},
    {"d = scaling * acc", 4,
     "there is no value scaling; arguments are scalar(scaling), row(...), col(...) or load(...)"},
    {"d = row(bias:bf61)", 13, "there is no element type bf61; did you mean bf16?"},
    {"d = 1e39 * acc", 4, "this number is larger than every float: the largest is 3.4e38"},
    {"d = relu(acc, 2)", 12, "relu takes 1 input, and there are more: relu(x)"},
    {"d = max(acc)", 11, "max takes 2 inputs, and has 1: max(a, b)"},
    {"d = max(acc, c, 1)", 14, "max takes 2 inputs, and there are more: max(a, b)"},
    {"let x = acc; d = acc", 4, "x is used by nothing below"},
    {"d:bf16 = acc", 1, "the element type and the major of D belong to the kernel, not to the fusion"},
    {"x col = reduce_max(acc)", 2,
     "a reduction has no major; the results of blocks have, as in x col = reduce_col_add(acc, 128)"},
    {"x deterministic = acc", 2, "only a reduction is deterministic or not"},
    {"d = reduce_max(acc)", 4, "a reduction is no value of an element: it is assigned, as in x = reduce_max(...)"},
    {"x = 1 + reduce_max(acc)", 8, "a reduction is no value of an element: it is assigned, as in x = reduce_max(...)"},
    {"r = reduce_add(acc); d = r", 25, "r is a reduction: whole, it is known only when the kernel ends"},
    {"d = row(b) + col(b)", 17, "b stands above for another argument: one name, one argument"},
    {"d = row(b); b = acc", 12, "b stands above for another argument: one name, one argument"},
    {"d = acc +", 9, "expected a value, found the end"},
    {"d = acc )", 8, "expected ';' or an operator, found ')'"},
    {"d = (acc", 8, "expected an operator or ')', found the end"},
    {"d = acc > c > 1", 12, "expected ';' or an operator, found '>'"},
    {"d = acc acc", 8, "expected ';' or an operator, found 'acc'"},
    {"alpha = acc", 0, "alpha has a meaning already"},
    {"d = acc; d = c", 9, "d has a meaning already"},
    {"let c = acc; d = c", 4, "c has a meaning already"},
    {"", 0, "expected a statement such as d = acc, found the end"},
    {"// scaled\nd = acc", 0,
     "expected a statement such as d = acc, found '/'; a comment goes from # to the end of its line"},
    {"/* all */ d = acc", 0,
     "expected a statement such as d = acc, found '/'; a comment goes from # to the end of its line"},
    {"d = acc // all", 9, "expected a value, found '/'; a comment goes from # to the end of its line"},
    {"d = acc /* all */", 9, "expected a value, found '*'; a comment goes from # to the end of its line"},
    {"d = acc / / c", 10, "expected a value, found '/'"},
    {"d acc", 2, "expected '=', found 'acc'"},
    {"x acc", 2, "expected ':' and an element type, 'row', 'col', 'optional', 'deterministic' or '=', found 'acc'"},
    {"d = round(acc)", 13, "expected ':' and an element type: round(x:bf16), found ')'"},
    {"d = load(x:bf16 coll)", 16,
     "expected ':' and an element type, 'row', 'col', '=' and a number, or ')', found 'coll'; did you mean col?"},
    {"x:bf16 optinal = acc", 7,
     "expected ':' and an element type, 'row', 'col', 'optional', 'deterministic' or '=', found 'optinal'; did you "
     "mean "
     "optional?"},
    {"d = row(bias:void)", 13,
     "void holds nothing: give the type of the elements, such as f32 or bf16, or leave it out for f32"},
    {"x:none = acc", 2,
     "void holds nothing: give the type of the elements, such as f32 or bf16, or leave it out for f32"},
    {"x:voi = acc", 2, "there is no element type voi"},
    {"d = row(bias:half)", 13, "there is no element type half; did you mean half_t?"},
    {"d = acc\r\n", 7,
     "the byte 13, a carriage return, is no part of a text: between words stand spaces, tabs and ends of lines (byte "
     "10)"},
    {"d = acc # a bell: \a", 18,
     "the byte 7 is no part of a text: between words stand spaces, tabs and ends of lines (byte 10)"},
    {"d = acc \x7f", 8,
     "the byte 127 is no part of a text: between words stand spaces, tabs and ends of lines (byte 10)"},
    {"d = acc + # nothing follows", 27, "expected a value, found the end"},
    {"d = mihs(acc)", 4, "there is no function mihs; did you mean mish?"},
    {"d = snake(acc)", 13, "snake takes 2 inputs, and has 1: snake(x, frequency)"},
    {"d = row(bias = x)", 15, "expected a number, found 'x'"},
    {"d = row(a_name_of_twenty_five_ch)", 8, "a name has at most 23 characters, and this has 24"},
    {"d = acc $ c", 8, "expected ';' or an operator, found '$'"},
    {"let z = acc", 4, "z is used by nothing below"},
};

TEST(FusionText, ThatMeansNothingIsRefusedWhereItIsWrong) {
  for (const Refusal& refusal : kRefusals) {
    const ParsedGraph parsed = parse_graph(refusal.text);
    EXPECT_STREQ(parsed.problem.c_str(), refusal.problem) << refusal.text;
    EXPECT_EQ(parsed.position, refusal.position) << refusal.text;
    EXPECT_EQ(parsed.graph.node_count, 0);
  }
}

TEST(FusionText, HasCommentsFromASharpToTheEndOfTheLine) {
  EXPECT_EQ(printed("# what a layer does, ünd mehr\nd = relu(acc) # of the accumulator\n;\n\taux = acc # kept\n"),
            "d = relu(acc); aux = acc");
  EXPECT_EQ(printed("d = acc # relu(acc)"), "d = acc");
}

TEST(FusionText, EndsWhereItEndsAndNotAtAByteOfZero) {
  const std::string text("d = acc\0 + 1", 12);
  const ParsedGraph parsed = parse_graph(text);
  EXPECT_EQ(parsed.position, 7);
  EXPECT_EQ(parsed.rule, TextRule::a_control_character_is_no_text);
}

TEST(FusionText, ShowsTheMistakeWithACaret) {
  constexpr const char* kText = "d = gelu(alpha * acc + rwo(bias))";
  EXPECT_STREQ(explain(kText, parse_graph(kText)).c_str(),
               "d = gelu(alpha * acc + rwo(bias))\n"
               "                       ^\n"
               "there is no function rwo; did you mean row?");
}

TEST(FusionText, IsRefusedWhereItGrowsTooLarge) {
  std::string text = "d = acc";
  for (int i = 0; i < 60; ++i) text += " + " + std::to_string(i);
  const ParsedGraph nodes = parse_graph(text);
  EXPECT_STREQ(nodes.problem.c_str(), "a graph has at most 48 nodes, and this would be one more");
  text = "d = acc";
  for (int i = 0; i < 21; ++i) text += " + row(v" + std::to_string(i) + ")";
  EXPECT_STREQ(parse_graph(text).problem.c_str(), "a graph has at most 20 arguments, and this would be one more");
  const std::string deep = "d = " + std::string(5000, '(') + "acc";
  EXPECT_STREQ(parse_graph(deep).problem.c_str(), "parentheses are nested at most 100 deep");
  const std::string minus = "d = " + std::string(5000, '-') + "acc";
  EXPECT_STREQ(parse_graph(minus).problem.c_str(), "parentheses are nested at most 100 deep");
}

// Whatever the text, the answer is a graph that holds or a position inside of it.
void expect_an_answer(const std::string& text) {
  const ParsedGraph parsed = parse_graph(text);
  if (parsed.ok()) {
    EXPECT_TRUE(check(parsed.graph).ok()) << text;
    const ParsedGraph again = parse_graph(print(parsed.graph));
    EXPECT_TRUE(again.ok() && again.graph == parsed.graph) << text << "\n" << print(parsed.graph).c_str();
  } else {
    EXPECT_LE(parsed.position, static_cast<int>(text.size())) << text;
    EXPECT_FALSE(parsed.problem.empty()) << text;
  }
}

TEST(FusionText, OfAnyKindGetsAnAnswer) {
  std::mt19937 random(11);
  const std::string pieces[] = {"d",    "=",     "acc", "c",          "+",        "-",    "*",  "/",   "(",
                                ")",    ",",     ";",   "let",        "z",        "relu", ">",  "row", "col",
                                ":",    "bf16",  "1.5", "reduce_max", "aux",      "0x",   "1e", "inf", "<",
                                "load", "alpha", "max", "round",      "optional", "\x80"};
  for (int i = 0; i < 20000; ++i) {
    std::string text = random() % 2 == 0 ? "d = acc " : "";
    const int count = static_cast<int>(random() % 12);
    for (int k = 0; k < count; ++k) text += pieces[random() % std::size(pieces)] + (random() % 2 == 0 ? " " : "");
    expect_an_answer(text);
  }
}

TEST(FusionText, WithOneCharacterChangedGetsAnAnswer) {
  std::mt19937 random(12);
  const std::string whole =
      "let z = alpha * acc + beta * c + row(bias:bf16 = 0.5); d = gelu(z) > -2e3; pre:f16 col optional = round(z:e4m3);"
      "top deterministic = reduce_row_max(abs(z))";
  ASSERT_TRUE(parse_graph(whole).ok());
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random() % 128);
        break;
      case 1:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.insert(at, 1, text[random() % text.size()]);
    }
    expect_an_answer(text);
  }
}

}  // namespace
