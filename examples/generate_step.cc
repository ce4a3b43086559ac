// Writes one training step of a small transformer as Chakra traces, and the file
// of its process groups: an example of the trace writer. Tensor x data x pipeline
// is 2 x 2 x 2, 8 ranks, or as it is told; a larger one is of a larger model,
// each stage having its layers.
//
//   generate_step DIRECTORY [TENSOR DATA STAGES]
//
// Rank = tensor + TENSOR * data + TENSOR * DATA * stage. Every stage holds four layers and runs
// four micro-batches forward, then backward (GPipe). Tensor parallelism
// all-reduces activations and their gradients, pipeline stages send and receive
// them, and data parallelism reduce-scatters each layer's gradients under the
// last backward pass and all-gathers the updated parameters (ZeRO-1).
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/et/writer.h"

namespace {

namespace et = ChakraProtoMsg;

struct Shape {
  int tensor = 2;
  int data = 2;
  int stages = 2;
  int ranks() const { return tensor * data * stages; }
};

Shape shape;                // set once, by main()
constexpr int kLayers = 4;  // of a stage
constexpr int kMicroBatches = 4;
constexpr int64_t kSequence = 2048;
constexpr int64_t kHidden = 4096;
constexpr int64_t kVocabulary = 32000;
constexpr int64_t kElement = 2;           // bytes of bf16
constexpr double kAssumedFlops = 400e12;  // for the recorded durations
constexpr int64_t kActivation = kSequence * kHidden * kElement;
int64_t LayerWeights() { return 12 * kHidden * kHidden / shape.tensor; }  // elements of a rank

// CUDA streams of the pretended recording.
enum Stream : int64_t {
  kComputeStream = 7,
  kTensorStream = 20,
  kPipelineStream = 24,
  kDataStream = 28,
  kCopyStream = 32
};

// Appends nodes to one rank's trace.
class Rank {
 public:
  Rank(int rank, chakra::EtWriter* out) : rank_(rank), out_(out) {}

  int tensor() const { return rank_ % shape.tensor; }
  int data() const { return rank_ / shape.tensor % shape.data; }
  int stage() const { return rank_ / (shape.tensor * shape.data); }
  const absl::Status& status() const { return status_; }

  uint64_t Compute(const std::string& name, int64_t operations, int64_t bytes,
                   const std::vector<uint64_t>& deps) {
    et::Node node = Begin(name, et::COMP_NODE, kComputeStream, deps);
    Attribute(&node, "num_ops")->set_int64_val(operations);
    Attribute(&node, "tensor_size")->set_uint64_val(static_cast<uint64_t>(bytes));
    node.set_duration_micros(static_cast<uint64_t>(static_cast<double>(operations) / kAssumedFlops * 1e6) +
                             1);
    return Add(node);
  }

  uint64_t Memory(const std::string& name, et::NodeType type, int64_t bytes,
                  const std::vector<uint64_t>& deps) {
    et::Node node = Begin(name, type, kCopyStream, deps);
    Attribute(&node, "tensor_size")->set_uint64_val(static_cast<uint64_t>(bytes));
    return Add(node);
  }

  uint64_t Collective(const std::string& name, et::CollectiveCommType type, int64_t bytes,
                      const std::string& group, Stream stream, const std::vector<uint64_t>& deps) {
    et::Node node = Begin(name, et::COMM_COLL_NODE, stream, deps);
    Attribute(&node, "comm_type")->set_int64_val(type);
    Attribute(&node, "comm_size")->set_int64_val(bytes);
    Attribute(&node, "pg_name")->set_string_val(group);
    return Add(node);
  }

  uint64_t Send(const std::string& name, int to, int tag, const std::vector<uint64_t>& deps) {
    return Message(name, et::COMM_SEND_NODE, rank_, to, tag, deps);
  }
  uint64_t Receive(const std::string& name, int from, int tag, const std::vector<uint64_t>& deps) {
    return Message(name, et::COMM_RECV_NODE, from, rank_, tag, deps);
  }

  // Neighbour in the pipeline.
  int Previous() const { return rank_ - shape.tensor * shape.data; }
  int Next() const { return rank_ + shape.tensor * shape.data; }
  // Groups as WriteGroups() numbers them.
  std::string TensorGroup() const { return std::to_string(1 + rank_ / shape.tensor); }
  std::string DataGroup() const {
    return std::to_string(1 + shape.ranks() / shape.tensor + tensor() + shape.tensor * stage());
  }

