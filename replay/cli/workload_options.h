// --model, --parallel and --training: a step told by its model.
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "trace/generate/workload.h"

namespace chakra::cli {

// Adds them, bound to `options`, which must outlive the parsing.
void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options);

// --device-memory, a size with its unit, bound to `bytes`, which must outlive the parsing.
void AddDeviceMemory(CLI::App* app, const std::string& group, const std::string& help, uint64_t* bytes);

// Whether one of them was given.
bool AnyWorkloadOption(const generate::WorkloadOptions& options);

}  // namespace chakra::cli
