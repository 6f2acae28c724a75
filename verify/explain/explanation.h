#ifndef VOLTCHECK_VERIFY_EXPLAIN_EXPLANATION_H_
#define VOLTCHECK_VERIFY_EXPLAIN_EXPLANATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/record.h"

namespace voltcheck::explain {

/// A value on each side. The device and the model are as the kernels compute; `fp32` and `fp64` are
/// the references. All four start from the same input of the stage, the device's own, except for
/// logits, where each has its own output of the stage.
struct Sides {
  std::optional<double> device;  ///< absent where the device does not tell
  std::optional<double> model;   ///< the order-faithful model
  double fp32 = 0;
  double fp64 = 0;
};

/// One step on the way to the element. For a GEMM a k-step of four rows: the sums so far, over the
/// splits before it and its own; the device's is what it gives for an input that ends there,
/// rounded to half.
struct Step {
  std::string label;  ///< "k 64..67", "route 3", "exp(-gate)"
  int split = -1;
  int k = -1;  ///< first row of K
  Sides sum;
  std::optional<double> model_half;  ///< `model`, rounded to half as the device's is
  bool differs = false;              ///< the device's value is there and is not model_half
};

/// What enters the sum at one k: the activation, and the weight with what it is made of. Of an
/// output: the route's router weight, and W2's output of its row.
struct Factor {
  int k = 0;
  double activation = 0;
  double weight = 0;
  int nibble = -1;  ///< -1: no packed weight (logits)
  int zero = -1;
  double scale = 0;
  int group = -1;
  int word = -1;   ///< column of the packed word
  int place = -1;  ///< nibble of the word
};

/// Where a row of a stage comes from.
struct RowRoute {
  int row = -1;   ///< permuted
  int slot = -1;  ///< token * top_k + route
  int token = -1;
  int route = -1;
  int expert = -1;
  int segment = -1;  ///< number of the run of rows with this expert
  int segment_begin = -1, segment_end = -1;
  float router_weight = 0;
};

/// How one element of a stage's output came about.
struct Explanation {
  verify::Stage stage = verify::Stage::kW13;
  int row = 0;
  int col = 0;
  std::string descriptor;
  std::string what;                ///< "gate 17 of slot 5"
  std::vector<std::string> notes;  ///< what is special, a sentence each
  std::vector<RowRoute> routes;    ///< one; for output and logits one for each route of the token
  std::vector<Step> steps;
  std::vector<Factor> factors;   ///< of a GEMM, an output or a logit, by k
  Sides result;                  ///< rounded to half where the stage rounds
  std::optional<double> budget;  ///< on the stage's own input; of a logit end to end
  std::string tactic;            ///< of a GEMM
  int departure = -1;            ///< index of the step at which the device leaves the model
};

}  // namespace voltcheck::explain

#endif  // VOLTCHECK_VERIFY_EXPLAIN_EXPLANATION_H_
