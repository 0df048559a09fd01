# gantry_add_test(<name> SOURCES a.cpp b.cpp [LIBS ...] [LABELS ...])
#
# A GoogleTest program `<name>`, compiled as everything here is, each of its tests registered with ctest as
# `<name>.Suite.Test`. GANTRY_SOURCE_DIR is defined as the repository's root, so that a test can find tests/data.

include(GoogleTest)
find_package(GTest REQUIRED)

# Tests spend more time in the compiler than at work.
set(_gantry_test_options "$<$<CONFIG:Release>:-Og>")

# What every test reads first, compiled once.
add_library(gantry_test_first OBJECT "${PROJECT_SOURCE_DIR}/cmake/test_first.cpp")
target_link_libraries(gantry_test_first PRIVATE gantry::planning gantry_options GTest::gmock GTest::gtest_main)
target_compile_definitions(gantry_test_first PRIVATE GANTRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_compile_options(gantry_test_first PRIVATE ${_gantry_test_options})
target_precompile_headers(gantry_test_first PRIVATE <gmock/gmock.h> <gtest/gtest.h> <random> <string> <vector>)

function(gantry_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;LABELS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gantry_add_test(${name}) takes SOURCES, LIBS and LABELS, "
                        "and was given SOURCES '${arg_SOURCES}' and '${arg_UNPARSED_ARGUMENTS}' beside them.")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE gantry::planning gantry_options GTest::gmock GTest::gtest_main ${arg_LIBS})
  target_compile_definitions(${name} PRIVATE GANTRY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${_gantry_test_options})
  target_precompile_headers(${name} REUSE_FROM gantry_test_first)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  if(arg_LABELS)
    # gtest_discover_tests of CMake 3.25 loses a list of labels; ctest sets them when it has read the tests.
    set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(WRITE "${labels_file}" "if(${name}_TESTS)\n"
         "  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\n" "endif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
  endif()
endfunction()
