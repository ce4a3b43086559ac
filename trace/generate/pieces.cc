#include "trace/generate/pieces.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "trace/base/status_macros.h"
#include "trace/generate/check.h"

namespace chakra::generate {
namespace {

constexpr char kBalanced[] = "balanced";
// Maximum length of a layout after its repetitions are written out.
constexpr size_t kMostSymbols = 1 << 16;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status BadLayout(absl::string_view layout, absl::string_view what) {
  return Bad(absl::StrCat("parallel.layout is \"", layout, "\"; ", what));
}

// Writes out repetitions: "(tt|)*2" and "t*3" become "tt|tt|" and "ttt".
class LayoutText {
 public:
  explicit LayoutText(absl::string_view text) : whole_(text) {
    rest_ = absl::StrReplaceAll(text, {{",", ""}, {" ", ""}});
  }

  absl::StatusOr<std::string> Read() {
    absl::StatusOr<std::string> out = Sequence(0);
    if (out.ok() && at_ < rest_.size()) return Bad("a \")\" without its \"(\"");
    return out;
  }

 private:
  absl::Status Bad(absl::string_view what) const { return BadLayout(whole_, what); }

  absl::StatusOr<std::string> Sequence(int depth) {
    std::string out;
    if (depth > 8) return Bad("expected at most 8 nested parentheses");
    while (at_ < rest_.size() && rest_[at_] != ')') {
      std::string part(1, rest_[at_++]);
      if (part == "(") {
        ASSIGN_OR_RETURN(std::string inner, Sequence(depth + 1));
        if (at_ == rest_.size()) return Bad("a \"(\" without its \")\"");
        ++at_;
        part = std::move(inner);
      } else if (part.find_first_of("EtmL|") == std::string::npos) {
        return Bad(
            absl::StrCat("'", part, "' is not a layer; expected E, t, m, L, |, or a repetition as (tt|)*29"));
      }
      ASSIGN_OR_RETURN(int64_t times, Times());
      for (int64_t i = 0; i < times; ++i) {
        out += part;
        if (out.size() > kMostSymbols)
          return Bad(absl::StrCat("expected at most ", kMostSymbols, " layers and pieces"));
      }
    }
    return out;
  }

  // The number of "*29"; 1 if there is none.
  absl::StatusOr<int64_t> Times() {
    if (at_ == rest_.size() || rest_[at_] != '*') return 1;
    size_t end = at_ + 1;
    while (end < rest_.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[end]))) ++end;
    int64_t times = 0;
    if (!absl::SimpleAtoi(rest_.substr(at_ + 1, end - at_ - 1), &times) || times < 1 || times > 65536)
      return Bad("expected a number from 1 to 65536 after *");
    at_ = end;
    return times;
  }

  const absl::string_view whole_;
  std::string rest_;
  size_t at_ = 0;
};

bool IsText(const proto::Parallel& p) { return !p.layout().empty() && p.layout() != kBalanced; }

// The pieces of a layout without repetitions.
absl::StatusOr<std::vector<Piece>> Lay(absl::string_view layout, absl::string_view symbols,
                                       const ModelSize& model) {
  std::vector<Piece> pieces(1);
  int64_t layers = 0, further = 0, embeddings = 0, heads = 0;
  for (const char c : symbols) {
    if (c == '|') {
      pieces.emplace_back().first = layers + further;
      continue;
    }
    Piece& piece = pieces.back();
    if (c == 't' && further > 0) return BadLayout(layout, "expected each t before the first m");
    if (c == 't' || c == 'm') ++piece.layers;
    layers += c == 't' ? 1 : 0;
    further += c == 'm' ? 1 : 0;
    embeddings += c == 'E' ? 1 : 0;
    heads += c == 'L' ? 1 : 0;
    if (c == 'E' && (pieces.size() > 1 || layers > 0)) return BadLayout(layout, "expected E first");
    piece.embedding = piece.embedding || c == 'E';
    piece.head = piece.head || c == 'L';
  }
  if (further > 0 && pieces.back().first > model.layers)
    return BadLayout(layout, "expected m in the piece of L, whose head it shares");
  if (pieces.back().layers == 0 && !pieces.back().head)
    return BadLayout(layout, "expected L in the last piece");
  if (embeddings != 1) return BadLayout(layout, absl::StrCat("it has ", embeddings, " E; expected one"));
  if (heads != 1 || symbols.back() != 'L') return BadLayout(layout, "expected one L, at the end");
  if (layers != model.layers || further != model.mtp) {
    return BadLayout(layout,
                     absl::StrCat("it has ", layers, " t and ", further, " m; expected model.layers, ",
                                  model.layers, ", and model.mtp, ", model.mtp));
  }
  return pieces;
}

