// Fused epilogues: what is decided before a kernel runs (policy, builder), what is computed (fusion graphs, from
// expressions, text or operations by name), the collectives that run it, and their arguments. Includes the whole layer
// but the reference, which only tests need.
#pragma once

#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/collective.hpp>
#include <gantry/epilogue/dispatch_policy.hpp>
#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/operations.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>
#include <gantry/epilogue/no_smem.hpp>
#include <gantry/epilogue/policy_static_check.hpp>
#include <gantry/epilogue/schedule_names.hpp>
