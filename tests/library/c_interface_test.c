/* The C interface, compiled by a C compiler, on the simulated SM. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gantry/gantry.h>

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "line %d: not so: %s\n  the last error: %s\n", line, what, gantry_error_message());
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

enum { M = 72, N = 64, K = 96 };

static float a[M * K], b[N * K], d[M * N], bias[N];

static void fill(void) {
  int i;
  for (i = 0; i < M * K; ++i) a[i] = (float)(i * 7 % 9 - 4);
  for (i = 0; i < N * K; ++i) b[i] = (float)(i * 5 % 7 - 3);
  for (i = 0; i < N; ++i) bias[i] = (float)(i % 5);
}

/* half(x) = x / 2 where x is negative, applied to acc + bias */
static float expected(int i, int j) {
  float sum = bias[j];
  int k;
  for (k = 0; k < K; ++k) sum += a[i * K + k] * b[j * K + k];
  return sum > 0 ? sum : 0.5f * sum;
}

/* What lies behind the end of a program's shorter struct is not the library's to read. */
static void older_structs(const char* cache) {
  gantry_context_options on = GANTRY_CONTEXT_OPTIONS, on_given;
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS, options_given;
  gantry_call call = GANTRY_CALL, call_given;
  gantry_simulation_options run = GANTRY_SIMULATION_OPTIONS, run_given;
  gantry_context* context = NULL;
  gantry_gemm* gemm = NULL;
  gantry_report* report = NULL;
#define SHORTER(type, to, from, field)                  \
  memset(&(to), 0x7f, sizeof(to));                      \
  memcpy(&(to), &(from), offsetof(struct type, field)); \
  (to).size = offsetof(struct type, field)
  on.machine = GANTRY_MACHINE_SIMULATED;
  on.cache_directory = cache;
  SHORTER(gantry_context_options, on_given, on, shipped);
  EXPECT(gantry_context_create(&on_given, &context) == GANTRY_OK);
  options.d = "f32";
  SHORTER(gantry_gemm_options, options_given, options, functions);
  EXPECT(gantry_gemm_create(context, &options_given, &gemm) == GANTRY_OK);
  gantry_gemm_destroy(gemm);
  SHORTER(gantry_gemm_options, options_given, options, expected_rows);
  EXPECT(gantry_gemm_create(context, &options_given, &gemm) == GANTRY_OK);
  call.m = 0; /* nothing is computed, and no kernel is needed */
  call.n = N;
  call.k = K;
  call.a.data = a;
  call.b.data = b;
  call.d.data = d;
  SHORTER(gantry_call, call_given, call, arguments);
  EXPECT(gantry_gemm_run(gemm, &call_given) == GANTRY_OK);
  SHORTER(gantry_simulation_options, run_given, run, trace_file);
  EXPECT(gantry_gemm_simulate(gemm, &call_given, &run_given, &report) == GANTRY_OK);
  gantry_report_destroy(report);
  gantry_gemm_destroy(gemm);
  gantry_context_destroy(context);
}

static gantry_call whole_call(const gantry_argument* argument) {
  gantry_call call = GANTRY_CALL;
  call.m = M;
  call.n = N;
  call.k = K;
  call.a.data = a;
  call.b.data = b;
  call.d.data = d;
  call.arguments = argument;
  call.argument_count = 1;
  return call;
}

