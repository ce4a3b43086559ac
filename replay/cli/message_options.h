// Options of the command line that fill a message. The fields of the message declare them
// (proto/option.proto).
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "backends/fabric_options.h"
#include "replay/cluster/options.h"
#include "trace/et/read_options.h"
#include "trace/generate/workload.h"

namespace chakra::cli {

// Adds the options of all fields of the message, or of the fields named in `only`. All arguments must outlive
// the parsing. `group`: the heading of the options; "": the headings that the messages declare. `filled` is
// called after each option that was given.
void AddOptions(CLI::App* app, google::protobuf::Message* message, const std::string& group = "",
                const std::vector<std::string>& only = {}, const std::function<void()>& filled = nullptr);

// Replaces {...} in help texts by their values. This takes longer than parsing, so call it only before help
// is shown.
void FillHelp(CLI::App* app);

// The functions below add the options of a part of a run, bound to the structs that the command uses.
// --network, --routing, --fault, --packet, --mixed and --set.
void AddTopologyOptions(CLI::App* app, const std::string& group, TopologyOptions* options);
// The options of proto::FlowTexts.
void AddFlowOptions(CLI::App* app, const std::string& group, FabricOptions* options);
// --host, --device, --steps, --step-range, --select-ranks and --rank-of; or those of --step-range and
// --rank-of that `only` names.
void AddCaptureOptions(CLI::App* app, ReadOptions* options, const std::string& group = "",
                       const std::vector<std::string>& only = {});
// --groups.
void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group = "");
// --model, --parallel and --training.
void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options);
// --reliability and --checkpoint.
void AddGoodputOptions(CLI::App* app, std::string* reliability, std::string* checkpoint);

}  // namespace chakra::cli
