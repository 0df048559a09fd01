// A store pipeline that leaves as many groups unread as it has buffers would write a buffer that is still being stored.
// EXPECT: a buffer may be written again when its own store has been read: UnacquiredStages is less than Stages
#include <gantry/pipeline/tma_store.hpp>

gantry::PipelineTmaStore<2, 2> pipeline;
