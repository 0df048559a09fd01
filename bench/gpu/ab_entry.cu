// Row GANTRY_AB_ROW of the A/B harness (ab_rows.hpp) as a shared object: scripts/ab.sh compiles this source once
// against the headers of before and once against those of after.
//
// It uses `Gemm` alone, and takes a plan and the result of a run in either form: an object with ok() and problems, or
// an Expected.
#include <cstdio>
#include <string>
#include <utility>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>

#include "ab_abi.hpp"
#include "ab_options.hpp"

namespace gantry::bench {
namespace {

constexpr AbRow kRow = kAbRows[GANTRY_AB_ROW];

struct Spec {
  static constexpr GemmOptions options = options_of(kRow);
  static constexpr fusion::Graph graph = fusion::graph(expression_of(kRow.job));
};

void say(const AbText* out, const std::string& text) { std::snprintf(out->data, out->size, "%s", text.c_str()); }

template <class Failure>
std::string reason(const Failure& failure) {
  if constexpr (requires { std::string(failure); }) {
    return std::string(failure);
  } else if constexpr (requires { failure.error(); }) {
    return reason(failure.error());
  } else if constexpr (requires { std::string(describe(failure).c_str()); }) {
    return describe(failure).c_str();
  } else if constexpr (requires { failure.explain(); }) {
    return failure.explain();
  } else if constexpr (requires { failure.problem; }) {
    return failure.problem;
  } else if constexpr (requires { failure.begin(); }) {
    std::string all;
    for (const auto& one : failure) all += reason(one) + "\n";
    return all;
  } else {
    return "a reason that ab_entry.cu has no words for";
  }
}

template <class Planned>
bool is_there(const Planned& planned) {
  if constexpr (requires { planned.ok(); }) {
    return planned.ok();
  } else {
    return static_cast<bool>(planned);
  }
}

template <class Spec>
struct Entry {
  using Gemm = gantry::Gemm<Spec>;
  using Planned = decltype(Gemm::plan(std::declval<const typename Gemm::Arguments&>()));

  static void describe(const AbText* out) {
    say(out, std::string(to_text(options()).c_str()) + " " + staging_text(options()).c_str());
  }
  static GemmOptions options() {
    if constexpr (requires { Gemm::kDesign; }) {
      return Gemm::kDesign.options;
    } else {
      return Gemm::kOptions;
    }
  }

  static void* plan(const AbProblem* p, const AbText* why) {
    using Arguments = typename Gemm::Arguments;
    Arguments args({.m = p->m, .n = p->n, .k = p->k});
    args.a = static_cast<const bf16*>(p->a);
    args.b = static_cast<const bf16*>(p->b);
    args.d = static_cast<bf16*>(p->d);
    if constexpr (kRow.job == Job::c) args.c = static_cast<const bf16*>(p->c);
    if constexpr (kRow.job >= Job::bias_gelu) args.fusion["bias"] = static_cast<const bf16*>(p->bias);
    if constexpr (kRow.job == Job::bias_gelu_aux) args.fusion["aux"] = static_cast<bf16*>(p->aux);
    args.dependent = p->dependent;
    auto* planned = new Planned(Gemm::plan(args));
    if (is_there(*planned)) return planned;
    say(why, reason(*planned));
    delete planned;
    return nullptr;
  }

  static bool run(const void* plan, void* stream, const AbText* why) {
    const Planned& planned = *static_cast<const Planned*>(plan);
    Gpu gpu;
    gpu.stream = static_cast<cudaStream_t>(stream);
    const auto result = [&] {
      if constexpr (requires { planned.run(gpu); }) {
        return planned.run(gpu);
      } else {
        return planned->run(gpu);
      }
    }();
    if (is_there(result)) return true;
    say(why, reason(result));
    return false;
  }

  static void destroy(void* plan) { delete static_cast<Planned*>(plan); }

  static constexpr AbKernel kKernel{describe, plan, run, destroy};
};

}  // namespace
}  // namespace gantry::bench

extern "C" __attribute__((visibility("default"))) const gantry::bench::AbKernel* gantry_ab() {
  return &gantry::bench::Entry<gantry::bench::Spec>::kKernel;
}
