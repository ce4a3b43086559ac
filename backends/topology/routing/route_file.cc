#include "backends/topology/routing/route_file.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

// The arc with number `which` among those from `from` to `to`; kNone: there are fewer.
uint32_t ArcNumber(const NetworkGraph& g, uint32_t from, uint32_t to, uint32_t which) {
  for (uint32_t arc = g.begin(from); arc < g.end(from); ++arc) {
    if (g.target(arc) == to && which-- == 0) return arc;
  }
  return NetworkGraph::kNone;
}

std::vector<absl::string_view> SplitWords(absl::string_view text) {
  return absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

constexpr char kForms[] =
    "expected \"SRC -> DST: VERTEX ... DST\", \"at VERTEX to DST via NEXT\" or \"at * to DST via NEXT\"";

}  // namespace

class RouteFileParser {
 public:
  RouteFileParser(absl::string_view name, const NetworkGraph& graph) : name_(name), graph_(graph) {
    file_.graph_ = &graph;
  }

  absl::StatusOr<RouteFile> Parse(absl::string_view text) {
    for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
      ++line_;
      const absl::string_view line = absl::StripAsciiWhitespace(whole.substr(0, whole.find('#')));
      if (line.empty()) continue;
      RETURN_IF_ERROR(Line(line));
    }
    RETURN_IF_ERROR(CheckHops());
    return std::move(file_);
  }

 private:
  // A vertex of a route, and which of the links to it.
  struct Stop {
    uint32_t vertex = 0, which = 0;
  };
  struct HopLine {
    uint32_t at, dst;  // at: kNone for "*"
    int line;
  };

  absl::Status Bad(absl::string_view what) const { return BadAt(line_, what); }
  absl::Status BadAt(int line, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ":", line, ": ", what));
  }

  absl::Status Line(absl::string_view line) {
    const size_t arrow = line.find("->");
    if (arrow != absl::string_view::npos) {
      const size_t colon = line.find(':', arrow);
      if (colon == absl::string_view::npos) return Bad(absl::StrCat("no \":\" after DST; ", kForms));
      return Route(absl::StripAsciiWhitespace(line.substr(0, arrow)),
                   absl::StripAsciiWhitespace(line.substr(arrow + 2, colon - arrow - 2)),
                   SplitWords(line.substr(colon + 1)));
    }
    const std::vector<absl::string_view> words = SplitWords(line);
    if (words.size() != 6 || words[0] != "at" || words[2] != "to" || words[4] != "via") {
      return Bad(absl::StrCat("\"", line.substr(0, 80), "\"; ", kForms));
    }
    return NextHop(words[1], words[3], words[5]);
  }

  absl::StatusOr<uint32_t> Vertex(absl::string_view name) const {
    auto v = graph_.FindVertex(name);
    if (!v.ok()) return Bad(v.status().message());
    return v;
  }

  absl::StatusOr<Stop> StopOf(absl::string_view text) const {
    Stop stop;
    const size_t slash = text.rfind('/');
    if (slash != absl::string_view::npos && !absl::SimpleAtoi(text.substr(slash + 1), &stop.which)) {
      return Bad(
          absl::StrCat("\"", text, "\"; expected a number after \"/\", the number of one of several links"));
    }
    ASSIGN_OR_RETURN(stop.vertex, Vertex(text.substr(0, slash)));
    return stop;
  }

  // The arc of a hop. Errors: no such arc; a vertex that does not forward.
  absl::StatusOr<uint32_t> Arc(uint32_t from, const Stop& to, uint32_t dst) const {
    const uint32_t arc = ArcNumber(graph_, from, to.vertex, to.which);
    if (arc == NetworkGraph::kNone) return Bad(NoLink(from, to));
    if (to.vertex != dst && !graph_.Forwards(to.vertex)) {
      return Bad(
          absl::StrCat(graph_.VertexName(to.vertex), " does not forward; expected it only at the end"));
    }
    return arc;
  }

  std::string NoLink(uint32_t from, const Stop& to) const {
    uint32_t links = 0;
    std::vector<std::string> beside;
    for (uint32_t arc = graph_.begin(from); arc < graph_.end(from); ++arc) {
      if (graph_.target(arc) == to.vertex) ++links;
      const std::string name = graph_.VertexName(graph_.target(arc));
      if (beside.size() < 9 && (beside.empty() || beside.back() != name)) beside.push_back(name);
    }
    const std::string pair = absl::StrCat(graph_.VertexName(from), " and ", graph_.VertexName(to.vertex));
    if (links > 0) {
      return absl::StrCat("there is no link ", to.which, " between ", pair, "; expected 0 to ", links - 1);
    }
    if (beside.size() == 9) beside.back() = "...";
    return absl::StrCat("there is no link between ", pair, "; ", graph_.VertexName(from), " is linked to ",
                        beside.empty() ? "nothing" : absl::StrJoin(beside, ", "));
  }

  // Stores the line of an entry. Error: a duplicate entry.
  template <typename Map, typename Key>
  absl::Status Once(Map* lines, const Key& key, absl::string_view what) {
    const auto [it, fresh] = lines->try_emplace(key, line_);
    if (fresh) return absl::OkStatus();
    return Bad(absl::StrCat(what, " is given already, in line ", it->second));
  }

  absl::Status Route(absl::string_view src_name, absl::string_view dst_name,
                     const std::vector<absl::string_view>& stops) {
    if (src_name == "*") return Bad("\"*\" as SRC; expected lines \"at * to DST via NEXT\" for all sources");
    ASSIGN_OR_RETURN(const auto src, Vertex(src_name));
    ASSIGN_OR_RETURN(const auto dst, Vertex(dst_name));
    if (src == dst) return Bad(absl::StrCat("a route from ", src_name, " to itself"));
    const std::string what = absl::StrCat("the route from ", src_name, " to ", dst_name);
    RETURN_IF_ERROR(Once(&route_lines_, RouteFile::Key(src, dst), what));
    const uint64_t begin = file_.arcs_.size();
    std::vector<uint32_t> passed = {src};
    for (const absl::string_view name : stops) {
      ASSIGN_OR_RETURN(const auto stop, StopOf(name));
      ASSIGN_OR_RETURN(const auto arc, Arc(passed.back(), stop, dst));
      passed.push_back(stop.vertex);
      file_.arcs_.push_back(arc);
    }
    const uint32_t last = passed.back();
    if (last != dst) {
      return Bad(
          absl::StrCat(what, " ends at ", graph_.VertexName(last), "; expected ", dst_name, " as the last"));
    }
    std::sort(passed.begin(), passed.end());
    const auto twice = std::adjacent_find(passed.begin(), passed.end());
    if (twice != passed.end()) {
      return Bad(absl::StrCat(what, " passes ", graph_.VertexName(*twice), " twice"));
    }
    file_.routes_[RouteFile::Key(src, dst)] = {begin, file_.arcs_.size()};
    return absl::OkStatus();
  }

  absl::Status NextHop(absl::string_view at_name, absl::string_view dst_name, absl::string_view next_name) {
    ASSIGN_OR_RETURN(const auto dst, Vertex(dst_name));
    ASSIGN_OR_RETURN(const auto next, StopOf(next_name));
    const std::string what = absl::StrCat("the hop at ", at_name, " to ", dst_name);
    if (at_name == "*") {
      if (next.vertex != dst && !graph_.Forwards(next.vertex)) {
        return Bad(absl::StrCat(next_name, " does not forward; expected a switch or ", dst_name));
      }
      if (!Reached(next)) return Bad(absl::StrCat("no vertex has that link to ", next_name));
      RETURN_IF_ERROR(Once(&any_lines_, dst, what));
      file_.anywhere_[dst] = {next.vertex, next.which};
      hop_lines_.push_back({NetworkGraph::kNone, dst, line_});
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const auto at, Vertex(at_name));
    if (at == dst) return Bad(absl::StrCat("a hop at ", at_name, " to itself"));
    RETURN_IF_ERROR(Once(&own_lines_, RouteFile::Key(at, dst), what));
    ASSIGN_OR_RETURN(file_.hops_[RouteFile::Key(at, dst)], Arc(at, next, dst));
    hop_lines_.push_back({at, dst, line_});
    return absl::OkStatus();
  }

  // Whether any vertex has link number `next.which` to `next.vertex`.
  bool Reached(const Stop& next) const {
    for (uint32_t arc = graph_.begin(next.vertex); arc < graph_.end(next.vertex); ++arc) {
      if (ArcNumber(graph_, graph_.target(arc), next.vertex, next.which) != NetworkGraph::kNone) return true;
    }
    return false;
  }

  // Follows every next hop to its destination, except hops that are known to arrive.
  absl::Status CheckHops() {
    absl::flat_hash_map<uint64_t, int> seen;  // (vertex, dst): the walk that visited it
    for (size_t walk = 0; walk < hop_lines_.size(); ++walk) {
      const HopLine& start = hop_lines_[walk];
      uint32_t at = start.at == NetworkGraph::kNone ? file_.anywhere_.at(start.dst).next : start.at;
      while (at != start.dst) {
        const auto [it, fresh] = seen.try_emplace(RouteFile::Key(at, start.dst), static_cast<int>(walk));
        if (!fresh && it->second != static_cast<int>(walk)) break;
        if (!fresh) return BadAt(start.line, Round(at, start.dst));
        const uint32_t arc = file_.Hop(at, start.dst);
        if (arc == NetworkGraph::kNone) {
          const std::string dst = graph_.VertexName(start.dst), end = graph_.VertexName(at);
          return BadAt(start.line, absl::StrCat("the hops to ", dst, " end at ", end,
                                                "; expected a line \"at ", end, " to ", dst, " via NEXT\""));
        }
        at = graph_.target(arc);
      }
    }
    return absl::OkStatus();
  }

  std::string Round(uint32_t start, uint32_t dst) const {
    std::string text =
        absl::StrCat("the hops to ", graph_.VertexName(dst), " form a cycle: ", graph_.VertexName(start));
    uint32_t at = start;
    for (int i = 0; i < 16; ++i) {
      at = graph_.target(file_.Hop(at, dst));
      absl::StrAppend(&text, ", ", graph_.VertexName(at));
      if (at == start) return text;
    }
    return absl::StrCat(text, ", ...");
  }

  absl::string_view name_;
  const NetworkGraph& graph_;
  int line_ = 0;
  RouteFile file_;
  std::vector<HopLine> hop_lines_;
  absl::flat_hash_map<uint64_t, int> route_lines_, own_lines_;
  absl::flat_hash_map<uint32_t, int> any_lines_;
};