 private:
  et::Node Begin(const std::string& name, et::NodeType type, Stream stream,
                 const std::vector<uint64_t>& deps) {
    et::Node node;
    node.set_id(next_++);
    node.set_name(name);
    node.set_type(type);
    for (uint64_t d : deps) node.add_data_deps(d);
    Attribute(&node, "is_cpu_op")->set_bool_val(false);
    Attribute(&node, "stream")->set_int64_val(stream);
    return node;
  }

  static et::AttributeProto* Attribute(et::Node* node, const char* name) {
    et::AttributeProto* a = node->add_attr();
    a->set_name(name);
    return a;
  }

  uint64_t Message(const std::string& name, et::NodeType type, int from, int to, int tag,
                   const std::vector<uint64_t>& deps) {
    et::Node node = Begin(name, type, kPipelineStream, deps);
    Attribute(&node, "comm_size")->set_int64_val(kActivation);
    Attribute(&node, "comm_src")->set_int32_val(from);
    Attribute(&node, "comm_dst")->set_int32_val(to);
    Attribute(&node, "comm_tag")->set_int32_val(tag);
    return Add(node);
  }

  uint64_t Add(const et::Node& node) {
    if (status_.ok()) status_ = out_->AddNode(node);
    return node.id();
  }

  int rank_;
  chakra::EtWriter* out_;
  uint64_t next_ = 1;
  absl::Status status_;
};

int64_t AttentionOperations() {
  return (8 * kSequence * kHidden * kHidden + 4 * kSequence * kSequence * kHidden) / shape.tensor;
}
int64_t MlpOperations() { return 16 * kSequence * kHidden * kHidden / shape.tensor; }
int64_t HeadOperations() { return 2 * kSequence * kHidden * kVocabulary / shape.tensor; }

// Bytes that a block reads and writes: its weights and its activations.
int64_t BlockBytes(int64_t weights) { return weights / shape.tensor * kElement + 4 * kActivation; }
int64_t AttentionBytes() { return BlockBytes(4 * kHidden * kHidden); }
int64_t MlpBytes() { return BlockBytes(8 * kHidden * kHidden); }
int64_t HeadBytes() { return BlockBytes(kVocabulary * kHidden); }

// One micro-batch through the layers of a stage; returns its last node.
uint64_t Forward(Rank& r, int batch, uint64_t previous) {
  const std::string in = absl::StrCat("batch", batch);
  uint64_t at = previous;
  if (r.stage() == 0) {
    const uint64_t tokens = r.Memory(absl::StrCat(in, "/load_tokens"), et::MEM_LOAD_NODE, kSequence * 8, {});
    at = r.Compute(absl::StrCat(in, "/embedding"), kSequence * kHidden, 2 * kActivation, {tokens});
  } else {
    at = r.Receive(absl::StrCat(in, "/receive_activations"), r.Previous(), batch, {});
  }
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = absl::StrCat(in, "/layer", r.stage() * kLayers + layer, "/forward/");
    at = r.Compute(absl::StrCat(name, "attention"), AttentionOperations(), AttentionBytes(), {at});
    at = r.Collective(absl::StrCat(name, "attention_all_reduce"), et::ALL_REDUCE, kActivation,
                      r.TensorGroup(), kTensorStream, {at});
    at = r.Compute(absl::StrCat(name, "mlp"), MlpOperations(), MlpBytes(), {at});
    at = r.Collective(absl::StrCat(name, "mlp_all_reduce"), et::ALL_REDUCE, kActivation, r.TensorGroup(),
                      kTensorStream, {at});
  }
  if (r.stage() + 1 < shape.stages) {
    r.Send(absl::StrCat(in, "/send_activations"), r.Next(), batch, {at});
    return at;
  }
  return r.Compute(absl::StrCat(in, "/head_and_loss"), HeadOperations(), HeadBytes(), {at});
}

// The backward pass; a backward node costs twice its forward. Fills
// `gradients` with the node that ends each layer's.
uint64_t Backward(Rank& r, int batch, uint64_t forward, std::vector<uint64_t>* gradients) {
  const std::string in = absl::StrCat("batch", batch);
  uint64_t at = forward;
  if (r.stage() + 1 == shape.stages) {
    at = r.Compute(absl::StrCat(in, "/head_and_loss_backward"), 2 * HeadOperations(), 2 * HeadBytes(), {at});
  } else {
    at = r.Receive(absl::StrCat(in, "/receive_gradients"), r.Next(), kMicroBatches + batch, {forward});
  }
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    const std::string name = absl::StrCat(in, "/layer", r.stage() * kLayers + layer, "/backward/");
    at = r.Compute(absl::StrCat(name, "mlp"), 2 * MlpOperations(), 2 * MlpBytes(), {at});
    at = r.Collective(absl::StrCat(name, "mlp_all_reduce"), et::ALL_REDUCE, kActivation, r.TensorGroup(),
                      kTensorStream, {at});
    at = r.Compute(absl::StrCat(name, "attention"), 2 * AttentionOperations(), 2 * AttentionBytes(), {at});
    (*gradients)[layer] = at;
    at = r.Collective(absl::StrCat(name, "attention_all_reduce"), et::ALL_REDUCE, kActivation,
                      r.TensorGroup(), kTensorStream, {at});
  }
  if (r.stage() > 0) r.Send(absl::StrCat(in, "/send_gradients"), r.Previous(), kMicroBatches + batch, {at});
  return at;
}

