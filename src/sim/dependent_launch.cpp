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
  if (own.number == 0) return;
  // The wait covers the kernel before this one, and what that one's threads knew: another one before it only where they
  // had waited for it in their turn.
  Launch& before = g.launches().at(own.number - 1);
  while (!before.finished()) {
    before.waiting.push_back(&thread);
    g.block({.site = call.site});
  }
  thread.view.base = joined(thread.view.base, before.ended);
}

void grid_launch_dependents(Site site) {
  enter_call(site, Operation::griddepcontrol_launch_dependents);
  grid().launches().let_next_start(*self().cta);
  grid().yield();
}

}  // namespace gantry::sim
