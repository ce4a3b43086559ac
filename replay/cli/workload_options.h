// --model, --parallel and --training: a step told by its model.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "trace/generate/workload.h"

namespace chakra::cli {

// Adds them, bound to `options`, which must outlive the parsing.
void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options);

// Whether one of them was given.
bool AnyWorkloadOption(const generate::WorkloadOptions& options);

}  // namespace chakra::cli
