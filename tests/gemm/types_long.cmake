# gemm_types_long: every element type and major in both kernels and every cluster, which takes ten minutes of a core to build
# and as long to run. Not part of `all`:
#
#   cmake --build build/release --target gemm_types_long && GANTRY_LONG_TESTS=1 build/release/tests/gemm/gemm_types_long

add_executable(gemm_types_long EXCLUDE_FROM_ALL)
target_link_libraries(gemm_types_long PRIVATE gantry::planning gantry_options gantry::sim GTest::gmock GTest::gtest_main)

function(_types_long a b major_a major_b promote)
  set(object gemm_types_long_${a}_${b}_${major_a}_${major_b}_${promote})
  add_library(${object} OBJECT EXCLUDE_FROM_ALL types_long.cpp)
  target_link_libraries(${object} PRIVATE gantry::planning gantry_options gantry::sim GTest::gtest)
  target_compile_definitions(
    ${object} PRIVATE GANTRY_A=${a} GANTRY_B=${b} GANTRY_MAJOR_A=${major_a} GANTRY_MAJOR_B=${major_b}
                      GANTRY_PROMOTE=${promote} GANTRY_SUITE=${a}${b}${major_a}${major_b}${promote})
  target_link_libraries(gemm_types_long PRIVATE ${object})
endfunction()

foreach(_a K MN)
  foreach(_b K MN)
    _types_long(bf16 bf16 ${_a} ${_b} false)
    _types_long(f16 f16 ${_a} ${_b} false)
  endforeach()
endforeach()
foreach(_a e4m3 e5m2)
  foreach(_b e4m3 e5m2)
    _types_long(${_a} ${_b} K K false)
    _types_long(${_a} ${_b} K K true)
  endforeach()
endforeach()
foreach(_a s8 u8)
  foreach(_b s8 u8)
    _types_long(${_a} ${_b} K K false)
  endforeach()
endforeach()
_types_long(tf32 tf32 K K false)
