# Looks for nvcc when GANTRY_CUDA asks for GPU targets. Sets GANTRY_HAVE_CUDA; without nvcc says so and goes on.
#
# The architecture and the language standard are given as plain flags: CMake 3.25 knows neither 90a nor the standards of
# CUDA 13.

set(GANTRY_CUDA_FLAGS -std=c++20 -gencode arch=compute_90a,code=sm_90a)
set(GANTRY_HAVE_CUDA OFF)

if(GANTRY_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  find_program(GANTRY_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(GANTRY_NVCC)
    set(CMAKE_CUDA_COMPILER "${GANTRY_NVCC}")
    enable_language(CUDA)
    set(GANTRY_HAVE_CUDA ON)
  else()
    message(STATUS "No nvcc here: the GPU targets are left out, everything else is built.")
  endif()
endif()
