// Keys of a config.json, and what its classes say of windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/io/json_value.h"

namespace chakra::generate {

// Reads keys of one object; the first error stays. `reader` and `object` must outlive it.
class ConfigKeys {
 public:
  ConfigKeys(const JsonReader& reader, const JsonValue& object) : reader_(reader), object_(object) {}

  const absl::Status& status() const { return status_; }
  bool Has(absl::string_view key) const;
  bool IsNull(absl::string_view key) const;
  // A whole number that must be there; 1 with an error.
  int64_t Size(absl::string_view key);
  int64_t SizeOr(absl::string_view key, int64_t fallback);
  // A number of 0 or more.
  double RealOr(absl::string_view key, double fallback);
  bool FlagOr(absl::string_view key, bool fallback);
  std::string TextOr(absl::string_view key, absl::string_view fallback);
  // The value of a key, where it is a list; null: it is absent or null. Anything else is an error.
  const JsonValue* List(absl::string_view key);
  // An error about a part of a value.
  void RefuseAt(const JsonValue& v, absl::string_view what);
  // The key is absent, null, or an empty list.
  bool IsEmpty(absl::string_view key) const;
  // An error about the value of a key that is there.
  void Refuse(absl::string_view key, absl::string_view what);

 private:
  std::string Shown(const JsonValue& v) const;
  void Fail(absl::Status s);

  const JsonReader& reader_;
  const JsonValue& object_;
  absl::Status status_;
};

// Which layers a class gives a sliding window, where the file does not list them (layer_types).
struct WindowRule {
  int64_t window = 0;       // the class's default; 0: none
  bool on_request = false;  // use_sliding_window has to be true (Qwen)
  enum Layers {
    kAll,
    kFromMost,
    kOddBelowMost,
    kAllButEach
  } layers = kAll;   // kFromMost: from max_window_layers on
  int64_t each = 2;  // kAllButEach
};

// The layers that layer_types, a list, calls `kind`; all others have to be "full_attention".
std::vector<int> ListedLayers(ConfigKeys& k, const JsonValue& types, int64_t layers, absl::string_view kind);

// The layers with rotary positions by no_rope_layers, a list of 1 for these and 0, or, where there is none or
// an empty one, all but each no_rope_layer_interval-th (Llama 4).
std::vector<int> TurnedLayers(ConfigKeys& k, int64_t layers);

// Sets the model's windows by the file, and by the class's rule where the file is silent.
void ReadWindows(ConfigKeys& k, const WindowRule& rule, proto::Model* m);
// Of classes that know none.
void ReadNoWindows(ConfigKeys& k);

}  // namespace chakra::generate
