// The formats of configuration files. To add one, write a file with a Format and add a line to foreign.cc.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/foreign/foreign.h"
#include "trace/foreign/text.h"

namespace chakra::foreign {

// What is known of a file before it is read.
struct Head {
  absl::string_view text;  // the file, or its beginning
  TopKeys keys;
};

struct Source {
  absl::string_view content;
  std::string name;  // path of the file, for messages, and for files that it names
  const Beside& beside;
};

struct Format {
  const char* what;  // "DeepSpeed's JSON"
  Role role;
  bool (*looks)(const Head& head);
  // Sets fields of `out`, and its `left_out`. Errors name the file and the key.
  absl::Status (*read)(const Source& source, proto::Workload* out);
};

extern const Format kMegatronLm, kMegatronBridge, kTorchtitan, kDeepSpeed, kAccelerate, kLlamaFactory,
    kAxolotl, kTrl, kTrainingArguments, kMaxText, kAutomodel;

}  // namespace chakra::foreign
