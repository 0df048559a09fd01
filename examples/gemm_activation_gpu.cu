// The program of gemm_activation.cpp, compiled for a GPU.
#include "gemm_activation.cpp"