// Reduces each layer's gradients, updates a shard of the parameters, gathers it.
void Optimize(Rank& r, const std::vector<uint64_t>& gradients) {
  const int64_t bytes = LayerWeights() * kElement;
  std::vector<uint64_t> reduced(kLayers);
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    reduced[layer] =
        r.Collective(absl::StrCat("layer", r.stage() * kLayers + layer, "/gradient_reduce_scatter"),
                     et::REDUCE_SCATTER, bytes, r.DataGroup(), kDataStream, {gradients[layer]});
  }
  std::vector<uint64_t> updated;
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = absl::StrCat("layer", r.stage() * kLayers + layer);
    // Adam: about 12 operations and 28 bytes (fp32 state) a parameter.
    const uint64_t step = r.Compute(absl::StrCat(name, "/adam"), 12 * LayerWeights() / shape.data,
                                    28 * LayerWeights() / shape.data, {reduced[layer]});
    updated.push_back(r.Collective(absl::StrCat(name, "/parameter_all_gather"), et::ALL_GATHER,
                                   bytes / shape.data, r.DataGroup(), kDataStream, {step}));
  }
  r.Memory("save_checkpoint_shard", et::MEM_STORE_NODE, kLayers * bytes / shape.data, updated);
}

absl::Status WriteRank(int rank, const std::string& path) {
  chakra::EtWriter writer(path);
  et::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  if (absl::Status s = writer.AddMetadata(metadata); !s.ok()) return s;
  Rank r(rank, &writer);
  std::vector<uint64_t> forward(kMicroBatches);
  uint64_t at = 0;
  for (int b = 0; b < kMicroBatches; ++b) at = forward[b] = Forward(r, b, at);
  std::vector<uint64_t> gradients(kLayers);
  for (int b = 0; b < kMicroBatches; ++b) Backward(r, b, forward[b], &gradients);
  Optimize(r, gradients);
  if (!r.status().ok()) return r.status();
  return writer.Finish();
}

void WriteGroup(int name, int first, int ranks, int step, std::ofstream* out) {
  *out << "\"" << name << "\": [";
  for (int i = 0; i < ranks; ++i) *out << (i > 0 ? ", " : "") << first + i * step;
  *out << "]";
}

// ASTRA-sim's form: group name to ranks. Tensor groups first, then data groups.
bool WriteGroups(const std::string& path) {
  std::ofstream out(path);
  int name = 0;
  out << "{";
  for (int first = 0; first < shape.ranks(); first += shape.tensor) {
    if (name++ > 0) out << ", ";
    WriteGroup(name, first, shape.tensor, 1, &out);
  }
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (int tensor = 0; tensor < shape.tensor; ++tensor) {
      const int first = tensor + shape.tensor * shape.data * stage;
      out << ", ";
      WriteGroup(++name, first, shape.data, shape.tensor, &out);
    }
  }
  out << "}\n";
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  const auto count = [&](int i, int* out) {
    return absl::SimpleAtoi(argv[i], out) && *out >= 1 && *out <= 64;
  };
  const bool shaped =
      argc == 5 && count(2, &shape.tensor) && count(3, &shape.data) && count(4, &shape.stages);
  constexpr char kUsage[] = "usage: generate_step DIRECTORY [TENSOR DATA STAGES], each from 1 to 64\n";
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if ((argc != 2 && !shaped) || first.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (first[0] == '-') {
    std::fprintf(stderr, "generate_step: no option %s; for a directory of this name: ./%s\n%s", argv[1],
                 argv[1], kUsage);
    return 2;
  }
  const std::string folder = argv[1];
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (int rank = 0; rank < shape.ranks(); ++rank) {
    const absl::Status status = WriteRank(rank, absl::StrCat(folder, "/workload.", rank, ".et.zst"));
    if (!status.ok()) {
      std::fprintf(stderr, "generate_step: %s\n", std::string(status.message()).c_str());
      return 1;
    }
  }
  if (!WriteGroups(folder + "/workload.json")) {
    std::fprintf(stderr, "generate_step: cannot write %s/workload.json\n", folder.c_str());
    return 1;
  }
  return 0;
}
