// Options that say what of a PyTorch capture is meant.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "trace/et/read_options.h"

namespace chakra::cli {

// Adds --host, --device, --steps and --select-ranks; `options` must outlive `app`.
void AddCaptureOptions(CLI::App* app, ReadOptions* options);

// Adds --groups, in the option group `group` ("": none); `options` must outlive `app`.
void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group = "");

}  // namespace chakra::cli
