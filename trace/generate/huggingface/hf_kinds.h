// Readers of the kinds of config.json whose layers differ (hf_hybrids.cc), and what they share with
// hf_config.cc.
#pragma once

#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/generate/huggingface/hf_keys.h"

namespace chakra::generate {

// Keys that llama and similar kinds share. `act`: the activation that the class has.
void ReadLlamaKeys(ConfigKeys& k, bool tied, proto::Model* m, absl::string_view act = "silu");

// The experts of Qwen's classes; `shared`: a shared expert with a gate too.
void ReadQwenExperts(ConfigKeys& k, bool shared, proto::Model* m);

void ReadQwen3Next(ConfigKeys& k, proto::Model* m);
void ReadQwen35(ConfigKeys& k, proto::Model* m);
void ReadNemotronH(ConfigKeys& k, proto::Model* m);
void ReadGraniteHybrid(ConfigKeys& k, proto::Model* m);
void ReadLfm2(ConfigKeys& k, proto::Model* m);
void ReadKimiLinear(ConfigKeys& k, proto::Model* m);
void ReadMiniMax(ConfigKeys& k, proto::Model* m);

}  // namespace chakra::generate
