// Options that say what of a capture is meant.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "trace/et/read_options.h"

namespace chakra::cli {

// Adds --host, --device, --steps, --step-range, --select-ranks and --rank-of; `options` must outlive `app`.
void AddCaptureOptions(CLI::App* app, ReadOptions* options);

// Adds --step-range, in the option group `group`; `options` must outlive `app`.
void AddStepRangeOption(CLI::App* app, ReadOptions* options, const std::string& group);

// Adds --rank-of, in the option group `group`; `options` must outlive `app`.
void AddRankOfOption(CLI::App* app, ReadOptions* options, const std::string& group);

// Adds --groups, in the option group `group` ("": none); `options` must outlive `app`.
void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group = "");

}  // namespace chakra::cli
