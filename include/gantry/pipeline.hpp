// Pipelines over mbarriers and bulk groups: stages, phases, who may access which buffer when. Includes the whole layer.
#pragma once

#include <gantry/pipeline/async.hpp>
#include <gantry/pipeline/cluster_spread.hpp>
#include <gantry/pipeline/ordered_sequence.hpp>
#include <gantry/pipeline/role.hpp>
#include <gantry/pipeline/state.hpp>
#include <gantry/pipeline/tma_async.hpp>
#include <gantry/pipeline/tma_store.hpp>
#include <gantry/pipeline/transaction_async.hpp>
