/* Gantry in C: GEMMs with fused epilogues, sizes known at run time, on a GPU or on the simulated SM.
 *
 * D = epilogue(A B^T): A is M x K, B is N x K, C and D are M x N. Strides count elements from one row to the next (from
 * one column, where columns are contiguous); -1: packed.
 *
 * Every function that can fail returns a gantry_status; 0 is success. What went wrong is then in gantry_error_message()
 * of the same thread, in sentences. No exception leaves a function. Handles may be used by many threads at once;
 * destroying one while another thread uses it is a mistake. A null handle or a null pointer where one is required is
 * GANTRY_INVALID_ARGUMENT, and nothing is read or written.
 *
 * Structs that may grow begin with their size: set it with the initialiser that stands beside the struct, which also
 * sets the defaults. Where such a struct has an array of others, it has the size of one of them too. Structs without a
 * size stay as they are.
 *
 * Example:
 *
 *   gantry_context* context = NULL;
 *   gantry_gemm* gemm = NULL;
 *   gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
 *   gantry_call call = GANTRY_CALL;
 *   gantry_argument bias = GANTRY_ARGUMENT;
 *   options.epilogue = "d = gelu(acc + row(bias))";
 *   bias.name = "bias";
 *   bias.data = bias_on_the_device;
 *   call.m = 4096; call.n = 4096; call.k = 4096;
 *   call.a.data = a; call.b.data = b; call.d.data = d;
 *   call.arguments = &bias;
 *   call.argument_count = 1;
 *   if (gantry_context_create(NULL, &context) != GANTRY_OK ||
 *       gantry_gemm_create(context, &options, &gemm) != GANTRY_OK || gantry_gemm_run(gemm, &call) != GANTRY_OK)
 *     fprintf(stderr, "%s\n", gantry_error_message());
 *   gantry_gemm_destroy(gemm);
 *   gantry_context_destroy(context);
 */
#ifndef GANTRY_GANTRY_H
#define GANTRY_GANTRY_H

/* NOLINTBEGIN(readability-identifier-naming,modernize-deprecated-headers): this is C. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GANTRY_C_API __attribute__((visibility("default")))
#else
#define GANTRY_C_API
#endif

#define GANTRY_VERSION_MAJOR 0
#define GANTRY_VERSION_MINOR 1
#define GANTRY_VERSION_PATCH 0
#define GANTRY_VERSION (GANTRY_VERSION_MAJOR * 10000 + GANTRY_VERSION_MINOR * 100 + GANTRY_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, as GANTRY_VERSION counts: compare it with the header's. */
GANTRY_C_API int32_t gantry_version(void);

/* ---- How calls end */

typedef int32_t gantry_status;
enum {
  GANTRY_OK = 0,
  GANTRY_INVALID_ARGUMENT = 1, /* it has no meaning, or cannot be addressed */
  GANTRY_UNSUPPORTED = 2,      /* it has a meaning, and no kernel of the library computes it */
  GANTRY_NO_DEVICE = 3,        /* there is no GPU that can run it */
  GANTRY_NO_KERNEL = 4,        /* the kernel is not there, and the policy or the moment forbids to compile it */
  GANTRY_COMPILE_FAILED = 5,   /* there is no compiler, or it failed */
  GANTRY_DEVICE_FAILED = 6,    /* the driver refused a call */
  GANTRY_OUT_OF_MEMORY = 7,
  GANTRY_SIMULATION_FAILED = 8, /* the simulated SM found a mistake, or could not go on */
  GANTRY_INTERNAL = 100         /* a mistake of the library's own; the message says what is known */
};

/* "invalid argument"; "unknown status" for any other number. */
GANTRY_C_API const char* gantry_status_name(gantry_status status);

/* Why the last call of this thread that failed did, a sentence a line; empty before one failed. Stays until the next
 * failure of this thread. */
GANTRY_C_API const char* gantry_error_message(void);

