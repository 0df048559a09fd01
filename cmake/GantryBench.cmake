# gantry_add_bench(<name> SOURCES a.cpp b.cpp [LIBS ...])
#
# A Google Benchmark program `<name>`, outside of `all`: the target `benchmarks` builds every one, `run_benchmarks` runs them.

find_package(benchmark REQUIRED)
add_custom_target(benchmarks)
add_custom_target(run_benchmarks)

function(gantry_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE gantry::planning gantry_options benchmark::benchmark_main ${arg_LIBS})
  add_dependencies(benchmarks ${name})
  add_custom_target(run_${name} COMMAND ${name} USES_TERMINAL COMMENT "Running ${name}")
  add_dependencies(run_benchmarks run_${name})
endfunction()
