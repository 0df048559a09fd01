// What is reported when no thread can go on: who waits where, and for what.
#pragma once

namespace gantry::sim {

class Grid;

void report_deadlock(Grid& grid);

}  // namespace gantry::sim
