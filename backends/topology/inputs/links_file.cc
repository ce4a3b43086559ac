#include "backends/topology/inputs/links_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/spec.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

struct Word {
  absl::string_view text;
  size_t line = 0;
};

// Reads the words of a text, one after another.
class Words {
 public:
  explicit Words(absl::string_view text) : text_(text) {}
  // The next word; an empty word at the end.
  Word Next() {
    while (at_ < text_.size() && IsBlank(text_[at_])) line_ += text_[at_++] == '\n' ? 1 : 0;
    const size_t begin = at_;
    while (at_ < text_.size() && !IsBlank(text_[at_])) ++at_;
    return {text_.substr(begin, at_ - begin), line_};
  }

 private:
  static bool IsBlank(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }
  absl::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
};

enum class Role : uint8_t { kHost, kNvSwitch, kSwitch };

class Reader {
 public:
  Reader(absl::string_view text, const std::string& file)
      : text_(text), file_(file), words_(text), assembly_(file) {}

  absl::StatusOr<ReadNetwork> Read() {
    for (const auto step : {&Reader::ReadHeader, &Reader::ReadSwitches, &Reader::ReadLinks}) {
      RETURN_IF_ERROR((this->*step)());
    }
    return Assemble();
  }

 private:
  struct Link {
    uint32_t a, b;
    uint32_t kind;  // in kinds_
    double loss;
  };
  struct Kind {
    Bandwidth rate;
    Time delay;
  };

  absl::Status Bad(const Word& w, absl::string_view field, absl::string_view expected) const {
    const std::string value =
        w.text.empty() ? "is missing: the file ends here" : absl::StrCat("is \"", w.text.substr(0, 60), "\"");
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ":", w.line, ": ", field, " ", value, "; expected ", expected));
  }

  absl::Status Number(const Word& w, absl::string_view field, uint64_t most, uint64_t* out) const {
    const bool digits = !w.text.empty() && std::all_of(w.text.begin(), w.text.end(), [](char c) {
      return absl::ascii_isdigit(static_cast<unsigned char>(c));
    });
    if (digits && absl::SimpleAtoi(w.text, out) && *out <= most) return absl::OkStatus();
    return Bad(w, field, absl::StrCat("a whole number from 0 to ", most));
  }

  absl::Status ReadHeader();
  absl::Status CheckCounts(const Word& last);
  absl::Status ReadSwitches();
  absl::Status ReadLinks();
  absl::Status ReadLink();
  absl::StatusOr<uint32_t> KindOf(const Word& rate, const Word& delay);
  absl::StatusOr<ReadNetwork> Assemble();
  std::vector<int> Tiers() const;
  void AddNodes(std::vector<uint32_t>* number);
  // Lets hosts forward messages if there are no switches and hosts cannot reach each other directly. Errors:
  // hosts that cannot reach each other.
  absl::Status CheckReach();

  absl::string_view text_;
  const std::string& file_;
  Words words_;
  NetworkAssembly assembly_;
  uint64_t nodes_ = 0, switches_ = 0, nvswitches_ = 0, link_count_ = 0, per_server_ = 0;
  std::string gpu_type_;
  std::vector<Role> role_;
  std::vector<Link> links_;
  std::vector<Kind> kinds_;
  std::map<std::pair<absl::string_view, absl::string_view>, uint32_t> kind_index_;
  std::vector<std::vector<uint32_t>> nodes_of_;  // by group of vertices
  std::vector<std::string> notes_;
};

absl::Status Reader::ReadHeader() {
  constexpr uint64_t kMost = kMaxReadVertices;
  // SimAI's header has six words, and the last is not a number.
  Words ahead = words_;
  std::vector<Word> first;
  for (int i = 0; i < 6; ++i) first.push_back(ahead.Next());
  const absl::string_view sixth = first[5].text;
  const bool simai = !sixth.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(sixth.front()));
  absl::Status s = Number(first[0], "header: nodes", kMost, &nodes_);
  if (s.ok() && simai) {
    s.Update(Number(first[1], "header: gpus_per_server", kMost, &per_server_));
    s.Update(Number(first[2], "header: nvswitches", kMost, &nvswitches_));
    s.Update(Number(first[3], "header: switches", kMost, &switches_));
    s.Update(Number(first[4], "header: links", kMaxReadLinks, &link_count_));
    gpu_type_ = std::string(sixth);
  } else {
    s.Update(Number(first[1], "header: switches", kMost, &switches_));
    s.Update(Number(first[2], "header: links", kMaxReadLinks, &link_count_));
  }
  if (!s.ok()) return s;
  Word last;
  for (int i = 0; i < (simai ? 6 : 3); ++i) last = words_.Next();
  return CheckCounts(last);
}

