#include "program.hpp"

#include <sstream>

namespace gantry::fuzz {

const char* to_text(Op op) {
  switch (op) {
    case Op::load:
      return "load";
    case Op::store:
      return "store";
    case Op::update:
      return "update";
    case Op::set_flag:
      return "set flag";
    case Op::join_flag:
      return "join flag";
    case Op::wait_flag:
      return "wait for flag";
    case Op::fence:
      return "fence";
    case Op::proxy_fence:
      return "proxy fence";
    case Op::arrive:
      return "arrive";
    case Op::wait:
      return "wait";
    case Op::bulk_load:
      return "bulk load";
    case Op::bulk_store:
      return "bulk store";
    case Op::bulk_reduce:
      return "bulk reduction";
    case Op::commit:
      return "commit";
    case Op::wait_group:
      return "wait for groups";
    case Op::cp_async:
      return "cp.async";
    case Op::cp_commit:
      return "cp.async commit";
    case Op::cp_wait:
      return "cp.async wait";
    case Op::cp_arrive:
      return "cp.async arrive";
    case Op::remote_store:
      return "st.async";
    case Op::named_barrier:
      return "named barrier";
    case Op::cluster_barrier:
      return "cluster barrier";
    case Op::syncwarp:
      return "syncwarp";
  }
  return "?";
}

std::string to_text(const Program& program) {
  constexpr const char* kSemantics[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
  constexpr const char* kScopes[] = {"cta", "cluster", "gpu", "sys"};
  std::ostringstream out;
  out << program.ctas << " CTAs" << (program.cluster ? " in a cluster" : "") << "; "
      << (program.omission.empty() ? "nothing left out" : program.omission) << "\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    out << i + 1 << ": ";
    step.warp_wide() ? out << "warps " << step.warps : out << "agent " << step.agent;
    out << " " << to_text(step.op);
    if (step.location >= 0) {
      const int cta = program.locations[static_cast<std::size_t>(step.location)].cta;
      out << " location " << step.location << (cta < 0 ? " (global)" : " (CTA " + std::to_string(cta) + ")");
    }
    if (step.other >= 0) out << " with " << step.other;
    if (step.bytes > 0) out << " bytes " << step.offset << ".." << step.offset + step.bytes - 1;
    if (step.barrier >= 0) {
      out << " barrier " << step.barrier << " of CTA " << program.barriers[static_cast<std::size_t>(step.barrier)].cta
          << " phase " << step.phase;
    }
    out << " " << kSemantics[static_cast<int>(step.semantics)] << "." << kScopes[static_cast<int>(step.scope)];
    if (step.op == Op::wait_group || step.op == Op::cp_wait) {
      out << (step.read_only ? " read" : "") << " allowed " << step.allowed;
    }
    if (step.op == Op::proxy_fence) out << (step.all_spaces ? " all" : step.shared_space ? " shared" : " global");
    if (step.left_out) out << " LEFT OUT";
    out << "\n";
  }
  return out.str();
}

}  // namespace gantry::fuzz