/* The same as values: how many reasons there were, and one of them. `rule` is the name of the rule that was broken, and
 * `operand` A, B, C, D or an argument's name; each is empty where there is none. */
typedef struct gantry_reason {
  gantry_status status;
  const char* rule;
  const char* operand;
  int64_t actual, nearest; /* where the rule has numbers */
  const char* sentence;
} gantry_reason;
GANTRY_C_API int32_t gantry_error_count(void);
/* `index` counts from 0. Texts stay until the next failure of this thread, and asking for a reason that is not there is
 * one. */
GANTRY_C_API gantry_status gantry_error_reason(int32_t index, gantry_reason* out);

/* ---- Element types */

/* `name` is the short one ("bf16"), `python_name` numeric Python's ("bfloat16"). Both live as long as the library. */
typedef struct gantry_element {
  const char* name;
  const char* python_name;
  int32_t bits; /* in memory */
  int32_t reserved;
} gantry_element;
/* By any of its names: short, CuTe's, or numeric Python's. */
GANTRY_C_API gantry_status gantry_find_element(const char* name, gantry_element* out);

/* ---- A context: a machine, its kernel cache, tuning file and compiler */

typedef struct gantry_context gantry_context;

enum { GANTRY_MACHINE_AUTOMATIC = 0, GANTRY_MACHINE_GPU = 1, GANTRY_MACHINE_SIMULATED = 2 };

/* Where the best kernel for a size is not there. BACKGROUND: the best that is there runs, and a better one is compiled
 * meanwhile. WAIT: it is compiled first. NEVER: the best that is in the cache, or was shipped. */
enum { GANTRY_COMPILE_BACKGROUND = 0, GANTRY_COMPILE_WAIT = 1, GANTRY_COMPILE_NEVER = 2 };

typedef struct gantry_context_options {
  size_t size;
  int32_t machine;             /* GANTRY_MACHINE_... */
  int32_t device;              /* number of the GPU */
  int32_t policy;              /* GANTRY_COMPILE_... */
  int32_t most_kernels;        /* compiled for one gantry_gemm and each set of tensors that TMA addresses; 0: 16 */
  int32_t most_plans;          /* kept for one gantry_gemm; 0: 1024 */
  int32_t compile_threads;     /* 0: half of the processors */
  const char* cache_directory; /* NULL: GANTRY_CACHE_DIR, else the user's cache */
  const char* tuning_file;     /* NULL: GANTRY_TUNING, else the user's configuration */
  const char* const* shipped;  /* folders of kernels that came with the program */
  int32_t shipped_count;
  int32_t simulated_sms; /* 0: 8 */
  uint64_t simulated_seed;
  int32_t simulated_checker; /* 0: off */
  int32_t reserved;
  /* Of runs on the simulated SM: called when one begins, every so many seconds while it goes on, and, with a share of
   * 1, when it has ended well; NULL: never. `share` is what is done, from 0 to 1, in `seconds`; `seconds_left` is an
   * estimate, -1 where there is none yet. By one thread at a time for each run, not necessarily the caller's, and never
   * after the run has returned. It runs nothing in this context. */
  void (*simulated_progress)(double share, double seconds, double seconds_left, void* user);
  void* simulated_progress_user;
  double simulated_progress_seconds; /* 0: 1 */
} gantry_context_options;
#define GANTRY_CONTEXT_OPTIONS                                                                                         \
  {                                                                                                                    \
    sizeof(gantry_context_options), GANTRY_MACHINE_AUTOMATIC, 0, GANTRY_COMPILE_BACKGROUND, 0, 0, 0, NULL, NULL, NULL, \
        0, 0, 0, 1, 0, NULL, NULL, 0                                                                                   \
  }

