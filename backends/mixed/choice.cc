#include "backends/mixed/choice.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/glob.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr absl::string_view kBetween = " - ", kOf = " of ";
constexpr size_t kMostNames = 20000;  // maximum number of names in which the nearest one is looked for

bool Matches(absl::string_view pattern, absl::string_view text) { return MatchesGlob(pattern, text, '?'); }

// The parts of "A - B of DIMENSION".
struct LinkParts {
  absl::string_view from, to, rest;  // `rest` begins with kOf
  explicit LinkParts(absl::string_view name) {
    const size_t of = std::min(name.rfind(kOf), name.size());
    rest = name.substr(of);
    const absl::string_view ends = name.substr(0, of);
    const size_t between = ends.find(kBetween);
    from = ends.substr(0, between);
    if (between != absl::string_view::npos) to = ends.substr(between + kBetween.size());
  }
};

class LinkMatcher {
 public:
  LinkMatcher(const Topology& topology, const PacketChoice& choice) : topology_(topology), choice_(choice) {
    for (const LinkClass& c : topology.link_classes()) {
      classes_.push_back(choice.link_class.empty() || Matches(choice.link_class, c.name));
    }
    int number = -1;
    if (!absl::SimpleAtoi(choice.dimension, &number)) number = -1;
    for (size_t i = 0; i < topology.dimensions().size(); ++i) {
      dimensions_.push_back(choice.dimension.empty() || number == static_cast<int>(i) ||
                            Matches(choice.dimension, topology.dimensions()[i].name));
    }
  }

  bool AnyClass() const { return std::count(classes_.begin(), classes_.end(), true) > 0; }
  bool AnyDimension() const { return std::count(dimensions_.begin(), dimensions_.end(), true) > 0; }

  bool operator()(uint32_t link) const {
    const Hop hop = topology_.LinkHop(link);
    if (!classes_[hop.link_class] || !dimensions_[hop.dimension]) return false;
    return choice_.link.empty() || MatchesName(topology_.LinkName(link));
  }

 private:
  bool MatchesName(const std::string& name) const {
    const LinkParts parts(name);
    const absl::string_view pattern = choice_.link;
    const size_t between = pattern.find(kBetween);
    if (between == absl::string_view::npos) return Matches(pattern, parts.from) || Matches(pattern, parts.to);
    const absl::string_view a = pattern.substr(0, between), b = pattern.substr(between + kBetween.size());
    const auto one_way = [&](absl::string_view from, absl::string_view to) {
      return Matches(a, from) && (Matches(b, to) || Matches(b, absl::StrCat(to, parts.rest)));
    };
    return one_way(parts.from, parts.to) || one_way(parts.to, parts.from);
  }

  const Topology& topology_;
  const PacketChoice& choice_;
  std::vector<bool> classes_, dimensions_;
};

// The link name that is nearest to `pattern`.
std::string NearestLink(const Topology& topology, absl::string_view pattern) {
  const bool ends = pattern.find(kBetween) == absl::string_view::npos;
  std::set<std::string> names;
  for (uint64_t i = 0; i < topology.links() && names.size() < kMostNames; ++i) {
    const std::string name = topology.LinkName(static_cast<uint32_t>(i));
    const LinkParts parts(name);
    if (ends) {
      names.emplace(parts.from);
      names.emplace(parts.to);
    } else {
      names.insert(absl::StrCat(parts.from, kBetween, parts.to));
    }
  }
  return SuggestName(pattern, {names.begin(), names.end()});
}

absl::Status CheckLinks(const Topology& topology, const PacketChoice& c, const std::string& name) {
  const LinkMatcher matches(topology, c);
  std::vector<std::string> known;
  if (!matches.AnyClass()) {
    for (const LinkClass& k : topology.link_classes()) known.push_back(k.name);
    return absl::InvalidArgumentError(absl::StrCat(name, ": class is the unknown \"", c.link_class, "\"",
                                                   SuggestName(c.link_class, known)));
  }
  if (!matches.AnyDimension()) {
    for (const TopologyDimension& d : topology.dimensions()) known.push_back(d.name);
    return absl::InvalidArgumentError(absl::StrCat(name, ": dimension is the unknown \"", c.dimension, "\"",
                                                   SuggestName(c.dimension, known), " By number: 0 to ",
                                                   topology.dimensions().size() - 1));
  }
  for (uint64_t i = 0; i < topology.links(); ++i) {
    if (matches(static_cast<uint32_t>(i))) return absl::OkStatus();
  }
  if (topology.links() == 0 || c.link.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": no link is of class \"", c.link_class,
                                                   "\" and dimension \"", c.dimension, "\""));
  }
  const bool alone = c.link_class.empty() && c.dimension.empty();
  return absl::InvalidArgumentError(absl::StrCat(name, ": link is \"", c.link, "\", which none of the ",
                                                 alone ? "" : "links of that class and dimension among the ",
                                                 topology.links(), " links has",
                                                 NearestLink(topology, c.link)));
}

absl::Status Check(const Topology& topology, const PacketChoice& c, const std::string& name) {
  if (!c.by_link() && !c.by_device && !c.by_time()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " selects no message; expected link, class, dimension, ranks, after or until, as link=leaf.0"));
  }
  if (c.after < Time::Zero() || c.until <= c.after) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": until is ", c.until.picos(),
                                                   " ps; expected more than after, which is ",
                                                   c.after.picos(), " ps"));
  }
  if (c.by_device && c.devices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": no ranks; expected at least one"));
  }
  for (const int device : c.devices) {
    if (device >= 0 && device < topology.devices()) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, ": device ", device, "; expected 0 to ",
                                                   topology.devices() - 1, ", the nearest is ",
                                                   device < 0 ? 0 : topology.devices() - 1));
  }
  return c.by_link() ? CheckLinks(topology, c, name) : absl::OkStatus();
}

}  // namespace

absl::Status CheckPacketChoices(const Topology& topology, const std::vector<PacketChoice>& choices) {
  if (choices.empty()) {
    return absl::InvalidArgumentError(
        "nothing is chosen for packets; expected --mixed (or by_packets of a cluster) with links, ranks or "
        "times, as --mixed link=leaf.0; or --fabric fluid or packet for all messages");
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    const std::string& label = choices[i].label;
    RETURN_IF_ERROR(Check(topology, choices[i], label.empty() ? absl::StrCat("by_packets[", i, "]") : label));
  }
  return absl::OkStatus();
}

std::vector<bool> ChosenLinks(const Topology& topology, const PacketChoice& choice) {
  if (!choice.by_link()) return {};
  const LinkMatcher matches(topology, choice);
  std::vector<bool> chosen(topology.links());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = matches(static_cast<uint32_t>(i));
  return chosen;
}

}  // namespace chakra
