# Run by ctest with: source, work, generator, compiler.
#
# A copy of the source tree is built and installed, and then both the copy and its build are deleted, and the installation
# is moved: what was installed must look for none of them. Programs find each library through CMake, and through pkg-config
# where that is, and run.

include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

file(REMOVE_RECURSE "${work}")
file(COPY "${source}/CMakeLists.txt" "${source}/LICENSE" "${source}/README.md" "${source}/cmake" "${source}/docs"
          "${source}/include" "${source}/src" DESTINATION "${work}/source")
run(${CMAKE_COMMAND} -S "${work}/source" -B "${work}/source-build" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    -DCMAKE_BUILD_TYPE=Debug -DGANTRY_BUILD_TESTS=OFF -DGANTRY_BUILD_TOOLS=OFF -DGANTRY_BUILD_EXAMPLES=OFF
    -DGANTRY_BUILD_BENCHMARKS=OFF -DGANTRY_BUILD_PYTHON=OFF)
run(${CMAKE_COMMAND} --build "${work}/source-build")
run(${CMAKE_COMMAND} --install "${work}/source-build" --prefix "${work}/first")
write_guide("${work}/source/docs/guide/sizes-at-run-time.md" "${work}/guide")
file(REMOVE_RECURSE "${work}/source" "${work}/source-build")
file(RENAME "${work}/first" "${work}/prefix")

file(GLOB_RECURSE installed "${work}/prefix/*")
foreach(wanted LICENSE README.md docs/reference/command-line.md gantry.pc gantry-planning.pc gantry-runtime.pc libgantry.pc
               libgantry-static.pc gantryConfig.cmake)
  if(NOT installed MATCHES "/${wanted}")
    message(FATAL_ERROR "${wanted} is not installed")
  endif()
endforeach()

file(WRITE "${work}/consumer/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES CXX)\n"
     "find_package(gantry REQUIRED NO_CMAKE_PACKAGE_REGISTRY)\nadd_executable(compile compile.cpp)\n"
     "target_link_libraries(compile PRIVATE gantry::runtime)\n")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer/compile.cpp" DESTINATION "${work}/consumer")
run(${CMAKE_COMMAND} -S "${work}/consumer" -B "${work}/build" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_PREFIX_PATH=${work}/prefix")
run(${CMAKE_COMMAND} --build "${work}/build")
run("${work}/build/compile" "${work}/cache")

set(ENV{GANTRY_CACHE_DIR} "${work}/cache")
foreach(language cpp c)
  foreach(by find_package pkg-config)
    foreach(kind shared static)
      use_guide(${language} ${by} ${kind})
    endforeach()
  endforeach()
endforeach()

find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
  message(STATUS "there is no pkg-config here: its files are installed and not tried")
  return()
endif()
file(GLOB_RECURSE pc "${work}/prefix/*/gantry-runtime.pc")
cmake_path(GET pc PARENT_PATH pc_folder)
set(ENV{PKG_CONFIG_PATH} "${pc_folder}")
execute_process(COMMAND "${pkg_config}" --cflags --libs gantry-runtime OUTPUT_VARIABLE flags
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(flags UNIX_COMMAND "${flags}")
run("${compiler}" -std=c++20 "${work}/consumer/compile.cpp" -o "${work}/by-pkg-config" ${flags})
run("${work}/by-pkg-config" "${work}/cache")
