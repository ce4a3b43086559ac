// The text form of a network, "NAME:key=value,key=value", and its values.
//
// A value is a count ("8"), a list of sizes ("4x4x8"), a rate or a time with its unit ("400Gb/s", "50GB/s",
// "500ns"), a word, or a network in parentheses ("planes=4,of=(fat_tree:k=8)").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/quantity.h"
#include "trace/io/short_form.h"

namespace chakra {

using NetworkSpec = ShortForm;

// Errors: those of ParseShortForm(), preceded by the text.
absl::StatusOr<NetworkSpec> ParseNetworkSpec(absl::string_view text);

// The NICs of the devices that a network joins. They give the default rate and latency of the network's
// ports.
struct Cards {
  Bandwidth bandwidth;  // of one NIC, in each direction; 0: unknown
  Time latency;         // of the NIC's link
};

// A parameter of a builder. `fallback` is the value if the parameter is not given; empty: the builder derives
// the value, as `doc` says.
struct Parameter {
  // Which property of the NICs replaces `fallback`, if the NICs are known. By default all links of a network
  // are as fast as its ports. Latencies of links between switches do not depend on NICs.
  enum class FromCards : uint8_t { kNothing, kBandwidth, kLatency };
  std::string key, fallback;
  std::string doc;  // with the unit and the range: for `topology list`
  FromCards from_cards = FromCards::kNothing;
};
inline constexpr Parameter::FromCards kCardBandwidth = Parameter::FromCards::kBandwidth;
inline constexpr Parameter::FromCards kCardLatency = Parameter::FromCards::kLatency;

// The values of a spec, for a builder that declared its parameters. Getters return the value or the fallback.
// Errors name the network, the key, the given value, what was expected and, for a number out of range, the
// nearest valid number. Calling a getter with a key that was not declared is a bug.
class Parameters {
 public:
  // `topic`: the topic of `chakra-replay help` that lists the parameters; "": none. Error: a key that was not
  // declared; the error has the nearest key, or the list, and the topic.
  static absl::StatusOr<Parameters> Make(NetworkSpec spec, const std::vector<Parameter>& declared,
                                         const Cards& cards = {}, absl::string_view topic = "");

  const std::string& network() const { return spec_.name; }
  const Cards& cards() const { return cards_; }  // for networks within this one
  // Whether a key has neither a given value nor a fallback.
  bool Empty(absl::string_view key) const { return Text(key).empty(); }
  // Whether the user gave the value.
  bool Given(absl::string_view key) const;

  const std::string& Text(absl::string_view key) const;
  absl::StatusOr<int> Count(absl::string_view key, int least, int most) const;
  absl::StatusOr<double> Number(absl::string_view key, double least, double most) const;
  absl::StatusOr<bool> Flag(absl::string_view key) const;  // "yes", "no", "true", "false", "1", "0"
  // "4x4x8": `least_dims` to `most_dims` sizes, each at least `least`.
  absl::StatusOr<std::vector<int>> Sizes(absl::string_view key, int least, int least_dims,
                                         int most_dims) const;
  // One of the words.
  absl::StatusOr<std::string> Choice(absl::string_view key, const std::vector<std::string>& words) const;
  absl::StatusOr<Time> Latency(absl::string_view key) const;
  absl::StatusOr<uint64_t> Bytes(absl::string_view key, uint64_t least, uint64_t most) const;
  // The rate of a cable or NIC. Unless `any_rate` is set, a given rate above kMaxPortRate is refused, because
  // it is probably a value in Gb/s written as GB/s.
  absl::StatusOr<Bandwidth> Rate(absl::string_view key, bool any_rate = false) const;
  // The network in the parentheses.
  absl::StatusOr<NetworkSpec> Part(absl::string_view key) const;

  // "fat_tree: k is 7; expected an even number, 8 for instance"
  absl::Status Bad(absl::string_view key, absl::string_view expected) const;

  static constexpr Bandwidth kMaxPortRate = Bandwidth::BytesPerSecond(200000000000);  // 1.6 Tb/s

 private:
  NetworkSpec spec_;
  Cards cards_;
  std::vector<std::pair<std::string, std::string>> values_;  // each declared key, with its value or fallback
};

}  // namespace chakra