std::vector<Piece> Ends(std::vector<Piece> pieces) {
  pieces.front().embedding = true;
  pieces.back().head = true;
  return pieces;
}

// Torchtitan's rule (torchtitan/distributed/pipeline_parallel.py): embedding and head count as one layer
// each, and the first pieces get one more layer if the layers do not divide. Embedding and head may be pieces
// of their own. A layer of multi-token prediction is in the piece of the head, runs the head again, and
// counts twice.
absl::StatusOr<std::vector<Piece>> Balance(const ModelSize& model, int64_t count) {
  const int64_t all = model.layers + 2 * model.mtp + 2;
  if (count > model.layers + 2) {
    return Bad(absl::StrCat("parallel.pp makes ", count, " pieces of the model; expected at most ",
                            model.layers + 2, ": its layers, embedding and head"));
  }
  std::vector<Piece> pieces(static_cast<size_t>(count));
  int64_t layer = 0, left = all;
  for (int64_t i = 0; i < count; ++i) {
    Piece& piece = pieces[static_cast<size_t>(i)];
    piece.first = layer;
    const int64_t quota = (left + count - i - 1) / (count - i);
    const int64_t taken = i == 0 ? 1 : 0;
    piece.layers = std::clamp<int64_t>(quota - taken, 0, model.layers - layer);
    if (i + 1 == count) piece.layers = model.layers + model.mtp - layer;
    layer += piece.layers;
    left -= taken + piece.layers;
  }
  return Ends(std::move(pieces));
}

// `of_stage` layers on each stage, with equal shares for its pieces.
absl::StatusOr<std::vector<Piece>> ByStage(const std::vector<int64_t>& of_stage, const ModelSize& model,
                                           const Split& split) {
  const int64_t pieces_of_stage = split.model_pieces() / split.pp;
  std::vector<Piece> pieces(static_cast<size_t>(split.model_pieces()));
  int64_t layer = 0;
  for (int64_t i = 0; i < split.model_pieces(); ++i) {
    const PieceSpot at = SpotOf(split, i, false);
    const int64_t layers = of_stage[static_cast<size_t>(at.stage)];
    if (layers % pieces_of_stage != 0) {
      return Bad(absl::StrCat("stage ", at.stage, " has ", layers,
                              " layers; expected a multiple of parallel.vpp, ", pieces_of_stage,
                              NearestMultiple(layers, pieces_of_stage)));
    }
    pieces[static_cast<size_t>(i)].first = layer;
    pieces[static_cast<size_t>(i)].layers = layers / pieces_of_stage;
    layer += layers / pieces_of_stage;
  }
  pieces.back().layers += model.mtp;
  return Ends(std::move(pieces));
}

