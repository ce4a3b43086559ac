#include "replay/nccl/mpi/mpi.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/mpi.pb.h"
#include "replay/collectives/registry.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/embedded.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra::mpi {

absl::Span<const EmbeddedFile> Embedded();

namespace {

constexpr char kAny[] = "mpi";
constexpr char kDefault[] = "open-mpi";

absl::Status BadField(const std::string& where, absl::string_view field, absl::string_view got,
                      absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", field, " is ", got, "; expected ", expected));
}

std::string KnownFor(CollectiveType type) {
  std::vector<std::string> names;
  for (const MpiAlgorithm& a : AlgorithmsOf(type)) names.emplace_back(a.name);
  return absl::StrJoin(names, ", ");
}

// Parses "ring" or "BYTES ring".
absl::StatusOr<SizedChoice> ParseSized(const std::string& where, const std::string& field,
                                       const std::string& text, CollectiveType type) {
  const std::vector<std::string> parts = absl::StrSplit(text, ' ', absl::SkipEmpty());
  SizedChoice out;
  bool good = parts.size() == 1 || (parts.size() == 2 && absl::SimpleAtoi(parts[0], &out.bytes));
  if (good) out.algorithm = parts.back();
  const std::vector<MpiAlgorithm> known = AlgorithmsOf(type);
  good = good && std::any_of(known.begin(), known.end(),
                             [&](const MpiAlgorithm& a) { return out.algorithm == a.name; });
  if (good) return out;
  return BadField(where, field, absl::StrCat("\"", text, "\""),
                  absl::StrCat("\"ALGORITHM\" or \"BYTES ALGORITHM\" with one of: ", KnownFor(type)));
}

absl::Status AddChoice(const std::string& where, const proto::MpiChoice& choice, int index, MpiModel* out) {
  const std::string field = absl::StrCat("choice[", index, "].");
  const std::optional<CollectiveType> type = CollectiveNamed(choice.collective());
  if (!type || AlgorithmsOf(*type).empty())
    return BadField(where, field + "collective", absl::StrCat("\"", choice.collective(), "\""),
                    "a collective whose algorithms are known");
  if (choice.ranks() < 0) return BadField(where, field + "ranks", absl::StrCat(choice.ranks()), ">= 0");
  std::vector<SizedChoice> sized;
  for (int i = 0; i < choice.algorithm_size(); ++i) {
    const std::string entry = absl::StrCat(field, "algorithm[", i, "]");
    ASSIGN_OR_RETURN(SizedChoice one, ParseSized(where, entry, choice.algorithm(i), *type));
    if ((i == 0) != (one.bytes == 0) || (i > 0 && one.bytes <= sized.back().bytes))
      return BadField(where, entry, absl::StrCat("\"", choice.algorithm(i), "\""),
                      "no bytes in the first, and more in each that follows");
    sized.push_back(std::move(one));
  }
  if (sized.empty()) return BadField(where, field + "algorithm", "not there", "at least one");
  if (!out->choices.emplace(std::pair(*type, choice.ranks()), std::move(sized)).second)
    return BadField(where, field + "ranks", absl::StrCat(choice.ranks(), " a second time"),
                    "each number once for a collective");
  return absl::OkStatus();
}

absl::Status TakeNumbers(const std::string& where, const proto::MpiLibrary& p, MpiModel* out) {
  struct Number {
    const char* name;
    double value;
    double* to;
    bool zero;
  };
  const Number numbers[] = {
      {"call_us", p.call_us(), &out->call_us, true},
      {"node_gbytes_per_s", p.node_gbytes_per_s(), &out->node_gbytes_per_s, true},
      {"reduce_gbytes_per_s", p.reduce_gbytes_per_s(), &out->reduce_gbytes_per_s, false},
      {"large_reduce_gbytes_per_s", p.large_reduce_gbytes_per_s(), &out->large_reduce_gbytes_per_s, false},
      {"copy_gbytes_per_s", p.copy_gbytes_per_s(), &out->copy_gbytes_per_s, false},
      {"fresh_gbytes_per_s", p.fresh_gbytes_per_s(), &out->fresh_gbytes_per_s, false},
      {"cache_bytes", static_cast<double>(p.cache_bytes()), &out->cache_bytes, true}};
  for (const Number& n : numbers) {
    if (!std::isfinite(n.value) || n.value < 0 || (n.value == 0 && !n.zero))
      return BadField(where, n.name, absl::StrCat(n.value), n.zero ? "a number >= 0" : "a number > 0");
    *n.to = n.value;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> LibraryNames() {
  std::vector<std::string> names = EmbeddedNames(Embedded());
  names.insert(names.begin(), kAny);
  return names;
}

absl::string_view LibraryText(absl::string_view name) {
  return FindEmbedded(Embedded(), absl::StrCat(name == kAny ? kDefault : name, ".txtpb"));
}

absl::StatusOr<std::shared_ptr<const MpiModel>> ParseMpi(absl::string_view text, const std::string& where) {
  proto::MpiLibrary p;
  RETURN_IF_ERROR(ParseMessage(text, where, &p));
  auto out = std::make_shared<MpiModel>();
  out->name = p.name();
  for (int i = 0; i < p.choice_size(); ++i) {
    RETURN_IF_ERROR(AddChoice(where, p.choice(i), i, out.get()));
  }
  for (const std::string& name : p.of_share()) {
    const std::optional<CollectiveType> type = CollectiveNamed(name);
    if (!type) return BadField(where, "of_share", absl::StrCat("\"", name, "\""), "a collective");
    out->of_share.push_back(*type);
  }
  absl::StatusOr<HostMessages> memory = BuildHostMessages(p.memory(), "memory.");
  if (!memory.ok()) return absl::InvalidArgumentError(absl::StrCat(where, ": ", memory.status().message()));
  out->memory = *memory;
  if (out->memory.rank_gbytes_per_s <= 0)
    return BadField(where, "memory.rank_gbytes_per_s", "not set", "the rate of two ranks of a node");
  out->of_few = p.of_few().empty() ? "paired_doubling" : p.of_few();
  const std::vector<std::string> plans = AlgorithmsFor(CollectiveType::kAllReduce);
  if (std::count(plans.begin(), plans.end(), out->of_few) == 0)
    return BadField(where, "of_few", absl::StrCat("\"", out->of_few, "\""),
                    absl::StrCat("one of: ", absl::StrJoin(plans, ", ")));
  RETURN_IF_ERROR(TakeNumbers(where, p, out.get()));
  return out;
}

absl::StatusOr<std::shared_ptr<const MpiModel>> LoadMpi(absl::string_view name) {
  const absl::string_view text = LibraryText(name);
  if (!text.empty()) return ParseMpi(text, absl::StrCat("MPI library ", name));
  std::vector<std::string> known = LibraryNames();
  known.insert(known.begin(), "nccl");
  return absl::InvalidArgumentError(absl::StrCat("cluster: collectives.library.name is \"", name, "\"",
                                                 SuggestName(name, known),
                                                 "; expected one of: ", absl::StrJoin(known, ", ")));
}

absl::Status NotPriced(const MpiModel& mpi, CollectiveType type) {
  std::vector<std::string> priced;
  for (const std::string& name : CollectiveNames()) {
    if (!AlgorithmsOf(*CollectiveNamed(name)).empty()) priced.push_back(name);
  }
  return absl::UnimplementedError(
      absl::StrCat(std::string(Name(type)), " by ", mpi.name,
                   ": not priced; expected one of: ", absl::StrJoin(priced, ", ")));
}

}  // namespace chakra::mpi