/* `options` may be NULL: the defaults. */
GANTRY_C_API gantry_status gantry_context_create(const gantry_context_options* options, gantry_context** out);
GANTRY_C_API void gantry_context_destroy(gantry_context* context);
/* 1 or 0; -1 for NULL. */
GANTRY_C_API int32_t gantry_context_is_simulated(const gantry_context* context);
/* What is worth knowing and stops nothing, a sentence a line: a cache that is not used, say. Lives as long as the
 * context. */
GANTRY_C_API const char* gantry_context_notes(const gantry_context* context);
/* Returns when none of its GEMMs has a kernel that is being compiled in the background. */
GANTRY_C_API void gantry_context_wait_for_compilations(const gantry_context* context);

/* ---- A GEMM of given elements and epilogue, for any sizes */

typedef struct gantry_gemm gantry_gemm;

/* A function of the user's own that the epilogue may call, as C++ text: it takes one to three floats and gives one. It
 * becomes a part of the kernel: who gives it decides what runs. */
typedef struct gantry_function {
  const char* name;       /* as the epilogue calls it */
  const char* parameters; /* their names, "x" or "x, y" */
  const char* body;       /* "return x > 0 ? x : 0.5f * x;" */
} gantry_function;

/* ROW_BLOCK: a factor for each row and 128 elements of K. BLOCK: one for 128 rows and 128 elements of K. */
enum { GANTRY_SCALE_NONE = 0, GANTRY_SCALE_ROW_BLOCK = 1, GANTRY_SCALE_BLOCK = 2 };

/* Grouped GEMMs: many GEMMs in one launch, whose sizes are read on the device. ALONG_M: the rows of all groups lie in
 * one A and one D, and each group has a B. ALONG_K: the rows of K of all groups lie in one A (M-major) and one B
 * (N-major), and each group has a D. POINTER_ARRAY: GEMMs that share nothing, each with sizes and addresses of its
 * own. */
enum { GANTRY_GROUPS_NONE = 0, GANTRY_GROUPS_ALONG_M = 1, GANTRY_GROUPS_ALONG_K = 2, GANTRY_GROUPS_POINTER_ARRAY = 3 };

/* An epilogue with gate(acc) and up(acc): D, C and auxiliary tensors have N / 2 columns. HALVES: the first N / 2 rows
 * of B are the gate's, as chunk(2) cuts them; INTERLEAVED: every second one from the first on. */
enum { GANTRY_GATE_HALVES = 0, GANTRY_GATE_INTERLEAVED = 1 };

/* COOPERATIVE: two warpgroups share a tile. PINGPONG: they take turns, each with a tile of its own. */
enum { GANTRY_SCHEDULE_AUTOMATIC = 0, GANTRY_SCHEDULE_COOPERATIVE = 1, GANTRY_SCHEDULE_PINGPONG = 2 };

/* Rows of D by an index. STORE: each row of D is named once at most. ADD: rows are added to what is there, f32, in no
 * fixed order. ORDERED: in the order of the GEMM's rows, by a second kernel, with the same bits on every run. */
enum { GANTRY_SCATTER_NONE = 0, GANTRY_SCATTER_STORE = 1, GANTRY_SCATTER_ADD = 2, GANTRY_SCATTER_ORDERED = 3 };

typedef struct gantry_size {
  int64_t m, n, k, batch;
} gantry_size;

