// The kernels of this folder, translated for the GPU: none spills or keeps a stack.
#include <gantry/arch/launch.hpp>

#include "async_kernel.hpp"
#include "ordered_kernel.hpp"
#include "store_kernel.hpp"
#include "tma_async_kernel.hpp"
#include "transaction_kernel.hpp"

namespace gantry::detail {

#define GANTRY_TRANSLATE(...) \
  template __global__ void kernel_entry<__VA_ARGS__>(const __grid_constant__ typename __VA_ARGS__::Params)

GANTRY_TRANSLATE(test::AsyncKernel<3>);
GANTRY_TRANSLATE(test::TransactionKernel<1>);
GANTRY_TRANSLATE(test::TransactionKernel<4>);
GANTRY_TRANSLATE(test::StoreKernel<1>);
GANTRY_TRANSLATE(test::StoreKernel<4, 2>);
GANTRY_TRANSLATE(test::MulticastKernel<4, 1, 1>);
GANTRY_TRANSLATE(test::MulticastKernel<4, 2, 2, 64>);
GANTRY_TRANSLATE(test::MulticastKernel<4, 2, 1, 256>);
GANTRY_TRANSLATE(test::OrderedKernel<2, 2>);

}  // namespace gantry::detail