// Checks the counts in the header before memory is allocated for them.
absl::Status Reader::CheckCounts(const Word& last) {
  const uint64_t listed = switches_ + nvswitches_;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", last.line, ": header: ", what));
  };
  if (listed >= nodes_) {
    return bad(absl::StrCat(nodes_, " nodes with ", listed, " switches leave no host; expected at least ",
                            listed + 1, " nodes (they count the switches too)"));
  }
  const uint64_t hosts = nodes_ - listed;
  if (link_count_ * 10 > text_.size() || listed * 2 > text_.size()) {
    return bad(absl::StrCat(listed, " switches and ", link_count_, " links; the file is too short for them"));
  }
  if (hosts > 1 && hosts > 2 * link_count_) {
    return bad(absl::StrCat(hosts, " hosts, but ", link_count_, " links; expected one or more a host"));
  }
  if (per_server_ > 0 && hosts % per_server_ != 0) {
    notes_.push_back(absl::StrCat(hosts, " hosts are not a multiple of ", per_server_, " GPUs a server"));
  }
  role_.assign(nodes_, Role::kHost);
  return absl::OkStatus();
}

absl::Status Reader::ReadSwitches() {
  for (uint64_t i = 0; i < nvswitches_ + switches_; ++i) {
    const bool nv = i < nvswitches_;
    const std::string field = nv ? absl::StrCat("NVSwitch ", i) : absl::StrCat("switch ", i - nvswitches_);
    const Word w = words_.Next();
    uint64_t node = 0;
    RETURN_IF_ERROR(Number(w, field, nodes_ - 1, &node));
    if (role_[node] != Role::kHost) return Bad(w, field, "a node that is not listed yet");
    role_[node] = nv ? Role::kNvSwitch : Role::kSwitch;
  }
  return absl::OkStatus();
}

bool TakeRate(absl::string_view text, Bandwidth* out) {
  double v = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &v, &unit)) return false;
  const double bytes = std::round(v * RateOfUnit(unit));
  if (bytes < 1 || bytes > 1e15) return false;
  *out = Bandwidth::BytesPerSecond(static_cast<int64_t>(bytes));
  return true;
}

bool TakeDelay(absl::string_view text, Time* out) {
  double v = 0;
  absl::string_view unit;
  if (!SplitQuantity(text, &v, &unit) || PicosOfUnit(unit) == 0) return false;
  const double picos = v * PicosOfUnit(unit);
  if (picos > 1e12) return false;
  *out = Time::Picos(static_cast<int64_t>(std::round(picos)));
  return true;
}

absl::StatusOr<uint32_t> Reader::KindOf(const Word& rate, const Word& delay) {
  const auto [it, added] = kind_index_.try_emplace({rate.text, delay.text}, kinds_.size());
  if (!added) return it->second;
  Kind kind;
  if (!TakeRate(rate.text, &kind.rate)) {
    return Bad(rate, "rate", "a rate with its unit up to 1e15 B/s, as 400Gbps or 50GB/s");
  }
  if (!TakeDelay(delay.text, &kind.delay)) {
    return Bad(delay, "delay", "a time with its unit up to 1s, as 0.0005ms or 500ns");
  }
  kinds_.push_back(kind);
  return it->second;
}

absl::Status Reader::ReadLink() {
  Link link;
  uint64_t ends[2] = {0, 0};
  for (uint64_t& end : ends) {
    const Word w = words_.Next();
    RETURN_IF_ERROR(Number(w, absl::StrCat("link ", links_.size(), ": node"), nodes_ - 1, &end));
    if (&end == &ends[1] && ends[0] == ends[1])
      return Bad(w, "second node", "a different node from the first");
  }
  link.a = static_cast<uint32_t>(ends[0]);
  link.b = static_cast<uint32_t>(ends[1]);
  const Word rate = words_.Next(), delay = words_.Next(), error = words_.Next();
  ASSIGN_OR_RETURN(link.kind, KindOf(rate, delay));
  if (!absl::SimpleAtod(error.text, &link.loss) || !(link.loss >= 0 && link.loss < 1)) {
    return Bad(error, "error rate", "the share of the packets lost, from 0 to below 1");
  }
  links_.push_back(link);
  return absl::OkStatus();
}

absl::Status Reader::ReadLinks() {
  links_.reserve(link_count_);
  std::vector<bool> linked(nodes_, false);
  for (uint64_t i = 0; i < link_count_; ++i) {
    RETURN_IF_ERROR(ReadLink());
    linked[links_.back().a] = linked[links_.back().b] = true;
  }
  if (const Word w = words_.Next(); !w.text.empty()) {
    return Bad(w, "the word after the last link",
               absl::StrCat("the end of the file, or more links in the header than ", link_count_));
  }
  for (size_t v = 0; v < nodes_; ++v) {
    if (role_[v] == Role::kHost && !linked[v] && nodes_ > 1) {
      return BadNetwork(file_, absl::StrCat("node ", v,
                                            " is a host without a link; expected a link, or its "
                                            "number among the switches"));
    }
  }
  return absl::OkStatus();
}

