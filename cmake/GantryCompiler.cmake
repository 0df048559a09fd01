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

if(GANTRY_SANITIZE)
  set(_sanitize -fsanitize=${GANTRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(gantry_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_sanitize}>")
  target_link_options(gantry_options INTERFACE -fsanitize=${GANTRY_SANITIZE})
endif()
