// InfraGraph's devices, each expanded once: numbered components and the edges between them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/inputs/infragraph_links.h"
#include "backends/topology/inputs/slice.h"
#include "proto/infragraph.pb.h"

namespace chakra {

struct InfraEdge {
  uint32_t a, b;
  uint32_t link;  // in InfraLinks::links()
};

struct InfraDevice {
  // A component of the device. If it is a composed device, it has count x of->size vertices.
  struct Row {
    const infragraph::Component* component;
    uint32_t first;
    uint32_t count;
    const InfraDevice* of;  // null: a plain component
  };
  const infragraph::Device* device = nullptr;
  std::vector<Row> rows;
  uint32_t size = 0;             // vertices
  std::vector<uint8_t> choice;   // by vertex: infragraph::Component::Choice
  std::vector<InfraEdge> edges;  // including those of composed devices

  const Row* Find(absl::string_view name) const;
  std::vector<std::string> Names() const;
};

// Calls `fn` for each plain component below `device`, with its name ("cx5.1.port") and its first vertex.
void ForEachRow(const InfraDevice& device, const std::string& prefix, uint32_t base,
                const std::function<void(const InfraDevice::Row&, const std::string&, uint32_t)>& fn);

class InfraDevices {
 public:
  // The arguments must outlive the object.
  InfraDevices(const infragraph::Infrastructure& graph, std::string file, InfraLinks* links)
      : graph_(&graph), file_(std::move(file)), links_(links) {}

  // Errors: invalid names, choices or counts.
  absl::Status Check();
  // The device of a name, expanded on first use. Null for an unknown name.
  absl::StatusOr<const InfraDevice*> Get(absl::string_view name);
  std::vector<std::string> Names() const;

  // Appends the vertices that `path` selects in `device`, each plus `base`. `partial`: a path that is empty
  // or ends at a composed device selects everything below it.
  absl::Status Select(const InfraDevice& device, const std::vector<Slice>& path, uint32_t base, bool partial,
                      std::vector<uint32_t>* out);

  // Appends the edges of one rule. Errors begin with `where`.
  absl::Status Connect(infragraph::Scheme::Enum scheme, const std::vector<uint32_t>& left,
                       const std::vector<uint32_t>& right, const std::string& where,
                       std::vector<InfraEdge>* edges);
  // Adds to the counts of selected vertices and of edges. Errors: more than a file may have.
  absl::Status Spend(uint64_t vertices, uint64_t edges);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  absl::Status CheckDevice(const infragraph::Device& device);
  absl::Status Expand(const infragraph::Device& device, InfraDevice* out);
  absl::Status AddRow(const infragraph::Component& component, InfraDevice* out);
  absl::Status AddEdges(InfraDevice* out);
  absl::Status ResolveLinks(size_t first, InfraDevice* out);
  absl::Status Ends(const infragraph::DeviceEndpoint& end, const InfraDevice& device,
                    const std::string& where, std::vector<uint32_t>* out);

  const infragraph::Infrastructure* graph_;
  std::string file_;
  InfraLinks* links_;
  std::map<std::string, const infragraph::Device*> by_name_;
  std::map<std::string, std::unique_ptr<InfraDevice>> done_;
  std::vector<std::string> within_;  // devices being expanded, outermost first
  uint64_t selected_ = 0, edges_ = 0;
  std::vector<std::string> notes_;
};

// Errors: an empty name, a character that InfraGraph does not allow, or a bracket.
absl::Status CheckInfraName(absl::string_view what, absl::string_view name);

}  // namespace chakra