// By node: the number of links to the nearest host; 0: no path.
std::vector<int> Reader::Tiers() const {
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (const Link& l : links_) links.emplace_back(l.a, l.b);
  std::vector<uint32_t> hosts;
  for (uint32_t v = 0; v < nodes_; ++v) {
    if (role_[v] == Role::kHost) hosts.push_back(v);
  }
  std::vector<int> tier = LinksToNearest(nodes_, links, hosts);
  for (int& t : tier) t = std::max(t, 0);
  return tier;
}

// Adds hosts, NVSwitches and switches; a kind with several tiers gets one group for each tier.
void Reader::AddNodes(std::vector<uint32_t>* number) {
  const std::vector<int> tier = Tiers();
  std::map<std::pair<Role, int>, std::vector<uint32_t>> groups;
  std::map<Role, int> tiers;
  for (uint32_t v = 0; v < nodes_; ++v) groups[{role_[v], tier[v]}].push_back(v);
  for (const auto& [key, nodes] : groups) ++tiers[key.first];
  number->assign(nodes_, 0);
  for (const auto& [key, nodes] : groups) {
    const auto [role, t] = key;
    std::string name = role == Role::kHost ? "device" : role == Role::kNvSwitch ? "nvswitch" : "switch";
    if (tiers[role] > 1) absl::StrAppend(&name, "_tier", t);
    const VertexKind kind = role == Role::kHost       ? VertexKind::kDevice
                            : role == Role::kNvSwitch ? VertexKind::kNvSwitch
                                                      : VertexKind::kSwitch;
    uint32_t next = assembly_.AddVertices(name, kind, static_cast<uint32_t>(nodes.size()));
    for (const uint32_t v : nodes) (*number)[v] = next++;
    if (role == Role::kHost && nodes.back() + 1 != nodes.size()) {
      notes_.push_back(absl::StrCat("the hosts are not the first nodes: ranks 0 to ", nodes.size() - 1,
                                    " are nodes ", PrintRuns(nodes)));
    } else if (role != Role::kHost) {
      notes_.push_back(absl::StrCat(name, ": nodes ", PrintRuns(nodes)));
    }
    nodes_of_.push_back(nodes);
  }
}

absl::Status Reader::CheckReach() {
  auto cut = assembly_.FindCutOff(/*forward=*/false);
  if (cut && switches_ + nvswitches_ == 0) {
    cut = assembly_.FindCutOff(/*forward=*/true);
    assembly_.set_devices_forward(true);
    if (!cut) notes_.push_back("there are no switches: hosts forward messages");
  }
  if (!cut) return absl::OkStatus();
  const std::vector<uint32_t>& hosts = nodes_of_[0];
  return BadNetwork(file_, absl::StrCat("node ", hosts[cut->second], " (rank ", cut->second,
                                        ") cannot be reached from node ", hosts[cut->first], " (rank ",
                                        cut->first, "); expected links through switches between all hosts"));
}

absl::StatusOr<ReadNetwork> Reader::Assemble() {
  std::vector<uint32_t> number;
  AddNodes(&number);
  constexpr absl::string_view kNames[] = {"device", "nvswitch", "switch"};
  std::map<std::pair<uint32_t, int>, uint16_t> classes;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Link& l : links_) {
    const auto low = std::min(role_[l.a], role_[l.b]), high = std::max(role_[l.a], role_[l.b]);
    const int roles = static_cast<int>(low) * 3 + static_cast<int>(high);
    const auto [it, added] = classes.try_emplace({l.kind, roles}, 0);
    if (added) {
      it->second = assembly_.AddClass(
          {absl::StrCat(kNames[static_cast<int>(low)], "-", kNames[static_cast<int>(high)]),
           kinds_[l.kind].rate, kinds_[l.kind].delay});
    }
    assembly_.AddLink(number[l.a], number[l.b], it->second, l.loss);
    pairs.emplace_back(std::min(l.a, l.b), std::max(l.a, l.b));
  }
  std::sort(pairs.begin(), pairs.end());
  const auto distinct = static_cast<size_t>(std::unique(pairs.begin(), pairs.end()) - pairs.begin());
  if (const size_t parallel = links_.size() - distinct; parallel > 0) {
    notes_.push_back(absl::StrCat(parallel, " of ", links_.size(),
                                  " links are parallel to another; all of them ",
                                  "are used (ns-3 routes over the last of such links only)"));
  }
  RETURN_IF_ERROR(CheckReach());
  ASSIGN_OR_RETURN(
      auto out, assembly_.Finish(
                    per_server_ == 0 ? "" : absl::StrCat(per_server_, " ", gpu_type_, " a server"), notes_));
  if (!out.losses.empty()) {
    out.notes.push_back(absl::StrCat(out.losses.size(), " links lose packets"));
  }
  return out;
}

}  // namespace

absl::StatusOr<ReadNetwork> ReadLinksFile(absl::string_view text, const std::string& file) {
  return Reader(text, file).Read();
}

}  // namespace chakra
