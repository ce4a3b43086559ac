#include "replay/collectives/custom/msccl_parse.h"

#include <algorithm>
#include <limits>
#include <map>
#include <pugixml.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace chakra::msccl {
namespace {

constexpr int kMaxGpus = 65536;
constexpr int kMaxChunks = 65536;
constexpr int kMaxChannels = 1024;
constexpr uint64_t kOldMaxBytes = uint64_t{128} << 20;  // microsoft/msccl's default, exclusive

const std::map<std::string, CollectiveType>& Collectives() {
  using T = CollectiveType;
  static const auto* names = new std::map<std::string, CollectiveType>{
      {"allgather", T::kAllGather},
      {"allreduce", T::kAllReduce},
      {"alltoall", T::kAllToAll},
      {"broadcast", T::kBroadcast},
      {"gather", T::kGather},
      {"reduce", T::kReduce},
      {"reduce_scatter", T::kReduceScatter},
      {"reducescatter", T::kReduceScatter},
      {"scatter", T::kScatter},
  };
  return *names;
}

class Parser {
 public:
  Parser(absl::string_view text, const std::string& path) : path_(path) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') newlines_.push_back(i);
    }
  }

  int LineAt(size_t offset) const {
    return static_cast<int>(std::lower_bound(newlines_.begin(), newlines_.end(), offset) -
                            newlines_.begin()) +
           1;
  }

  absl::StatusOr<Algo> Run(const pugi::xml_document& document) {
    const pugi::xml_node root = document.document_element();
    if (absl::string_view(root.name()) != "algo") {
      At(root);
      return Bad(absl::StrCat("element <", root.name(), ">; expected <algo>")).status_;
    }
    ReadAlgo(root);
    if (!status_.ok()) return status_;
    return std::move(algo_);
  }

 private:
  // Keeps the first error; values that are read after it do not matter.
  Parser& Bad(absl::string_view what) {
    if (status_.ok()) status_ = Error(path_, line_, gpu_, block_, step_, what);
    return *this;
  }
  void At(const pugi::xml_node& node) {
    line_ = LineAt(static_cast<size_t>(std::max<ptrdiff_t>(0, node.offset_debug())));
  }

  std::string Text(const pugi::xml_node& node, const char* name) {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) Bad(absl::StrCat("<", node.name(), "> has no attribute ", name));
    return attribute.value();
  }

  int64_t Number(const pugi::xml_node& node, const char* name, int64_t least, int64_t most) {
    const std::string text = Text(node, name);
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value) || value < least || value > most)
      Bad(absl::StrCat(name, "=\"", text, "\"; expected a number from ", least, " to ", most));
    return std::clamp(value, least, most);
  }
  int Int(const pugi::xml_node& node, const char* name, int least, int most) {
    return static_cast<int>(Number(node, name, least, most));
  }

  void ReadAlgo(const pugi::xml_node& node) {
    At(node);
    algo_.line = line_;
    algo_.name = Text(node, "name");
    if (algo_.name.empty() || algo_.name.size() > 63)
      Bad(absl::StrCat("a name of ", algo_.name.size(), " characters; expected 1 to 63"));
    const std::string proto = Text(node, "proto");
    if (proto != "Simple" && proto != "LL" && proto != "LL128")
      Bad(absl::StrCat("proto=\"", proto, "\"; expected Simple, LL or LL128"));
    algo_.proto = proto == "Simple" ? "simple" : proto == "LL" ? "ll" : "ll128";
    algo_.nchannels = Int(node, "nchannels", 1, kMaxChannels);
    algo_.nchunks = Int(node, "nchunksperloop", 1, kMaxChunks);
    const int gpus = Int(node, "ngpus", 2, kMaxGpus);
    const std::string coll = Text(node, "coll");
    const auto type = Collectives().find(coll);
    if (type == Collectives().end()) {
      std::string known;
      for (const auto& [name, unused] : Collectives())
        absl::StrAppend(&known, known.empty() ? "" : ", ", name);
      Bad(absl::StrCat("coll=\"", coll, "\"; expected one of: ", known));
    } else {
      algo_.type = type->second;
    }
    Window(node);
    Gpus(node, gpus);
  }

  // Reads which calls the algorithm serves, by size and by whether they work in place.
  void Window(const pugi::xml_node& node) {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const bool current = node.attribute("outofplace");  // rccl and msccl-executor-nccl require it
    algo_.in_place = Int(node, "inplace", 0, 1) == 1;
    algo_.out_of_place = current ? Int(node, "outofplace", 0, 1) == 1 : !algo_.in_place;
    if (!algo_.in_place && !algo_.out_of_place) Bad("inplace=\"0\" outofplace=\"0\"; expected one to be 1");
    if (current || node.attribute("minBytes"))
      algo_.min_bytes = static_cast<uint64_t>(Number(node, "minBytes", 0, kMax));
    uint64_t most = kOldMaxBytes;
    if (current || node.attribute("maxBytes"))
      most = static_cast<uint64_t>(Number(node, "maxBytes", 0, kMax));
    if (current) {
      algo_.max_bytes = most == 0 ? std::numeric_limits<uint64_t>::max() : most;
    } else {
      algo_.max_bytes = most == 0 ? 0 : most - 1;
    }
    if (algo_.max_bytes < algo_.min_bytes || (!current && most == 0))
      Bad(absl::StrCat("maxBytes ", most, "; expected more than minBytes ", algo_.min_bytes));
  }

  // The children named `name`, by their attribute id. Ids must run from 0 without gaps.
  std::vector<pugi::xml_node> ById(const pugi::xml_node& parent, const char* name) {
    std::vector<pugi::xml_node> nodes;
    for (const pugi::xml_node& child : parent.children(name)) nodes.push_back(child);
    std::vector<pugi::xml_node> sorted(nodes.size());
    for (const pugi::xml_node& child : nodes) {
      At(child);
      const int id = Int(child, "id", 0, static_cast<int>(nodes.size()) - 1);
      if (!status_.ok()) return {};
      pugi::xml_node& slot = sorted[static_cast<size_t>(id)];
      if (slot)
        Bad(absl::StrCat("a second <", name, "> with id ", id, "; expected each from 0 to ", nodes.size() - 1,
                         " once"));
      slot = child;
    }
    return sorted;
  }

  void Gpus(const pugi::xml_node& node, int expected) {
    const std::vector<pugi::xml_node> gpus = ById(node, "gpu");
    if (!status_.ok()) return;
    if (gpus.size() != static_cast<size_t>(expected)) {
      line_ = algo_.line;
      Bad(absl::StrCat(gpus.size(), " <gpu> elements; expected ngpus, ", expected));
      return;
    }
    for (gpu_ = 0; gpu_ < expected && status_.ok(); ++gpu_) {
      const pugi::xml_node& element = gpus[static_cast<size_t>(gpu_)];
      At(element);
      Gpu gpu;
      gpu.line = line_;
      gpu.chunks = {Int(element, "i_chunks", 0, kMaxChunks), Int(element, "o_chunks", 0, kMaxChunks),
                    Int(element, "s_chunks", 0, kMaxChunks)};
      const std::vector<pugi::xml_node> blocks = ById(element, "tb");
      for (block_ = 0; block_ < static_cast<int>(blocks.size()) && status_.ok(); ++block_)
        gpu.blocks.push_back(ReadBlock(blocks[static_cast<size_t>(block_)], expected, gpu));
      block_ = -1;
      algo_.gpus.push_back(std::move(gpu));
    }
    for (gpu_ = 0; gpu_ < expected && status_.ok(); ++gpu_)
      Dependencies(algo_.gpus[static_cast<size_t>(gpu_)]);
  }

  Block ReadBlock(const pugi::xml_node& node, int gpus, const Gpu& gpu) {
    At(node);
    Block block;
    block.line = line_;
    block.send = Int(node, "send", -1, gpus - 1);
    block.recv = Int(node, "recv", -1, gpus - 1);
    block.chan = Int(node, "chan", -1, algo_.nchannels - 1);
    if (block.send == gpu_ || block.recv == gpu_) Bad("exchanges messages with its own gpu");
    for (const pugi::xml_node& child : node.children("step")) {
      step_ = static_cast<int>(block.steps.size());
      At(child);
      block.steps.push_back(ReadStep(child, block, gpu));
      if (!status_.ok()) break;
    }
    step_ = -1;
    return block;
  }

  Step ReadStep(const pugi::xml_node& node, const Block& block, const Gpu& gpu) {
    constexpr int kMax = std::numeric_limits<int>::max();
    Step step;
    step.line = line_;
    if (Int(node, "s", 0, kMax) != step_)
      Bad(absl::StrCat("s=\"", node.attribute("s").value(), "\"; expected ", step_));
    const std::string type = Text(node, "type");
    const auto* known = std::find(std::begin(kOpNames), std::end(kOpNames), type);
    if (known == std::end(kOpNames)) {
      Bad(absl::StrCat("type=\"", type, "\"; expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop"));
      return step;
    }
    step.op = static_cast<Op>(known - std::begin(kOpNames));
    step.count = Int(node, "cnt", 0, kMaxChunks);
    step.depid = Int(node, "depid", -1, kMax);
    step.deps = Int(node, "deps", -1, kMax);
    step.hasdep = Int(node, "hasdep", 0, 1) == 1;
    if (Sends(step.op) && block.send < 0)
      Bad(absl::StrCat(type, " in a tb with send=\"-1\"; expected a peer"));
    if (Receives(step.op) && block.recv < 0)
      Bad(absl::StrCat(type, " in a tb with recv=\"-1\"; expected a peer"));
    if ((Sends(step.op) || Receives(step.op)) && block.chan < 0)
      Bad(absl::StrCat(type, " in a tb with chan=\"-1\"; expected a channel"));
    if (step.op == Op::kNop) return step;
    if (step.count < 1) Bad("cnt=\"0\"; expected 1 or more");
    const bool reads = step.op != Op::kRecv && step.op != Op::kRecvCopySend;
    const bool writes = step.op != Op::kSend && step.op != Op::kRecvReduceSend;
    if (reads) step.src = ReadPlace(node, "srcbuf", "srcoff", step.count, gpu);
    if (writes) step.dst = ReadPlace(node, "dstbuf", "dstoff", step.count, gpu);
    return step;
  }

  Place ReadPlace(const pugi::xml_node& node, const char* buffer, const char* offset, int count,
                  const Gpu& gpu) {
    static constexpr absl::string_view kNames[] = {"i", "o", "s"};
    Place place;
    const std::string name = Text(node, buffer);
    const auto* known = std::find(std::begin(kNames), std::end(kNames), name);
    if (known == std::end(kNames)) {
      Bad(absl::StrCat(buffer, "=\"", name, "\"; expected i, o or s"));
      return place;
    }
    place.buffer = static_cast<int>(known - std::begin(kNames));
    place.offset = Int(node, offset, 0, kMaxChunks);
    const int chunks = gpu.chunks[static_cast<size_t>(place.buffer)];
    if (place.offset + count > chunks)
      Bad(absl::StrCat(offset, " ", place.offset, " and cnt ", count, "; expected to end within ", chunks,
                       ", its ", name, "_chunks"));
    return place;
  }

  // Checks depid and deps, which name a thread block and one of its steps. That step or a later one must have
  // hasdep.
  void Dependencies(const Gpu& gpu) {
    const auto blocks = static_cast<int>(gpu.blocks.size());
    for (block_ = 0; block_ < blocks; ++block_) {
      const Block& block = gpu.blocks[static_cast<size_t>(block_)];
      for (step_ = 0; step_ < static_cast<int>(block.steps.size()); ++step_) {
        const Step& step = block.steps[static_cast<size_t>(step_)];
        line_ = step.line;
        if (step.depid < 0) {
          if (step.deps >= 0) Bad(absl::StrCat("deps=\"", step.deps, "\" with depid=\"-1\"; expected -1"));
          continue;
        }
        if (step.depid >= blocks) {
          Bad(absl::StrCat("depid=\"", step.depid, "\"; expected at most ", blocks - 1,
                           ", the last tb of the gpu"));
          continue;
        }
        const std::vector<Step>& other = gpu.blocks[static_cast<size_t>(step.depid)].steps;
        const auto steps = static_cast<int>(other.size());
        if (step.deps < 0 || step.deps >= steps) {
          Bad(absl::StrCat("deps=\"", step.deps, "\"; expected 0 to ", steps - 1, ", the steps of tb ",
                           step.depid));
          continue;
        }
        if (step.depid == block_ && step.deps >= step_) Bad("waits for itself or a later step of its own tb");
        const auto publishes = [](const Step& s) { return s.hasdep; };
        if (step.depid != block_ && std::none_of(other.begin() + step.deps, other.end(), publishes))
          Bad(absl::StrCat("waits for step ", step.deps, " of tb ", step.depid,
                           ", but neither it nor a later one has hasdep=\"1\""));
      }
      step_ = -1;
    }
    block_ = -1;
  }

  const std::string& path_;
  std::vector<size_t> newlines_;
  absl::Status status_;
  Algo algo_;
  int line_ = 1, gpu_ = -1, block_ = -1, step_ = -1;
};

}  // namespace

absl::Status Error(const std::string& path, int line, int gpu, int block, int step, absl::string_view what) {
  std::string place = absl::StrCat(path, ":", line, ": ");
  if (gpu >= 0) absl::StrAppend(&place, "gpu ", gpu, block >= 0 ? ", " : ": ");
  if (block >= 0) absl::StrAppend(&place, "tb ", block, step >= 0 ? ", " : ": ");
  if (step >= 0) absl::StrAppend(&place, "step ", step, ": ");
  return absl::InvalidArgumentError(absl::StrCat(place, what));
}

absl::StatusOr<Algo> Parse(absl::string_view text, const std::string& path) {
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  Parser parser(text, path);
  if (!result) {
    return Error(path, parser.LineAt(static_cast<size_t>(std::max<ptrdiff_t>(0, result.offset))), -1, -1, -1,
                 absl::StrCat("not XML: ", result.description()));
  }
  return parser.Run(document);
}

}  // namespace chakra::msccl