typedef struct gantry_gemm_options {
  size_t size;
  const char* a;        /* elements: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8"; NULL: bf16 */
  const char* b;        /* NULL: as A */
  const char* c;        /* NULL: as D where the epilogue uses C */
  const char* d;        /* NULL: as A, bf16 for 8-bit floats, f32 for tf32, s32 for integers */
  const char* epilogue; /* NULL: "d = acc" */
  int32_t a_is_m_major; /* 0: elements of A lie next to each other along K */
  int32_t b_is_n_major; /* 0: along K */
  int32_t c_is_column_major, d_is_column_major;
  int32_t promote;              /* 8-bit floats: partial sums are moved to f32 every 128 of K */
  int32_t tile_m, tile_n;       /* 0: chosen for each size */
  int32_t cluster_m, cluster_n; /* 0: chosen */
  int32_t stages;               /* 0: as many as fit */
  const gantry_function* functions;
  int32_t function_count;
  int32_t groups;           /* GANTRY_GROUPS_...: a grouped GEMM */
  int32_t scale_a, scale_b; /* GANTRY_SCALE_...: f32 factors of blocks of 8-bit floats */
  int32_t gate;             /* GANTRY_GATE_...: of a gated epilogue */
  int32_t gather_a;         /* row i of the GEMM is row gather_index[i] of A */
  int32_t scatter_d;        /* GANTRY_SCATTER_...: row i of the GEMM goes to row scatter_index[i] of D */
  int32_t function_size;    /* bytes of one gantry_function; 0: of that of version 0.1 */
  /* What groups may be, whose sizes the device alone knows, and by which a kernel is chosen: a distribution, of as many
   * entries as there are groups, or fewer. Of groups along M or K their rows, of M or of K; of a pointer array sizes,
   * and in `batch` how many of the GEMMs have them. None: each group has the mean, each GEMM the call's sizes. The
   * arrays are read when the gemm is created. */
  const int64_t* expected_rows;
  const gantry_size* expected_gemms;
  int32_t expected_row_count, expected_gemm_count;
  int32_t schedule; /* GANTRY_SCHEDULE_... */
  int32_t swapped;  /* the kernel computes D^T = B A^T, as tiles of fewer than 64 rows need */
} gantry_gemm_options;
#define GANTRY_GEMM_OPTIONS                                                                                          \
  {                                                                                                                  \
    sizeof(gantry_gemm_options), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, \
        0, sizeof(gantry_function), NULL, NULL, 0, 0, GANTRY_SCHEDULE_AUTOMATIC, 0                                   \
  }

/* `options` may be NULL: bf16, "d = acc". The gemm keeps its context alive. */
GANTRY_C_API gantry_status gantry_gemm_create(gantry_context* context, const gantry_gemm_options* options,
                                              gantry_gemm** out);
GANTRY_C_API void gantry_gemm_destroy(gantry_gemm* gemm);

/* Elements and epilogue as they were understood. Strings live as long as the gemm. */
enum {
  GANTRY_ARGUMENT_SCALAR = 0,        /* one number, or one for each batch */
  GANTRY_ARGUMENT_ROW = 1,           /* N values */
  GANTRY_ARGUMENT_COLUMN = 2,        /* M values */
  GANTRY_ARGUMENT_AUX_IN = 3,        /* M x N */
  GANTRY_ARGUMENT_AUX_OUT = 4,       /* M x N, or M x ceil(N / block_columns) */
  GANTRY_ARGUMENT_REDUCE_SCALAR = 5, /* the results of reductions: one number for each batch, */
  GANTRY_ARGUMENT_REDUCE_ROW = 6,    /* N values, or ceil(M / block_columns) x N, */
  GANTRY_ARGUMENT_REDUCE_COLUMN = 7  /* M values, or M x ceil(N / block_columns) */
};
typedef struct gantry_argument_info {
  const char* name;
  const char* element;
  int32_t kind; /* GANTRY_ARGUMENT_...; from AUX_OUT on, outputs */
  int32_t is_column_major;
  int32_t is_optional;   /* may be left out: an input then counts as its default, an output is not written */
  int32_t block_columns; /* of AUX_OUT: columns of a row that share one element; 0: none do. Of REDUCE_ROW and
                            REDUCE_COLUMN: rows or columns that have one result; 0: all of them */
} gantry_argument_info;
/* -1 for NULL. */
GANTRY_C_API int32_t gantry_gemm_argument_count(const gantry_gemm* gemm);
GANTRY_C_API gantry_status gantry_gemm_argument(const gantry_gemm* gemm, int32_t index, gantry_argument_info* out);
/* The element of operand 'A', 'B', 'C' or 'D'; "void" for C where the epilogue does not use it. */
GANTRY_C_API const char* gantry_gemm_element(const gantry_gemm* gemm, char operand);