/* 8-bit ones, so that every accumulator is the sum of the products of its blocks' factors. */
static void scales(gantry_context* context) {
  enum { ROWS = 72, DEPTH = 272, BLOCKS = 3 };
  static unsigned char ones_a[ROWS * DEPTH], ones_b[ROWS * DEPTH];
  static float factor_a[BLOCKS * ROWS], factor_b[BLOCKS], out[ROWS * ROWS];
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_call call = GANTRY_CALL;
  gantry_gemm* gemm = NULL;
  gantry_reason reason;
  int i, j, block, wrong = 0;
  memset(ones_a, 0x38, sizeof ones_a); /* 1 in e4m3 */
  memset(ones_b, 0x38, sizeof ones_b);
  for (i = 0; i < BLOCKS * ROWS; ++i) factor_a[i] = (float)(1 + i % 7);
  for (i = 0; i < BLOCKS; ++i) factor_b[i] = (float)(1 << i);
  options.a = "e4m3";
  options.d = "f32";
  options.scale_a = GANTRY_SCALE_ROW_BLOCK;
  options.scale_b = 3;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT && gemm == NULL);
  options.scale_b = GANTRY_SCALE_BLOCK;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_OK);
  call.m = call.n = ROWS;
  call.k = DEPTH;
  call.a.data = ones_a;
  call.b.data = ones_b;
  call.d.data = out;
  call.scale_a.data = factor_a;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "scale_missing") == 0);
  EXPECT(strcmp(reason.operand, "scale_b") == 0);
  call.scale_b.data = factor_b;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_OK);
  for (i = 0; i < ROWS; ++i) {
    float sum = 0;
    for (block = 0; block < BLOCKS; ++block) {
      sum += (float)(block < BLOCKS - 1 ? 128 : DEPTH % 128) * factor_a[block * ROWS + i] * factor_b[block];
    }
    for (j = 0; j < ROWS; ++j) wrong += out[i * ROWS + j] != sum;
  }
  EXPECT(wrong == 0);
  gantry_gemm_destroy(gemm);
}

static void results(const gantry_gemm* gemm) {
  gantry_argument argument = GANTRY_ARGUMENT;
  gantry_call call;
  size_t length = 0, bytes = 1;
  char text[64];
  int i, j, wrong = 0;
  argument.name = "bias";
  argument.data = bias;
  call = whole_call(&argument);
  memset(d, 0xff, sizeof d);
  EXPECT(gantry_gemm_check(gemm, &call) == GANTRY_OK);
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_OK);
  for (i = 0; i < M; ++i) {
    for (j = 0; j < N; ++j) wrong += d[i * N + j] != expected(i, j);
  }
  EXPECT(wrong == 0);
  EXPECT(gantry_gemm_kernels(gemm) == 1);
  EXPECT(gantry_gemm_explain(gemm, &call, text, sizeof text, &length) == GANTRY_OK);
  EXPECT(length > sizeof text && strlen(text) == sizeof text - 1);
  EXPECT(gantry_gemm_explain(gemm, &call, NULL, 0, &length) == GANTRY_OK);
  EXPECT(gantry_gemm_workspace(gemm, &call, &bytes) == GANTRY_OK && bytes == 0);
}

