// Who may touch which buffer when: stages, phases, and the pipelines over mbarriers and bulk groups. Includes the whole
// layer.
#pragma once

#include <gantry/pipeline/async.hpp>
#include <gantry/pipeline/cluster_spread.hpp>
#include <gantry/pipeline/ordered_sequence.hpp>
#include <gantry/pipeline/role.hpp>
#include <gantry/pipeline/state.hpp>
#include <gantry/pipeline/tma_async.hpp>
#include <gantry/pipeline/tma_store.hpp>
#include <gantry/pipeline/transaction_async.hpp>