typedef struct gantry_matrix {
  void* data;
  int64_t stride, batch_stride;
} gantry_matrix;

/* Factors of blocks of A or B: `stride` elements from one row, or one 128 rows, to the next, `k_stride` from one block
 * of K to the next. -1: packed, with rows next to each other where each has its own, else blocks of K. */
typedef struct gantry_scale {
  const float* data;
  int64_t stride, k_stride, batch_stride;
} gantry_scale;

/* In the place of the batch stride of a scalar of a pointer array: data is that of an array of addresses, one for each
 * GEMM; NULL: its default. */
#define GANTRY_BY_ADDRESS INT64_MIN

/* An argument of the epilogue: an address with its strides, or, with is_number, a number. */
typedef struct gantry_argument {
  const char* name;
  void* data;
  float value;
  int32_t is_number;
  int64_t stride, batch_stride;
} gantry_argument;
#define GANTRY_ARGUMENT \
  { NULL, NULL, 0, 0, -1, -1 }

/* One GEMM of a pointer array, in memory of the device, from a multiple of 16 bytes on. Strides count elements; 0:
 * packed. M or N of 0 computes nothing, K of 0 gives accumulators of 0, c may be NULL: a C of 0. A GEMM that TMA cannot
 * address (an address or a stride that is no multiple of 16 bytes, rows of D that end inside of 16 bytes) is left out.
 */
typedef struct gantry_group {
  int32_t m, n, k, reserved;
  const void* a;
  const void* b;
  const void* c;
  void* d;
  int64_t stride_a, stride_b, stride_c, stride_d;
} gantry_group;

/* An auxiliary tensor of one GEMM of a pointer array. Such an argument of the epilogue is the address of an array of
 * these on the device, one for each GEMM; a row or column vector is that of an array of addresses. */
typedef struct gantry_group_tensor {
  void* data;
  int64_t stride; /* 0: packed */
} gantry_group_tensor;

/* DEVICE: before the launch, the run waits for the stream, copies what groups are from the device, and checks it. Where
 * a group is wrong, nothing is launched, the status is GANTRY_INVALID_ARGUMENT, and each such group is a reason whose
 * `actual` is its number. Refused in a stream that records a CUDA graph. */
enum { GANTRY_CHECK_NONE = 0, GANTRY_CHECK_DEVICE = 1 };

/* ON: a dependent launch. The kernel may start before the one before it in the stream has ended, and touches memory
 * only after that, so that results are the same. AUTOMATIC: where a gain is expected, in short GEMMs, and not in a
 * stream that records a CUDA graph. */
enum { GANTRY_DEPENDENT_OFF = 0, GANTRY_DEPENDENT_ON = 1, GANTRY_DEPENDENT_AUTOMATIC = 2 };