static void refusals(gantry_context* context, const gantry_gemm* gemm) {
  gantry_argument argument = GANTRY_ARGUMENT, other = GANTRY_ARGUMENT, twice[2];
  gantry_call call, old;
  gantry_gemm* none = (gantry_gemm*)1;
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_context_options wrong = GANTRY_CONTEXT_OPTIONS;
  gantry_context* no_context = (gantry_context*)1;
  gantry_reason reason;
  argument.name = "bias";
  argument.data = bias;
  call = whole_call(&argument);
  call.a.stride = K - 1;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_count() == 1);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && reason.status == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(reason.sentence, "A ") != NULL);
  EXPECT(strcmp(reason.sentence, gantry_error_message()) == 0);
  EXPECT(gantry_error_reason(1, &reason) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "there is no reason 1: the last call that failed had 1") != NULL);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "index") == 0 && reason.actual == 1);
  EXPECT(gantry_error_reason(0, NULL) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "null_pointer") == 0);
  call = whole_call(&argument);
  call.argument_count = 0;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "bias") != NULL);
  other.name = "bias\x1b[2J\n";
  call.arguments = &other;
  call.argument_count = 1;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strchr(gantry_error_message(), '\x1b') == NULL && strstr(gantry_error_message(), "bias\\x1b[2J") != NULL);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.operand, "bias\\x1b[2J\\x0a") == 0);
  call.argument_count = 2;
  call.arguments = NULL;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  call = whole_call(&argument);
  call.m = -1;
  EXPECT(gantry_gemm_check(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_gemm_run(NULL, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "null_pointer") == 0);
  EXPECT(gantry_gemm_run(gemm, NULL) == GANTRY_INVALID_ARGUMENT);
  old = whole_call(&argument);
  old.size = sizeof old + 8;
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "struct_size") == 0);
  EXPECT(reason.actual == (int64_t)sizeof old + 8 && reason.nearest == (int64_t)sizeof old);
  old.size = 0;
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  old.size = 12; /* half of m */
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "struct_size") == 0);
  options.size = 9;
  EXPECT(gantry_gemm_create(context, &options, &none) == GANTRY_INVALID_ARGUMENT && none == NULL);
  EXPECT(strstr(gantry_error_message(), "where no field begins or ends") != NULL);
  options.size = sizeof options;
  none = (gantry_gemm*)1;
  EXPECT(gantry_gemm_warm_up(gemm, NULL, -1, NULL, NULL) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strcmp(gantry_error_message(), "the number of sizes is -1: it is 0 or more") == 0);
  twice[0] = twice[1] = argument;
  old = whole_call(twice);
  old.argument_count = 2;
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "argument_twice") == 0);
  EXPECT(strcmp(reason.operand, "bias") == 0);
  old = whole_call(&argument);
  old.argument_size = (int32_t)sizeof argument + 8;
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "struct_size") == 0);
  old.argument_size = -1;
  EXPECT(gantry_gemm_run(gemm, &old) == GANTRY_INVALID_ARGUMENT);
  old.argument_size = 0;
  EXPECT(gantry_gemm_check(gemm, &old) == GANTRY_OK);

  options.epilogue = "d = gulu(acc)";
  EXPECT(gantry_gemm_create(context, &options, &none) == GANTRY_INVALID_ARGUMENT && none == NULL);
  EXPECT(strstr(gantry_error_message(), "gelu") != NULL);
  options.epilogue = NULL;
  options.a = "bf17";
  EXPECT(gantry_gemm_create(context, &options, &none) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "bf16") != NULL);
  options.a = NULL;
  options.tile_m = 100;
  EXPECT(gantry_gemm_create(context, &options, &none) == GANTRY_UNSUPPORTED);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strlen(reason.rule) > 0 && reason.actual == 100);
  EXPECT(strcmp(reason.operand, "") == 0);
  options.tile_m = 0;
  options.a = "s8";
  options.b_is_n_major = 1;
  EXPECT(gantry_gemm_create(context, &options, &none) == GANTRY_UNSUPPORTED);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.operand, "B") == 0);
  EXPECT(gantry_gemm_create(NULL, NULL, &none) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_gemm_create(context, NULL, NULL) == GANTRY_INVALID_ARGUMENT);
  wrong.machine = 7;
  EXPECT(gantry_context_create(&wrong, &no_context) == GANTRY_INVALID_ARGUMENT && no_context == NULL);
  wrong.machine = GANTRY_MACHINE_SIMULATED;
  wrong.policy = -1;
  EXPECT(gantry_context_create(&wrong, &no_context) == GANTRY_INVALID_ARGUMENT);
  wrong.policy = GANTRY_COMPILE_WAIT;
  wrong.simulated_sms = 2147483646;
  EXPECT(gantry_context_create(&wrong, &no_context) == GANTRY_INVALID_ARGUMENT && no_context == NULL);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "context_option") == 0);
  EXPECT(reason.actual == 2147483646 && reason.nearest == 4096);
  wrong.simulated_sms = wrong.most_kernels = wrong.most_plans = wrong.compile_threads = -1;
  wrong.simulated_progress_seconds = -1;
  EXPECT(gantry_context_create(&wrong, &no_context) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_count() == 5);
  EXPECT(gantry_context_is_simulated(NULL) == -1);
  EXPECT(gantry_gemm_kernels(NULL) == -1);
  gantry_context_wait_for_compilations(NULL);
  EXPECT(strcmp(gantry_status_name(GANTRY_NO_KERNEL), "no kernel") == 0);
  EXPECT(strcmp(gantry_status_name(42), "unknown status") == 0);
  gantry_gemm_destroy(NULL);
  gantry_context_destroy(NULL);
}

