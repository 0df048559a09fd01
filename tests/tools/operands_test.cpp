// What `gantry gemm` says of a result is true: right ones pass, and one wrong element anywhere that was looked at is
// found and named.
#include "gemm/operands.hpp"

#include <gtest/gtest.h>

#include <gantry/numeric/element_access.hpp>

namespace gantry::tool {
namespace {

Product product_of(const ProductTexts& texts) {
  Product product = read_product(texts);
  EXPECT_TRUE(product.ok()) << product.problems[0];
  return product;
}

Operand& operand(Operands& operands, const std::string& name) {
  for (Operand& o : operands.all()) {
    if (o.name == name) return o;
  }
  ADD_FAILURE() << name;
  return operands.all()[0];
}

double read(const Operand& o, std::int64_t m, std::int64_t n, std::int64_t batch = 0) {
  return load_as_double(o.element, o.bytes.data(), o.tensor().index(m, n, batch));
}
void write(Operand& o, std::int64_t m, std::int64_t n, std::int64_t batch, double x) {
  store_from_double(o.element, o.bytes.data(), o.tensor().index(m, n, batch), x);
}

// D = A B + bias, by the definition.
void multiply(const Product& p, Operands& operands) {
  const Operand &a = operand(operands, "A"), &b = operand(operands, "B"), &bias = operand(operands, "bias");
  Operand& d = operand(operands, "D");
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = read(bias, 0, j);
        for (std::int64_t x = 0; x < p.k; ++x) sum += read(a, i, x, batch) * read(b, j, x, batch);
        write(d, i, j, batch, sum);
      }
    }
  }
}

TEST(Operands, AcceptWhatIsRightAndNameWhatIsWrong) {
  for (const char* major : {"k", "m"}) {
    const Product p = product_of({.m = 20,
                                  .n = 24,
                                  .k = 10,
                                  .batch = 2,
                                  .d = "f32",
                                  .epilogue = "d = acc + row(bias)",
                                  .major_a = major,
                                  .layout_d = major[0] == 'k' ? "row" : "column"});
    Operands operands(p, Inputs::eighths, 1);
    EXPECT_EQ(operands.verify().wrong, 960) << "poison is no result";
    multiply(p, operands);
    const Verification right = operands.verify();
    EXPECT_TRUE(right.ok()) << right.first_wrong;
    EXPECT_EQ(right.elements, 960);
    EXPECT_EQ(right.largest_error, 0) << "sums of eighths are exact";
    Operand& d = operand(operands, "D");
    const double was = read(d, 3, 5, 1);
    write(d, 3, 5, 1, was + 0.125);
    const Verification wrong = operands.verify();
    EXPECT_EQ(wrong.wrong, 1);
    EXPECT_EQ(wrong.first_wrong.rfind("D at row 3, column 5 of batch 1 is ", 0), 0u) << wrong.first_wrong;
  }
}

TEST(Operands, AllowAsMuchErrorAsRoundingCausesAndNoMore) {
  const Product p = product_of({.m = 16, .n = 16, .k = 64, .epilogue = "d = acc + row(bias)"});
  Operands operands(p, Inputs::uniform, 2);
  multiply(p, operands);  // rounded once, to bf16
  const Verification right = operands.verify();
  EXPECT_TRUE(right.ok()) << right.first_wrong;
  EXPECT_GT(right.largest_error, 0);
  Operand& d = operand(operands, "D");
  write(d, 1, 1, 0, read(d, 1, 1) * 1.02 + 0.02);
  EXPECT_FALSE(operands.verify().ok());
}

TEST(Operands, OfALargeGemmLookAtTheFirstAndTheLastRows) {
  const Product p = product_of({.m = 700, .n = 4096, .k = 1, .d = "f32", .epilogue = "d = acc + row(bias)"});
  Operands operands(p, Inputs::eighths, 3);
  multiply(p, operands);
  const Verification right = operands.verify();
  EXPECT_TRUE(right.ok()) << right.first_wrong;
  EXPECT_EQ(right.part.rfind("rows 0 to 243 and 384 to ", 0), 0u) << right.part;
  Operand& d = operand(operands, "D");
  write(d, 243, 4095, 0, 1e6);
  EXPECT_EQ(operands.verify().wrong, 1);
  write(d, 390, 0, 0, 1e6);
  EXPECT_EQ(operands.verify().wrong, 2);
}

TEST(Operands, AreTheSameForTheSameSeedOnly) {
  const Product p = product_of({.m = 16, .n = 16, .k = 16, .epilogue = "d = acc + row(bias)"});
  const Operands one(p, Inputs::uniform, 1), same(p, Inputs::uniform, 1), other(p, Inputs::uniform, 2);
  EXPECT_EQ(one.find("A")->bytes, same.find("A")->bytes);
  EXPECT_NE(one.find("A")->bytes, other.find("A")->bytes);
  EXPECT_NE(one.find("A")->bytes, one.find("B")->bytes);
}

}  // namespace
}  // namespace gantry::tool
