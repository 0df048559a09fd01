// Printing from the host side of a .cu file. {fmt} 9 does not compile under nvcc, so that including it is no part of
// it.
#include <iostream>

#include <gantry/layout/format.hpp>

#if defined(FMT_VERSION)
#error "under nvcc <gantry/layout/format.hpp> leaves {fmt} to those who include it"
#endif

int main() {
  using namespace gantry;
  const Layout l = make_layout(make_shape(_2, 2));
  std::cout << l << ' ' << Swizzle(3, 4, 3) << '\n' << as_table(l);
  StringSink out;
  print(out, l);
  return out.str() == "(_2,2):(_1,_2)" && !as_table(l).empty() ? 0 : 1;
}
