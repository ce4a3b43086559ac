// Options of the command line that fill a message; what they are is told at its fields (proto/option.proto).
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

// Adds the options of the message's fields, or those that are named. All that is passed must outlive the
// parsing. `group`: in place of the messages' own headings; "": these. `filled` is called after each option
// that was given.
void AddOptions(CLI::App* app, google::protobuf::Message* message, const std::string& group = "",
                const std::vector<std::string>& only = {}, const std::function<void()>& filled = nullptr);

// Fills in what help says in {...}: of use before help is shown, and not before, since it takes longer than
// to parse.
void FillHelp(CLI::App* app);

// The same for commands that have a part of a run, bound to what they take:
// --network, --routing, --fault, --packet, --mixed and --set;
void AddTopologyOptions(CLI::App* app, const std::string& group, TopologyOptions* options);
// FlowOptions;
void AddFlowOptions(CLI::App* app, const std::string& group, FabricOptions* options);
// --host, --device, --steps, --step-range, --select-ranks and --rank-of, or of --step-range and --rank-of
// those that are named;
void AddCaptureOptions(CLI::App* app, ReadOptions* options, const std::string& group = "",
                       const std::vector<std::string>& only = {});
// --groups;
void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group = "");
// --model, --parallel and --training;
void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options);
// --reliability and --checkpoint.
void AddGoodputOptions(CLI::App* app, std::string* reliability, std::string* checkpoint);

}  // namespace chakra::cli
