#ifndef VOLTCHECK_TOOLS_LOGIT_CAPTURE_H_
#define VOLTCHECK_TOOLS_LOGIT_CAPTURE_H_

#include <string>

#include "verify/logits/capture.h"

namespace voltcheck::tools {

/// Opens a capture by what the file is: HDF5 (a fixture or run file), `.npy`, or else safetensors.
/// `tensor` names the tensor or dataset; empty: the one called `logits`, or the only one of rank 2
/// or more. Throws Error (status 2) with one line.
logits::Capture OpenLogits(const std::string& path, const std::string& tensor);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_LOGIT_CAPTURE_H_
