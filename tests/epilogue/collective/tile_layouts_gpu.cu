// A subtile of runs translated for the GPU: no spill, and nothing of its registers on the stack.
#include <gantry/arch/kernel_entry.hpp>
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>

namespace gantry::detail {

struct ColumnsOfRuns {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                        .tile = {64, 128, 64},
                        .epi_tile = make_tile(_64, make_layout(make_shape(_32, _2), make_stride(_1, _64))),
                        .c = ElementType::bf16,
                        .d = ElementType::bf16}
          .policy();
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc + c + row(bias))");
  using Functions = fusion::UserFunctions<>;
};
using Kernel = EpilogueKernel<ColumnsOfRuns>;
template __global__ void kernel_entry<Kernel>(const __grid_constant__ Kernel::Params);

}  // namespace gantry::detail
