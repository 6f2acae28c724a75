#ifndef VOLTCHECK_KERNELS_PLUGIN_STAGE_ARGUMENTS_H_
#define VOLTCHECK_KERNELS_PLUGIN_STAGE_ARGUMENTS_H_

#include <cstddef>
#include <vector>

#include "fixtures/case/case.h"
#include "kernels/plan.h"
#include "kernels/voltcheck_kernel.h"

namespace voltcheck::plugin {

/// The case in the words of voltcheck_kernel.h.
voltcheck_case ToPluginCase(const Case& c);

/// A step of a plugin is a launch like any other of a plan: these are its arguments, in the fixed
/// order that StageView reads. Tensors that the plan does not have are null.
std::vector<kernels::PlanArgument> StageArguments(const Case& c, const kernels::Plan& plan);

/// A launch's arguments as the plugin is handed them. Throws std::length_error for others.
class StageView {
 public:
  explicit StageView(const std::vector<std::vector<std::byte>>& arguments);
  StageView(const StageView&) = delete;
  StageView& operator=(const StageView&) = delete;
  const voltcheck_stage& stage() const { return stage_; }

 private:
  voltcheck_case shape_{};
  voltcheck_stage stage_{};
};

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_STAGE_ARGUMENTS_H_
