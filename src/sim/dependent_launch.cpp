// griddepcontrol: a kernel that waits for the one before it, or lets the one after it start.
#include "grid.hpp"

namespace gantry::sim {

void grid_dependency_wait(Site site) {
  const Call call = enter_call(site, Operation::griddepcontrol_wait);
  if (call.dropped()) return;
  Grid& g = grid();
  g.yield();
  Thread& thread = self();
  const Launch& own = *thread.cta->launch;
  for (std::uint32_t number = 0; number < own.number; ++number) {
    Launch& before = g.launches().at(number);
    while (!before.finished()) {
      before.waiting.push_back(&thread);
      g.block({.site = call.site});
    }
  }
  ClockBuilder known;
  known.finish(own.first_cta);
  thread.view.base = joined(thread.view.base, known.freeze());
}

void grid_launch_dependents(Site site) {
  enter_call(site, Operation::griddepcontrol_launch_dependents);
  grid().launches().let_next_start(*self().cta);
  grid().yield();
}

}  // namespace gantry::sim
