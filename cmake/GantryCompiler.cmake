# The compiler's minimum versions, and `gantry_options`: how everything built in this repository is compiled. None of it
# reaches a project that uses the installed package; a library that is installed links $<BUILD_INTERFACE:gantry_options>.

set(_minimum_GNU 12)
set(_minimum_Clang 14)
if(DEFINED _minimum_${CMAKE_CXX_COMPILER_ID}
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS _minimum_${CMAKE_CXX_COMPILER_ID})
  message(
    FATAL_ERROR "The C++ compiler is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}; "
                "Gantry is C++20 and needs g++ 12 or clang 14 or newer. Set CXX to choose another.")
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

set(_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(GANTRY_WERROR)
  list(APPEND _warnings -Werror)
endif()

add_library(gantry_options INTERFACE)
target_compile_options(gantry_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_warnings}>")

# Sites name files as seen from the root: an installed program holds no path of the tree that it was built in.
target_compile_options(gantry_options
                       INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")

# By default g++ collects its garbage from 128 MB on, which is a tenth of its time here. Its largest process grows from 0.9
# to 1.6 GB.
target_compile_options(gantry_options INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1000000>")

if(GANTRY_SANITIZE)
  set(_sanitize -fsanitize=${GANTRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # The driver, NVRTC and kernels of the simulated SM are found by name at run time, and called by our own declarations of their
  # types, which clang does not take for theirs.
  # The sanitizers' own branches hide from g++ that a value was set; in std::regex, too. Other presets warn.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND _sanitize -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND GANTRY_SANITIZE MATCHES "undefined")
    list(APPEND _sanitize -fno-sanitize=function)
  endif()
  target_compile_options(gantry_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_sanitize}>")
  target_link_options(gantry_options INTERFACE -fsanitize=${GANTRY_SANITIZE})
endif()

# gantry_compile_together(<target> [APART a.cpp ...])
#
# Sources of a target are compiled eight at a time, which takes a third of the time, as most of it goes into headers that
# they share. APART: sources whose own names would meet others'. With GANTRY_TOGETHER=OFF each is compiled by itself: what
# clang-tidy reads, and what a change to one source is compiled fastest with.
option(GANTRY_TOGETHER "Compile several sources of a target at once" ON)
function(gantry_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GANTRY_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
