// Clusters that Python creates and changes.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "replay/python/fields.h"
#include "replay/run/options.h"

namespace chakra::python {

class ClusterRoot : public Root {
 public:
  ClusterRoot(std::string spec, DescribedCluster cluster)
      : spec_(std::move(spec)), cluster_(std::make_shared<DescribedCluster>(std::move(cluster))) {}

  const google::protobuf::Message& Get() const override { return cluster_->cluster; }
  google::protobuf::Message& Change() override {
    if (cluster_.use_count() > 1) cluster_ = std::make_shared<DescribedCluster>(*cluster_);
    return cluster_->cluster;
  }
  std::string name() const override { return "cluster"; }
  const std::string& spec() const { return spec_; }
  // The cluster as it is now; later changes are not visible in it.
  std::shared_ptr<const DescribedCluster> snapshot() const { return cluster_; }

 private:
  std::string spec_;  // the --cluster argument for the cluster as it was read
  std::shared_ptr<DescribedCluster> cluster_;
};

struct Cluster : MessageRef {
  explicit Cluster(std::shared_ptr<ClusterRoot> of) : MessageRef(of, {}), cluster(std::move(of)) {}
  std::shared_ptr<ClusterRoot> cluster;
};

// The cluster of a preset, which is read only once, or of a file. Errors: those of LoadCluster().
Cluster ClusterOf(const std::string& spec);

void BindCluster(pybind11::module_& module);

}  // namespace chakra::python
