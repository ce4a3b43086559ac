// The rates and latencies of InfraGraph's links.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/infragraph.pb.h"
#include "trace/base/units.h"

namespace chakra {

struct InfraLink {
  std::string name;
  Bandwidth bandwidth;
  Time latency;
  double loss = 0;
  bool operator==(const InfraLink&) const = default;
};

// How a link is used: facts that the link's message does not contain.
struct InfraLinkUse {
  const infragraph::Device* device = nullptr;  // null: between instances
  uint32_t xpu_edges = 0;                      // maximum number of edges of this link at one xpu
  bool has_xpu = false;                        // the device has an xpu
  bool at_port = false;                        // one of its edges ends at a port
};

class InfraLinks {
 public:
  InfraLinks(std::string file, const infragraph::Annotation& annotation)
      : file_(std::move(file)), annotation_(&annotation) {}

  // The number of a link with this use. Errors: see ExpandInfraGraph().
  absl::StatusOr<uint32_t> Resolve(const infragraph::Link& link, const InfraLinkUse& use);
  // Returns link `from` with changed attributes. Counts unknown attributes in unused().
  absl::StatusOr<uint32_t> Change(uint32_t from,
                                  const google::protobuf::RepeatedPtrField<infragraph::Attribute>& attributes,
                                  const std::string& where);

  const std::vector<InfraLink>& links() const { return links_; }
  const std::vector<std::string>& notes() const { return notes_; }
  void CountUnused(const std::string& attribute) { ++unused_[attribute]; }
  const std::map<std::string, int>& unused() const { return unused_; }

 private:
  absl::Status Fill(const infragraph::Link& link, const InfraLinkUse& use, const std::string& where,
                    InfraLink* out, bool* rate, bool* latency);
  absl::Status Apply(const infragraph::Attribute& attribute, const std::string& where, InfraLink* out,
                     bool* rate, bool* latency);
  uint32_t Add(InfraLink link);

  std::string file_;
  const infragraph::Annotation* annotation_;
  std::vector<InfraLink> links_;
  std::map<std::tuple<std::string, int64_t, int64_t, double>, uint32_t> index_;
  std::vector<std::string> notes_;
  std::map<std::string, int> unused_;
};

}  // namespace chakra
