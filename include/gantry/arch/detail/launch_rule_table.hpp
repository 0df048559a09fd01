// Every rule of a launch: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says. Included with GANTRY_X
// defined, once for each use.
//
// {kernel} is the launch's name, {axis} x, y or z, {machine} and {other machine} are a GPU and the simulated SM,
// {words} a text from elsewhere.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(empty, refused,
         "{kernel}: the launch has no threads",
         "a launch has at least one thread, block and cluster in every dimension",
         "")
GANTRY_X(block, refused,
         "{kernel}: a block of {words} threads was asked for",
         "a block has at most 1024 threads, and at most 64 along z",
         "")
GANTRY_X(grid, refused,
         "{kernel}: a grid of {words} blocks was asked for",
         "a grid has at most 2147483647 x 65535 x 65535 blocks",
         "")
GANTRY_X(shared_memory, refused,
         "{kernel}: {actual} bytes of shared memory were asked for",
         "the shared memory of a block is limited",
         "the most is {nearest}, which is {first} fewer")
GANTRY_X(cluster, refused,
         "{kernel}: a cluster of {actual} blocks was asked for",
         "a cluster has at most 8 blocks, or 16 where the device allows it",
         "the nearest value that works is {nearest}")
GANTRY_X(cluster_divides_grid, refused,
         "{kernel}: the grid has {actual} block{s} along {axis} and clusters of {first}",
         "clusters divide the grid",
         "the next number that works is {nearest}")
GANTRY_X(registers, refused,
         "{kernel}: {actual} registers a thread were asked for",
         "registers are a multiple of 8 up to 256",
         "the nearest value that works is {nearest}")
GANTRY_X(registers_of_block, refused,
         "{kernel}: {actual} registers were asked for each of {first} threads",
         "the registers of a block are limited",
         "{nearest} for each fit")
GANTRY_X(kernel_threads, refused,
         "{kernel}: blocks of {actual} threads were asked for",
         "a kernel is built for blocks of a size",
         "the most is {nearest}")

GANTRY_X(findings, refused,
         "{kernel}: the simulated SM found {actual} error{s}",
         "a kernel ends, without a race, a missing fence or a deadlock",
         "the report says where")
GANTRY_X(other_machine, refused,
         "the plan was made for {other machine} and is run on {machine}",
         "a plan runs on the machine that it was made for",
         "make another with device_of that machine")
GANTRY_X(no_gpu, refused,
         "{kernel}: there is no GPU here",
         "a kernel runs on a device",
         "gantry::Simulator runs kernels without one")
GANTRY_X(compute_capability, refused,
         "{kernel}: the GPU has compute capability {first}.{second}",
         "kernels of Gantry are built for 9.0",
         "an H100 or H200 runs them")
GANTRY_X(launch_refused, refused,
         "{kernel}: {words}",
         "the driver accepts the launch",
         "")
GANTRY_X(stopped, refused,
         "the GPU stopped: {words}",
         "work on the GPU ends without an error",
         "")
// clang-format on

#undef GANTRY_X
