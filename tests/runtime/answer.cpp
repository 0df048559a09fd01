// A shared object that is loaded from memory.
extern "C" __attribute__((visibility("default"))) int answer() { return GANTRY_ANSWER; }
