// What is reported when no thread can go on, or none comes to an end: who is where, and waits for what.
#pragma once

namespace gantry::sim {

class Grid;

void report_deadlock(Grid& grid);

// The run has taken more steps than it was given: where each thread is.
void report_too_long(Grid& grid);

}  // namespace gantry::sim
