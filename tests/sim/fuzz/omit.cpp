// One operation of a program left out or weakened, so that it may race.
#include <algorithm>
#include <random>
#include <utility>

#include "program.hpp"

namespace gantry::fuzz {
namespace {

class Omission {
 public:
  Omission(Program& program, std::uint64_t seed) : program_(program), random_(seed) { mark_last_waits(); }

  void leave_one_out() {
    for (;;) {
      const std::uint32_t at = below(program_.steps.size());
      Step& step = program_.steps[at];
      if (step.essential || !weaken(step)) continue;
      program_.omission =
          "line " + std::to_string(at + 1) + ", " + to_text(step.op) + (step.left_out ? " left out" : " weakened");
      return;
    }
  }

 private:
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool often(std::uint32_t percent) { return below(100) < percent; }

  // A thread that has left out a wait may take the next one on the same barrier for it.
  void mark_last_waits() {
    std::vector<std::pair<int, int>> later;
    for (auto step = program_.steps.rbegin(); step != program_.steps.rend(); ++step) {
      if (step->op != Op::wait) continue;
      const std::pair<int, int> key{step->agent, step->barrier};
      step->last_on_barrier = std::find(later.begin(), later.end(), key) == later.end();
      later.push_back(key);
    }
  }

  // False: this one cannot be changed.
  bool weaken(Step& step) {
    switch (step.op) {
      case Op::load:
      case Op::store:
      case Op::bulk_load:
      case Op::bulk_store:
      case Op::bulk_reduce:
      case Op::cp_async:
      case Op::remote_store:
      case Op::cp_arrive:
        return false;
      case Op::update:
        if (step.scope == Scope::cta) return false;
        step.scope = Scope::cta;
        return true;
      case Op::set_flag:
      case Op::join_flag:
      case Op::wait_flag:
        if (step.scope != Scope::cta && often(35)) {
          step.scope = Scope::cta;
          return true;
        }
        if (step.semantics != Semantics::relaxed && often(60)) {
          step.semantics = Semantics::relaxed;
          return true;
        }
        step.left_out = step.op == Op::wait_flag;
        return step.left_out;
      case Op::arrive:
        if (step.scope != Scope::cta && often(50)) {
          step.scope = Scope::cta;
          return true;
        }
        if (step.semantics == Semantics::relaxed) return false;
        step.semantics = Semantics::relaxed;
        return true;
      case Op::wait:
        if (step.semantics == Semantics::acquire && often(50)) {
          step.semantics = Semantics::relaxed;
          return true;
        }
        step.left_out = step.last_on_barrier;
        return step.left_out;
      case Op::proxy_fence:
        if (!step.all_spaces && often(40)) {
          step.shared_space = !step.shared_space;
          return true;
        }
        break;
      case Op::fence:
        if (step.scope != Scope::cta && often(40)) {
          step.scope = Scope::cta;
          return true;
        }
        break;
      case Op::wait_group:
        if (!step.read_only && often(40)) {
          step.read_only = true;
          return true;
        }
        if (often(40)) {
          ++step.allowed;
          return true;
        }
        break;
      case Op::cp_wait:
        if (often(40)) {
          ++step.allowed;
          return true;
        }
        break;
      case Op::cluster_barrier:
        if (step.semantics == Semantics::release && often(40)) {
          step.semantics = Semantics::relaxed;
          return true;
        }
        break;
      default:
        break;
    }
    step.left_out = true;
    return true;
  }

  Program& program_;
  std::mt19937_64 random_;
};

}  // namespace

Program generate(std::uint64_t seed, int omission) {
  Program program = generate(seed);
  Omission(program, seed * 64 + static_cast<std::uint64_t>(omission)).leave_one_out();
  return program;
}

}  // namespace gantry::fuzz