static void descriptions(gantry_context* context, const gantry_gemm* gemm) {
  static const int32_t kinds[] = {GANTRY_ARGUMENT_SCALAR,     GANTRY_ARGUMENT_COLUMN,
                                  GANTRY_ARGUMENT_AUX_OUT,    GANTRY_ARGUMENT_REDUCE_SCALAR,
                                  GANTRY_ARGUMENT_REDUCE_ROW, GANTRY_ARGUMENT_REDUCE_COLUMN};
  static const char* const names[] = {"alpha", "s", "pre", "top", "sums", "rows"};
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_argument_info info;
  gantry_element element;
  gantry_gemm* other = NULL;
  int i, j, found = 0;
  EXPECT(gantry_gemm_argument_count(gemm) == 1);
  EXPECT(gantry_gemm_argument(gemm, 0, &info) == GANTRY_OK && strcmp(info.name, "bias") == 0);
  EXPECT(info.kind == GANTRY_ARGUMENT_ROW && strcmp(info.element, "f32") == 0 && info.is_optional == 0);
  EXPECT(gantry_gemm_argument(gemm, 1, &info) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_gemm_argument(NULL, 0, &info) == GANTRY_INVALID_ARGUMENT && gantry_gemm_argument_count(NULL) == -1);
  EXPECT(strcmp(gantry_gemm_element(gemm, 'A'), "tf32") == 0 && strcmp(gantry_gemm_element(gemm, 'D'), "f32") == 0);
  EXPECT(strcmp(gantry_gemm_element(gemm, 'C'), "void") == 0 && strcmp(gantry_gemm_element(NULL, 'A'), "void") == 0);

  options.d = "f16";
  options.epilogue =
      "let z = alpha * acc + c * col(s); d = z; pre:bf16 col optional = z; top = reduce_max(z);"
      "sums = reduce_row_add(z); rows = reduce_col_add(z)";
  EXPECT(gantry_gemm_create(context, &options, &other) == GANTRY_OK);
  EXPECT(strcmp(gantry_gemm_element(other, 'C'), "f16") == 0);
  EXPECT(gantry_gemm_argument_count(other) == 6);
  for (i = 0; i < 6; ++i) {
    EXPECT(gantry_gemm_argument(other, i, &info) == GANTRY_OK);
    for (j = 0; j < 6; ++j) found += strcmp(names[j], info.name) == 0 && kinds[j] == info.kind;
    if (info.kind == GANTRY_ARGUMENT_AUX_OUT)
      EXPECT(info.is_column_major && info.is_optional && info.block_columns == 0);
  }
  EXPECT(found == 6);
  gantry_gemm_destroy(other);

  options.d = "e4m3";
  options.epilogue = "scales = block_scale(acc:e4m3, 128); d = quantize(acc, rcp(scales))";
  EXPECT(gantry_gemm_create(context, &options, &other) == GANTRY_OK);
  EXPECT(gantry_gemm_argument(other, 0, &info) == GANTRY_OK && info.kind == GANTRY_ARGUMENT_AUX_OUT);
  EXPECT(strcmp(info.name, "scales") == 0 && info.block_columns == 128);
  gantry_gemm_destroy(other);

  EXPECT(gantry_find_element("bfloat16", &element) == GANTRY_OK && strcmp(element.name, "bf16") == 0);
  EXPECT(strcmp(element.python_name, "bfloat16") == 0 && element.bits == 16);
  EXPECT(gantry_find_element("bfloat61", &element) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_find_element(NULL, &element) == GANTRY_INVALID_ARGUMENT);
}

static void simulations(const gantry_gemm* gemm, const char* trace) {
  gantry_argument argument = GANTRY_ARGUMENT;
  gantry_simulation_options options = GANTRY_SIMULATION_OPTIONS;
  gantry_report* report = NULL;
  gantry_call call;
  FILE* file;
  argument.name = "bias";
  argument.data = bias;
  call = whole_call(&argument);
  options.seed = 7;
  options.trace_file = trace;
  remove(trace);
  memset(d, 0xff, sizeof d);
  EXPECT(gantry_gemm_simulate(gemm, &call, &options, &report) == GANTRY_OK);
  EXPECT(d[0] == expected(0, 0) && d[M * N - 1] == expected(M - 1, N - 1));
  EXPECT(strstr(gantry_report_json(report), "\"findings\"") != NULL && strstr(gantry_report_text(report), "7") != NULL);
  gantry_report_destroy(report);
  file = fopen(trace, "r");
  EXPECT(file != NULL);
  if (file != NULL) fclose(file);
  call.a.stride = K - 1;
  report = (gantry_report*)1;
  EXPECT(gantry_gemm_simulate(gemm, &call, NULL, &report) == GANTRY_INVALID_ARGUMENT && report == NULL);
  call = whole_call(&argument);
  call.m = 0;
  EXPECT(gantry_gemm_simulate(gemm, &call, NULL, &report) == GANTRY_OK && report != NULL);
  gantry_report_destroy(report);
  EXPECT(gantry_gemm_simulate(gemm, &call, NULL, NULL) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strcmp(gantry_report_text(NULL), "") == 0);
  gantry_report_destroy(NULL);
}