// Megatron-LM's --decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers.
absl::StatusOr<std::vector<Piece>> WithEnds(const proto::Parallel& p, const ModelSize& model,
                                            const Split& split) {
  if (split.pp == 1)
    return Bad("parallel.first_layers and last_layers are for stages; expected parallel.pp of more than 1");
  std::vector<int64_t> of_stage(static_cast<size_t>(split.pp), -1);
  if (p.has_first_layers()) of_stage.front() = p.first_layers();
  if (p.has_last_layers()) of_stage.back() = p.last_layers();
  int64_t rest = model.layers, others = 0;
  for (const int64_t n : of_stage) {
    rest -= std::max<int64_t>(n, 0);
    others += n < 0 ? 1 : 0;
  }
  if (rest < 0 || (others == 0 ? rest != 0 : rest % others != 0)) {
    return Bad(absl::StrCat("parallel.first_layers and last_layers leave ", rest, " of model.layers, ",
                            model.layers, ", to ", others, " stages; expected a multiple of them",
                            others > 0 && rest > 0 ? NearestMultiple(rest, others) : ""));
  }
  for (int64_t& n : of_stage) {
    if (n < 0) n = rest / others;
  }
  return ByStage(of_stage, model, split);
}

}  // namespace

int64_t PieceOf(const Split& split, int64_t stage, int64_t piece) {
  if (split.schedule == Schedule::kDualPipe) {
    const int64_t near = std::min(stage, split.pp - 1 - stage);
    return piece == 0 ? near : split.pp - 1 - near;
  }
  if (split.schedule == Schedule::kDualPipeV) return piece == 0 ? stage : 2 * split.pp - 1 - stage;
  return piece * split.pp + stage;
}

bool GoesBack(const Split& split, int64_t stage, int64_t number) {
  return split.schedule == Schedule::kDualPipe && number != stage;
}

PieceSpot SpotOf(const Split& split, int64_t number, bool back) {
  if (split.schedule == Schedule::kDualPipe) {
    return {back ? split.pp - 1 - number : number, number < split.pp / 2 ? 0 : 1};
  }
  if (split.schedule == Schedule::kDualPipeV)
    return number < split.pp ? PieceSpot{number, 0} : PieceSpot{2 * split.pp - 1 - number, 1};
  return {number % split.pp, number / split.pp};
}

absl::Status TakeLayout(const proto::Parallel& p, Split* split) {
  if (!p.layout().empty() && (p.has_first_layers() || p.has_last_layers())) {
    return Bad(
        "parallel.layout and parallel.first_layers or last_layers are both given; expected one of them");
  }
  if (!IsText(p)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string symbols, LayoutText(p.layout()).Read());
  const int64_t pieces = 1 + std::count(symbols.begin(), symbols.end(), '|');
  if (p.has_vpp() || split->pp == 1 || pieces % split->pp != 0 || p.schedule() == "dualpipev")
    return absl::OkStatus();
  split->vpp = pieces / split->pp;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Piece>> LayPieces(const proto::Workload& workload, const ModelSize& model,
                                             const Split& split) {
  const proto::Parallel& p = workload.parallel();
  const int64_t count = split.model_pieces();
  if (IsText(p)) {
    ASSIGN_OR_RETURN(const std::string symbols, LayoutText(p.layout()).Read());
    auto pieces = Lay(p.layout(), symbols, model);
    if (pieces.ok() && static_cast<int64_t>(pieces->size()) != count) {
      return BadLayout(p.layout(), absl::StrCat("it has ", pieces->size(),
                                                " pieces; expected parallel.pp * parallel.vpp, ", count));
    }
    return pieces;
  }
  if (p.has_first_layers() || p.has_last_layers()) return WithEnds(p, model, split);
  if (p.layout() == kBalanced || (workload.model().uneven() && model.layers % count != 0))
    return Balance(model, count);
  if (model.layers % count != 0) {
    return Bad(absl::StrCat("model.layers is ", model.layers, "; expected a multiple of ",
                            count > split.pp ? "parallel.pp * parallel.vpp" : "parallel.pp", ", ", count,
                            NearestMultiple(model.layers, count), "; or parallel.pp",
                            count > split.pp ? " * parallel.vpp" : "", " of ",
                            DivisorNear(count, model.layers), ", or parallel.layout=balanced"));
  }
  return ByStage(std::vector<int64_t>(static_cast<size_t>(split.pp), model.layers / split.pp), model, split);
}

}  // namespace chakra::generate
