// Makes a graph from the instances of InfraGraph's devices and the edges between them, step by step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/inputs/infragraph_devices.h"
#include "backends/topology/inputs/infragraph_links.h"
#include "backends/topology/inputs/slice.h"

namespace chakra {

// Each object is used once. `graph` and `file` must outlive it.
class InfraExpander {
 public:
  InfraExpander(const infragraph::Annotated& graph, const std::string& file)
      : graph_(graph.infrastructure()),
        annotations_(graph.annotations()),
        file_(file),
        links_(file, annotations_),
        devices_(graph_, file, &links_),
        assembly_(file) {}

  absl::StatusOr<ReadNetwork> Expand() {
    for (const auto step :
         {&InfraExpander::AddInstances, &InfraExpander::AddEdges, &InfraExpander::DropRepeats,
          &InfraExpander::AnnotateNodes, &InfraExpander::AnnotateEdges, &InfraExpander::RankXpus}) {
      if (absl::Status s = (this->*step)(); !s.ok()) return s;
    }
    AddVertices();
    if (absl::Status s = ChooseForwarding(); !s.ok()) return s;
    return Finish();
  }

 private:
  struct Instance {
    const InfraDevice* device;
    uint32_t first;
    uint32_t count;
  };

  absl::Status Bad(absl::string_view what) const { return BadNetwork(file_, what); }
  absl::Status AddInstances();
  absl::Status AddEdges();
  absl::Status AddEdge(int i);
  absl::Status Ends(const infragraph::InfrastructureEndpoint& end, const std::string& where,
                    std::vector<uint32_t>* out);
  absl::Status Select(const std::vector<Slice>& path, bool partial, std::vector<uint32_t>* out);
  absl::Status DropRepeats();
  absl::Status Address(const std::string& name, const std::string& where, std::vector<uint32_t>* out);
  absl::Status AnnotateNodes();
  absl::Status AnnotateEdges();
  absl::Status RankXpus();
  bool InGroups() const;
  void AddVertices();
  absl::Status ChooseForwarding();
  absl::StatusOr<ReadNetwork> Finish();
  bool Is(uint32_t v, int choice) const { return choice_[v] == choice; }
  std::string NameOf(uint32_t v) const;

  const infragraph::Infrastructure& graph_;
  const infragraph::Annotation& annotations_;
  const std::string& file_;
  InfraLinks links_;
  InfraDevices devices_;
  NetworkAssembly assembly_;
  std::map<std::string, Instance> instances_;
  std::vector<const infragraph::Instance*> order_;
  std::vector<uint8_t> choice_;       // by vertex, in the order of instances
  std::vector<InfraEdge> edges_;      // a < b; sorted after DropRepeats()
  std::map<uint32_t, int64_t> rank_;  // from annotations
  std::vector<uint32_t> xpus_;        // by rank
  std::vector<uint32_t> number_;      // number in the graph; NetworkGraph::kNone: not in the graph
  std::vector<std::string> notes_;
  bool forward_ = false, forward_given_ = false;
};

}  // namespace chakra