static void functions(gantry_context* context) {
  gantry_function function = {"half", "x", "return x;"};
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_gemm* gemm = NULL;
  options.epilogue = "d = half(acc, acc)";
  options.functions = &function;
  options.function_count = 1;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.epilogue = "d = half(acc)";
  function.parameters = "x, 2y";
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "parameters are one to three names") != NULL);
  function.parameters = "x";
  function.name = "gelu";
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "the name of a function of the library") != NULL);
  function.name = "half";
  function.body = "return x;\r";
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.functions = NULL;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
}

/* What groups may be: of groups along M or K rows, of pointer arrays sizes. */
static void expected_groups(gantry_context* context) {
  static const int64_t rows[] = {0, 8, 500};
  static const int64_t wrong_rows[] = {8, -3};
  static const gantry_size gemms[] = {{64, 128, 64, 7}, {1024, 128, 64, 1}};
  static const gantry_size wrong_gemms[] = {{64, 128, 64, 7}, {1024, INT64_MAX, 64, 1}};
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_reason reason;
  gantry_gemm* gemm = NULL;
  options.groups = GANTRY_GROUPS_ALONG_M;
  options.expected_rows = rows;
  options.expected_row_count = 3;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_OK);
  gantry_gemm_destroy(gemm);
  options.expected_rows = wrong_rows;
  options.expected_row_count = 2;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT && gemm == NULL);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && reason.actual == -3 && reason.nearest == 0);
  options.expected_row_count = -1;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.expected_rows = NULL;
  options.expected_row_count = 2;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.expected_row_count = 0;
  options.expected_gemms = gemms;
  options.expected_gemm_count = 2;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && strcmp(reason.rule, "gemms_of_others") == 0);
  options.groups = GANTRY_GROUPS_POINTER_ARRAY;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_OK);
  gantry_gemm_destroy(gemm);
  options.expected_gemms = wrong_gemms;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  EXPECT(gantry_error_reason(0, &reason) == GANTRY_OK && reason.actual == INT64_MAX);
}

/* Rows 0 to 9 by the first half of B, the other ones by the second: two groups of a B of N / 2 rows. */
static void groups(gantry_context* context) {
  enum { FIRST = 10, HALF = N / 2 };
  const int32_t offsets[] = {0, FIRST, M};
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_call call = GANTRY_CALL;
  gantry_gemm* gemm = NULL;
  int i, j, k, wrong = 0;
  options.a = "tf32";
  options.tile_m = options.tile_n = 64;
  options.cluster_m = options.cluster_n = 1;
  options.groups = 99;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.groups = GANTRY_GROUPS_ALONG_M;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_OK);
  call.m = M;
  call.n = HALF;
  call.k = K;
  call.batch = 2;
  call.a.data = a;
  call.b.data = b;
  call.d.data = d;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_INVALID_ARGUMENT);
  EXPECT(strstr(gantry_error_message(), "no array of groups was given") != NULL);
  call.group_offsets = offsets;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_OK);
  for (i = 0; i < M; ++i) {
    for (j = 0; j < HALF; ++j) {
      float sum = 0;
      for (k = 0; k < K; ++k) sum += a[i * K + k] * b[((i < FIRST ? 0 : HALF) + j) * K + k];
      wrong += d[i * HALF + j] != sum;
    }
  }
  EXPECT(wrong == 0);
  gantry_gemm_destroy(gemm);
}

