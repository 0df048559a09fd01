// Operands of a GEMM in host memory, of any element type and major.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <gantry/gemm/problem.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/numeric/element_type.hpp>

namespace gantry_test {

using namespace gantry;

struct Extents {
  int m, n, k;
  int batch = 1;
  int ctas = 4;           // that run at the same time
  bool padded = false;    // there is room between rows and between matrices
  bool shared_b = false;  // by all batches
  bool split = false;     // tiles that several clusters share
};

// Where the elements of rows x K matrices lie, either mode contiguous; rows and matrices at multiples of 16 bytes.
struct OperandLayout {
  std::int64_t row = 0, k = 0, batch = 0;  // strides, in elements
  std::size_t count = 0;                   // elements of all

  OperandLayout(Major major, const int (&shape)[3], bool padded, int element_bytes) {
    const int chunk = 16 / element_bytes;
    const int contiguous = major == Major::K ? shape[1] : shape[0], lines = major == Major::K ? shape[0] : shape[1];
    const std::int64_t stride = (contiguous + chunk - 1) / chunk * chunk + (padded ? chunk : 0);
    row = major == Major::K ? stride : 1;
    k = major == Major::K ? 1 : stride;
    batch = stride * lines + (padded ? 3 * chunk : 0);
    count = static_cast<std::size_t>(batch * shape[2] + chunk);
  }

  std::int64_t stride() const { return k == 1 ? row : k; }
};

// What lies between rows shows where it is read.
template <ElementType element>
class Operand {
 public:
  using T = element_t<element>;

  Operand(Major major, int rows, int k, int batch, bool padded)
      : layout_(major, {rows, k, batch}, padded, sizeof(T)), values_(layout_.count, poison()) {}

  void set(int row, int k, int batch, double x) { values_[at(row, k, batch)] = make(x); }
  double get(int row, int k, int batch) const { return static_cast<double>(values_[at(row, k, batch)]); }
  T& raw(int row, int k) { return values_[at(row, k, 0)]; }

  const std::vector<T>& values() const { return values_; }
  GemmMatrix<const void> matrix(bool shared) const {
    return {values_.data(), layout_.stride(), shared ? 0 : layout_.batch};
  }

 private:
  static T make(double x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x);
    } else if (std::isinf(x) && std::numeric_limits<T>::has_infinity) {  // a conversion may saturate
      return x < 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    } else {
      return T(x);
    }
  }
  static T poison() { return make(std::is_integral_v<T> ? 77 : std::numeric_limits<double>::quiet_NaN()); }
  std::size_t at(int row, int k, int batch) const {
    return static_cast<std::size_t>(row * layout_.row + k * layout_.k + batch * layout_.batch);
  }

  OperandLayout layout_;
  std::vector<T> values_;
};

// Sixteen rows of A with one or two special values each, in the first or in the last step of K, and four columns of B:
// ones, minus ones, ones and a NaN, zeros. `product` has a and b, of 16 x `k` and 4 x `k`.
template <class Product>
void fill_with_special_values(Product& product, int k) {
  using T = typename decltype(product.a)::T;
  using L = std::numeric_limits<double>;
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  const double smallest = static_cast<double>(std::numeric_limits<T>::denorm_min());
  const double infinity = std::numeric_limits<T>::has_infinity ? L::infinity() : largest;
  const double rows[][2] = {{L::quiet_NaN(), 0}, {infinity, 0}, {-infinity, 1},      {infinity, -infinity},
                            {-0.0, -0.0},        {smallest, 0}, {smallest, largest}, {-smallest, smallest}};
  for (int i = 0; i < k; ++i) {
    for (int row = 0; row < 16; ++row) product.a.set(row, i, 0, 0);
    product.b.set(0, i, 0, 1);
    product.b.set(1, i, 0, -1);
    product.b.set(2, i, 0, i == 1 ? L::quiet_NaN() : 1);
    product.b.set(3, i, 0, 0);
  }
  for (int i = 0; i < 8; ++i) {
    product.a.set(i, 0, 0, rows[i][0]);
    product.a.set(i, k - 1, 0, rows[i][1]);
    product.a.set(8 + i, k - 1, 0, rows[i][0]);
    product.a.set(8 + i, k - 2, 0, rows[i][1]);
  }
}

}  // namespace gantry_test
