// Keys of a config.json, and the window rules of its classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/io/json_value.h"

namespace chakra::generate {

// Reads keys of one object, and keeps the first error. `reader` and `object` must outlive this.
class ConfigKeys {
 public:
  ConfigKeys(const JsonReader& reader, const JsonValue& object) : reader_(reader), object_(object) {}

  const absl::Status& status() const { return status_; }
  bool Has(absl::string_view key) const;
  bool IsNull(absl::string_view key) const;
  // A required whole number; 1 after an error.
  int64_t Size(absl::string_view key);
  int64_t SizeOr(absl::string_view key, int64_t fallback);
  // A number >= 0.
  double RealOr(absl::string_view key, double fallback);
  bool FlagOr(absl::string_view key, bool fallback);
  std::string TextOr(absl::string_view key, absl::string_view fallback);
  // The value of a key that is a list; null: the key is absent or null. Any other value is an error.
  const JsonValue* List(absl::string_view key);
  // The keys of an object under a key; those of an empty object if the key is absent. Errors are those of the
  // returned keys.
  ConfigKeys Nested(absl::string_view key);
  // Keeps the first error of nested keys.
  void Take(const ConfigKeys& nested);
  // Sets an error about a part of a value.
  void RefuseAt(const JsonValue& v, absl::string_view what);
  // Whether the key is absent, null, or an empty list.
  bool IsEmpty(absl::string_view key) const;
  // Sets an error about the value of an existing key.
  void Refuse(absl::string_view key, absl::string_view what);

 private:
  std::string Shown(const JsonValue& v) const;
  void Fail(absl::Status s);

  const JsonReader& reader_;
  const JsonValue& object_;
  absl::Status status_;
};

// The layers to which a class gives a sliding window if the file does not list them (layer_types).
struct WindowRule {
  int64_t window = 0;       // default of the class; 0: no window
  bool on_request = false;  // only if use_sliding_window is true (Qwen)
  enum Layers {
    kAll,
    kFromMost,
    kOddBelowMost,
    kAllButEach
  } layers = kAll;   // kFromMost: from max_window_layers on
  int64_t each = 2;  // kAllButEach
};

// The layers that the list layer_types names `kind`; all others must be "full_attention".
std::vector<int> ListedLayers(ConfigKeys& k, const JsonValue& types, int64_t layers, absl::string_view kind);

// The layers with rotary positions by no_rope_layers, a list with 1 for these layers and 0 for the others. If
// the list is absent or empty: all layers except every no_rope_layer_interval-th (Llama 4).
std::vector<int> TurnedLayers(ConfigKeys& k, int64_t layers);

// Sets the model's windows as the file says, or by the rule of the class if the file says nothing.
void ReadWindows(ConfigKeys& k, const WindowRule& rule, proto::Model* m);
// For classes without windows.
void ReadNoWindows(ConfigKeys& k);

}  // namespace chakra::generate
