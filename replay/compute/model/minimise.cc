#include "replay/compute/model/minimise.h"

#include <algorithm>
#include <numeric>

namespace chakra {
namespace {

using Point = std::vector<double>;

struct Vertex {
  Point at;
  double loss;
};

class Simplex {
 public:
  Simplex(const std::function<double(const Point&)>& loss, const Point& start, double edge) : loss_(loss) {
    Add(start);
    for (size_t i = 0; i < start.size(); ++i) {
      Point p = start;
      p[i] += edge;
      Add(p);
    }
  }

  const Vertex& best() const { return vertices_.front(); }
  int calls() const { return calls_; }

  void Step() {
    const double n = static_cast<double>(vertices_.size() - 1);
    Point centre(vertices_.size() - 1, 0.0);
    for (size_t v = 0; v + 1 < vertices_.size(); ++v) {
      for (size_t i = 0; i < centre.size(); ++i) centre[i] += vertices_[v].at[i] / n;
    }
    const Vertex worst = vertices_.back();
    const auto along = [&](double by) {
      Point p = centre;
      for (size_t i = 0; i < p.size(); ++i) p[i] += by * (centre[i] - worst.at[i]);
      return Vertex{p, Loss(p)};
    };
    const Vertex reflected = along(1);
    if (reflected.loss < vertices_.front().loss) {
      const Vertex expanded = along(1 + 2 / n);
      Replace(expanded.loss < reflected.loss ? expanded : reflected);
    } else if (reflected.loss < vertices_[vertices_.size() - 2].loss) {
      Replace(reflected);
    } else {
      const double by = 0.75 - 0.5 / n;
      const Vertex contracted = along(reflected.loss < worst.loss ? by : -by);
      if (contracted.loss < std::min(reflected.loss, worst.loss)) {
        Replace(contracted);
      } else {
        Shrink(1 - 1 / n);
      }
    }
  }

 private:
  double Loss(const Point& p) {
    ++calls_;
    const double loss = loss_(p);
    return std::isfinite(loss) ? loss : HUGE_VAL;
  }
  void Add(const Point& p) {
    vertices_.push_back({p, Loss(p)});
    Sort();
  }
  void Replace(const Vertex& v) {
    vertices_.back() = v;
    Sort();
  }
  void Shrink(double by) {
    for (size_t v = 1; v < vertices_.size(); ++v) {
      for (size_t i = 0; i < vertices_[v].at.size(); ++i) {
        vertices_[v].at[i] = vertices_[0].at[i] + by * (vertices_[v].at[i] - vertices_[0].at[i]);
      }
      vertices_[v].loss = Loss(vertices_[v].at);
    }
    Sort();
  }
  void Sort() {
    std::stable_sort(vertices_.begin(), vertices_.end(),
                     [](const Vertex& a, const Vertex& b) { return a.loss < b.loss; });
  }

  const std::function<double(const Point&)>& loss_;
  std::vector<Vertex> vertices_;
  int calls_ = 0;
};

}  // namespace

std::vector<double> Minimise(const std::function<double(const std::vector<double>&)>& loss,
                             std::vector<double> start, int calls) {
  const auto of_logs = [&](const Point& logs) {
    Point p = logs;
    for (double& x : p) x = std::exp(x);
    return loss(p);
  };
  const std::function<double(const Point&)> function = of_logs;
  Point at = start;
  for (double& x : at) x = std::log(x);
  // Runs several simplices, each from the best point of the previous one, to leave local minima.
  constexpr double kEdges[] = {0.4, -0.3, 0.2, -0.5};
  for (double edge : kEdges) {
    Simplex simplex(function, at, edge);
    while (simplex.calls() < calls / 4) simplex.Step();
    at = simplex.best().at;
  }
  for (double& x : at) x = std::exp(x);
  return at;
}

}  // namespace chakra