typedef struct gantry_call {
  size_t size;
  int64_t m, n, k, batch;
  gantry_matrix a, b, c, d;
  const gantry_argument* arguments;
  int32_t argument_count;
  int32_t dependent; /* GANTRY_DEPENDENT_... */
  void* stream;      /* a CUstream or cudaStream_t; NULL: the default stream */
  void* workspace;   /* memory of the device at a multiple of 16 bytes, with any contents; NULL: the context's own */
  size_t workspace_bytes;
  /* Of a grouped GEMM, whose number of groups is `batch`, on the device: where each group begins, and where the last
   * one ends, so one more than groups; or, along M, how many of its M / batch rows each group uses. The other is NULL.
   * They are read when the kernel runs, and may be others at the next replay of a CUDA graph. */
  const int32_t* group_offsets;
  const int32_t* group_counts;
  gantry_scale scale_a, scale_b; /* where the options have them */
  /* The `batch` GEMMs of a pointer array, on the device. m, n and k are then those of a usual one, for which the kernel
   * is chosen, and a, b, c and d are NULL. */
  const gantry_group* group_gemms;
  int32_t check;         /* GANTRY_CHECK_... */
  int32_t argument_size; /* bytes of one gantry_argument; 0: of that of version 0.1 */
  /* Where the options gather rows of A, on the device: m indices (for each matrix of a batch), and how many rows A has.
   * An index below 0, or of gather_rows and more, stands for a row of zeros. A and its rows begin at multiples of 16
   * bytes. */
  const int32_t* gather_index;
  int64_t gather_rows;
  /* Where they scatter rows of D, likewise. A row whose index is below 0, or scatter_rows and more, is dropped. */
  const int32_t* scatter_index;
  int64_t scatter_rows;
} gantry_call;
#define GANTRY_CALL                                                                                           \
  {                                                                                                           \
    sizeof(gantry_call), 0, 0, 0, 1, {NULL, -1, -1}, {NULL, -1, -1}, {NULL, -1, -1}, {NULL, -1, -1}, NULL, 0, \
        GANTRY_DEPENDENT_AUTOMATIC, NULL, NULL, 0, NULL, NULL, {NULL, -1, -1, -1}, {NULL, -1, -1, -1}, NULL,  \
        GANTRY_CHECK_NONE, sizeof(gantry_argument), NULL, 0, NULL, 0                                          \
  }

/* Launches into the stream. On the simulated SM it computes before it returns. */
GANTRY_C_API gantry_status gantry_gemm_run(const gantry_gemm* gemm, const gantry_call* call);
/* Whether the call can run; nothing is launched. */
GANTRY_C_API gantry_status gantry_gemm_check(const gantry_gemm* gemm, const gantry_call* call);
/* Bytes of workspace that a run of these sizes takes, where the caller gives it. Plans, and may wait for a kernel. */
GANTRY_C_API gantry_status gantry_gemm_workspace(const gantry_gemm* gemm, const gantry_call* call, size_t* bytes);
/* What a run does, in sentences. Writes as much as fits, with a final zero, and the length of the whole to `length`,
 * which may be NULL. */
GANTRY_C_API gantry_status gantry_gemm_explain(const gantry_gemm* gemm, const gantry_call* call, char* text,
                                               size_t text_size, size_t* length);

/* A run on the simulated SM with a seed and a trace of its own, and a report of it. */
typedef struct gantry_report gantry_report;
typedef struct gantry_simulation_options {
  size_t size;
  uint64_t seed;
  const char* trace_file; /* a Chrome trace is written there; NULL: none */
} gantry_simulation_options;
#define GANTRY_SIMULATION_OPTIONS \
  { sizeof(gantry_simulation_options), 0, NULL }

/* Where the checker finds a mistake, the status is GANTRY_SIMULATION_FAILED, and the report is there all the same;
 * with every other failure it is NULL. `options` may be NULL: the defaults. */
GANTRY_C_API gantry_status gantry_gemm_simulate(const gantry_gemm* gemm, const gantry_call* call,
                                                const gantry_simulation_options* options, gantry_report** out);
GANTRY_C_API void gantry_report_destroy(gantry_report* report);
/* These live as long as the report; empty for NULL. */
GANTRY_C_API const char* gantry_report_text(const gantry_report* report);
GANTRY_C_API const char* gantry_report_json(const gantry_report* report);

/* Compiles and loads the kernels of these sizes, several at once, and returns when they are there. `progress`, which
 * may be NULL, is called with how many of how many are done. */
GANTRY_C_API gantry_status gantry_gemm_warm_up(const gantry_gemm* gemm, const gantry_size* sizes, int32_t count,
                                               void (*progress)(int32_t done, int32_t all, void* user), void* user);
/* How many kernels are loaded. */
GANTRY_C_API int32_t gantry_gemm_kernels(const gantry_gemm* gemm);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-deprecated-headers) */

#endif