absl::StatusOr<RouteFile> RouteFile::Parse(absl::string_view text, absl::string_view name,
                                           const NetworkGraph& graph) {
  return RouteFileParser(name, graph).Parse(text);
}

absl::StatusOr<RouteFile> RouteFile::Load(const std::string& path, const NetworkGraph& graph) {
  ASSIGN_OR_RETURN(const auto text, ReadFile(path));
  return Parse(text, path, graph);
}

uint32_t RouteFile::Hop(uint32_t at, uint32_t dst) const {
  if (const auto own = hops_.find(Key(at, dst)); own != hops_.end()) return own->second;
  const auto any = anywhere_.find(dst);
  if (any == anywhere_.end()) return NetworkGraph::kNone;
  return ArcNumber(*graph_, at, any->second.next, any->second.which);
}

bool RouteFile::Lookup(uint32_t src, uint32_t dst, std::vector<uint32_t>* arcs) const {
  if (const auto route = routes_.find(Key(src, dst)); route != routes_.end()) {
    const auto [begin, end] = route->second;
    arcs->insert(arcs->end(), arcs_.begin() + static_cast<std::ptrdiff_t>(begin),
                 arcs_.begin() + static_cast<std::ptrdiff_t>(end));
    return true;
  }
  if (src == dst || Hop(src, dst) == NetworkGraph::kNone) return false;
  for (uint32_t at = src; at != dst;) {
    const uint32_t arc = Hop(at, dst);
    arcs->push_back(arc);
    at = graph_->target(arc);
  }
  return true;
}

}  // namespace chakra
