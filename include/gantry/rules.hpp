// Rules as data, reasons as values, sentences for people: what every layer reports its refusals with.
#pragma once

#include <gantry/rules/expected.hpp>
#include <gantry/rules/reasons.hpp>
#include <gantry/rules/rule.hpp>
#include <gantry/rules/static_check.hpp>
#include <gantry/rules/text.hpp>
