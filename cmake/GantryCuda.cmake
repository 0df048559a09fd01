# Finds nvcc and says how GPU code is compiled.
#
# GANTRY_NVCC        nvcc's path, or false. Tests that only compile use it in every preset.
# GANTRY_HAVE_CUDA   true where GANTRY_CUDA asks for GPU targets and nvcc is here. Without nvcc says so and goes on.
#
# gantry_gpu_target(<target> [LONG])
#   Compiles the target's .cu files as all GPU code here is compiled, and fails the build where ptxas reports a spill, a
#   stack frame or a serialised wgmma. The target `gpu` builds all of these but those that are LONG, `gpu_long` all.
#
# gantry_add_gpu_kernel_check(<name> SOURCE x.cu [LONG])
#   A test that compiles the kernels of one file and fails on the same findings. LONG: labelled long.
#
# The architecture and the language standard are given as plain flags: CMake 3.25 knows neither 90a nor the standards of
# CUDA 13.

set(GANTRY_CUDA_FLAGS -std=c++20 -gencode arch=compute_90a,code=sm_90a -Werror all-warnings)
set(_ptxas_flags -Xptxas -v)
set(_check_ptxas "${PROJECT_SOURCE_DIR}/scripts/check_ptxas.py")

find_program(GANTRY_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
set(GANTRY_HAVE_CUDA OFF)
if(GANTRY_CUDA AND GANTRY_NVCC)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  set(CMAKE_CUDA_COMPILER "${GANTRY_NVCC}")
  enable_language(CUDA)
  set(GANTRY_HAVE_CUDA ON)
  add_custom_target(gpu)
  add_custom_target(gpu_long)
  add_dependencies(gpu_long gpu)
elseif(GANTRY_CUDA)
  message(STATUS "No nvcc here: the GPU targets are left out, everything else is built.")
endif()

if(GANTRY_NVCC)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

function(gantry_gpu_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "" "")
  list(JOIN GANTRY_CUDA_FLAGS " " flags)
  list(JOIN _ptxas_flags " " ptxas_flags)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:${flags} ${ptxas_flags}>")
  set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${Python3_EXECUTABLE};-B;${_check_ptxas};--quiet;--")
  if(arg_LONG)
    add_dependencies(gpu_long ${target})
  else()
    add_dependencies(gpu ${target})
  endif()
endfunction()

function(gantry_add_gpu_kernel_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "SOURCE" "")
  if(NOT GANTRY_NVCC)
    return()
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCE)
  add_test(
    NAME gpu_compile.${name}
    COMMAND
      Python3::Interpreter -B ${_check_ptxas} -- ${GANTRY_NVCC} ${GANTRY_CUDA_FLAGS} ${_ptxas_flags}
      -I${PROJECT_SOURCE_DIR}/include -cubin -o ${CMAKE_CURRENT_BINARY_DIR}/${name}.cubin ${arg_SOURCE})
  set(labels nvcc)
  if(arg_LONG)
    list(APPEND labels long)
  endif()
  set_tests_properties(gpu_compile.${name} PROPERTIES LABELS "${labels}" TIMEOUT 120)
endfunction()