/* D = gate - up of N / 2 columns, where gate and up are every second row of B. */
static void gated(gantry_context* context) {
  enum { HALF = N / 2 };
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  gantry_call call = GANTRY_CALL;
  gantry_gemm* gemm = NULL;
  int i, j, k, wrong = 0;
  options.a = "tf32";
  options.epilogue = "d = gate(acc) - up(acc)";
  options.tile_m = options.tile_n = 64;
  options.cluster_m = options.cluster_n = 1;
  options.gate = 2;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_INVALID_ARGUMENT);
  options.gate = GANTRY_GATE_INTERLEAVED;
  EXPECT(gantry_gemm_create(context, &options, &gemm) == GANTRY_OK);
  call.m = M;
  call.n = N;
  call.k = K;
  call.a.data = a;
  call.b.data = b;
  call.d.data = d;
  EXPECT(gantry_gemm_run(gemm, &call) == GANTRY_OK);
  for (i = 0; i < M; ++i) {
    for (j = 0; j < HALF; ++j) {
      float sum = 0;
      for (k = 0; k < K; ++k) sum += a[i * K + k] * (b[2 * j * K + k] - b[(2 * j + 1) * K + k]);
      wrong += d[i * HALF + j] != sum;
    }
  }
  EXPECT(wrong == 0);
  gantry_gemm_destroy(gemm);
}

static int done_of_warm_up = -1;
static void note(int32_t done, int32_t all, void* user) {
  if (done == all) *(int*)user = done;
}

/* How often a run was told to have begun, and to have ended. */
struct told {
  int begins, ends;
};
static void tell(double share, double seconds, double seconds_left, void* user) {
  struct told* to = user;
  if (share == 0 && seconds_left == -1) ++to->begins;
  if (share == 1 && seconds_left == 0 && seconds > 0) ++to->ends;
}

static void* other_thread(void* gemm) {
  /* Errors are a thread's own. */
  return gantry_error_count() == 0 && gantry_gemm_run((const gantry_gemm*)gemm, NULL) != GANTRY_OK ? gemm : NULL;
}

int main(int count, char** words) {
  gantry_context_options options = GANTRY_CONTEXT_OPTIONS;
  gantry_gemm_options gemm_options = GANTRY_GEMM_OPTIONS;
  const gantry_function half = {"half", "x", "return x > 0 ? x : 0.5f * x;"};
  gantry_context* context = NULL;
  gantry_gemm* gemm = NULL;
  const gantry_size size = {M, N, K, 1};
  pthread_t thread;
  void* answer = NULL;
  gantry_status status;
  struct told told = {0, 0};
  EXPECT(gantry_version() == GANTRY_VERSION);
  fill();
  options.machine = GANTRY_MACHINE_SIMULATED;
  options.policy = GANTRY_COMPILE_WAIT;
  options.cache_directory = count > 1 ? words[1] : NULL;
  options.simulated_progress = tell;
  options.simulated_progress_user = &told;
  options.simulated_progress_seconds = 86400;
  EXPECT(gantry_context_create(&options, &context) == GANTRY_OK);
  EXPECT(gantry_context_is_simulated(context) == 1);
  gemm_options.a = "tf32";
  gemm_options.epilogue = "d = half(acc + row(bias))";
  gemm_options.tile_m = 64;
  gemm_options.tile_n = 64;
  gemm_options.cluster_m = gemm_options.cluster_n = 1;
  gemm_options.functions = &half;
  gemm_options.function_count = 1;
  EXPECT(gantry_gemm_create(context, &gemm_options, &gemm) == GANTRY_OK);
  status = gantry_gemm_warm_up(gemm, &size, 1, note, &done_of_warm_up);
  EXPECT(status == GANTRY_OK && done_of_warm_up == 1);
  EXPECT(told.begins == 0);
  results(gemm);
  EXPECT(told.begins > 0 && told.begins == told.ends);
  scales(context);
  older_structs(options.cache_directory);
  refusals(context, gemm);
  descriptions(context, gemm);
  if (count > 2) simulations(gemm, words[2]);
  functions(context);
  expected_groups(context);
  groups(context);
  gated(context);
  EXPECT(pthread_create(&thread, NULL, other_thread, gemm) == 0 && pthread_join(thread, &answer) == 0 &&
         answer == gemm);
  gantry_context_destroy(context); /* the gemm keeps what it needs */
  results(gemm);
  gantry_gemm_destroy(gemm);
  if (failures == 0) puts("all of it holds");
  return failures == 0 ? 0 : 1;
}
