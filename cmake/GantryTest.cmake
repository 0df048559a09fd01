# gantry_add_test(<name> SOURCES a.cpp b.cpp [LIBS ...] [LABELS ...] [GEMM] [LONG] [LONG_TESTS Suite.Test ...])
#
# A GoogleTest program `<name>`, compiled as everything here is, each of its tests registered with ctest as
# `<name>.Suite.Test`. GANTRY_SOURCE_DIR is defined as the repository's root, so that a test can find tests/data.
# GEMM: Gantry's headers up to epilogues and GEMMs are precompiled, and code is optimised for the compiler's time, which suits
# every program that takes longer to compile than to run. LONG: a program of the long form, see gantry_make_long.
# LONG_TESTS: of the program only these are labelled long.
#
# gantry_compile_as_test(<target> [GEMM])
#
# Compiles a target of another kind in the same way.
#
# gantry_make_long(<target>)
#
# Takes a program out of `all`: the target `long_tests` builds it, and `make test LONG=1` runs its tests, which are
# labelled long.

include(GoogleTest)
find_package(GTest REQUIRED)
add_custom_target(long_tests)

# What every test reads first, and what tests with GEMM read, compiled once. Tests spend more time in the compiler than at
# work. g++ compiles kernels for the simulated SM fastest with -Og, and functions of the host in two thirds of the time of
# -O1; whatever a test computes by itself runs several times slower with it.
set(_gantry_first_options "$<$<CONFIG:Release>:-O1>")
set(_gantry_first_headers <gmock/gmock.h> <gtest/gtest.h> <random> <string> <vector>)
set(_gantry_gemm_options "$<$<CONFIG:Release>:-Og>")
# Under sanitizers, optimising kernels takes half of the compiler's time, and their tests run nearly as fast without it: most
# of a run is in the simulated SM, which is optimised. g++ is fastest with -Og there, too.
list(APPEND _gantry_gemm_options "$<$<CONFIG:Debug>:$<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O0>>")
set(_gantry_gemm_headers ${_gantry_first_headers} <gantry/arch/launch.hpp> <gantry/arch/mutation_sweep.hpp>
    <gantry/epilogue.hpp> <gantry/epilogue/fusion/loop_callbacks.hpp> <gantry/gemm.hpp>)

function(_gantry_test_settings target kind)
  target_link_libraries(${target} PRIVATE gantry::planning gantry_options GTest::gmock)
  target_compile_definitions(${target} PRIVATE GANTRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE ${_gantry_${kind}_options})
endfunction()

foreach(_kind first gemm)
  add_library(gantry_test_${_kind} OBJECT "${PROJECT_SOURCE_DIR}/cmake/only_headers.cpp")
  _gantry_test_settings(gantry_test_${_kind} ${_kind})
  target_precompile_headers(gantry_test_${_kind} PRIVATE ${_gantry_${_kind}_headers})
endforeach()

function(gantry_compile_as_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GEMM" "" "")
  set(kind first)
  if(arg_GEMM)
    set(kind gemm)
  endif()
  _gantry_test_settings(${target} ${kind})
  target_precompile_headers(${target} REUSE_FROM gantry_test_${kind})
endfunction()

function(gantry_make_long target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(long_tests ${target})
endfunction()

function(gantry_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GEMM;LONG" "" "SOURCES;LIBS;LABELS;LONG_TESTS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gantry_add_test(${name}) takes SOURCES, LIBS, LABELS, GEMM, LONG and LONG_TESTS, "
                        "and was given SOURCES '${arg_SOURCES}' and '${arg_UNPARSED_ARGUMENTS}' beside them.")
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(arg_GEMM)
    gantry_compile_as_test(${name} GEMM)
  else()
    gantry_compile_as_test(${name})
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main ${arg_LIBS})
  set(timeout 300)
  if(arg_LONG)
    gantry_make_long(${name})
    list(APPEND arg_LABELS long)
    set(timeout 1800)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${timeout})
  # gtest_discover_tests of CMake 3.25 loses a list of labels; ctest sets them when it has read the tests. A program that is
  # not built has one test, which fails.
  set(script "")
  if(arg_LABELS)
    string(APPEND script "if(NOT DEFINED ${name}_TESTS)\n  set(${name}_TESTS ${name}_NOT_BUILT)\nendif()\n"
           "if(${name}_TESTS)\n  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\nendif()\n")
  endif()
  if(arg_LONG_TESTS)
    list(TRANSFORM arg_LONG_TESTS PREPEND "${name}.")
    set(labels ${arg_LABELS} long)
    list(JOIN arg_LONG_TESTS " " long_tests)
    string(APPEND script "if(DEFINED ${name}_TESTS)\n"
           "  set_tests_properties(${long_tests} PROPERTIES LABELS \"${labels}\")\nendif()\n")
  endif()
  if(script)
    set(script_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(WRITE "${script_file}" "${script}")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script_file}")
  endif()
endfunction()
