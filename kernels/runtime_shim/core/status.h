#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STATUS_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STATUS_H_

#include <string>
#include <utility>

namespace voltcheck::shim {

/// The status numbers that CUDA's runtime and driver share (since CUDA 10.1), as far as the
/// stand-in gives them. Names and texts of all of them are in error_table.inc.
enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kInvalidPitch = 12,
  kInvalidSymbol = 13,
  kInvalidCopyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kUnsupportedLimit = 215,
  kInvalidPtx = 218,
  kInvalidSource = 300,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerNotEnabled = 705,
  kAssert = 710,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
  kCooperativeTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kGraphUpdateFailure = 910,
};

/// "cudaErrorInvalidValue"; null for a number that CUDA does not know.
const char* RuntimeName(int status);
/// "CUDA_ERROR_INVALID_VALUE"; null likewise.
const char* DriverName(int status);
/// "invalid argument"; null likewise.
const char* Text(int status);

/// A call that ends with a status other than success. `why` is for people (VOLTCHECK_VERBOSE).
class Refusal {
 public:
  explicit Refusal(Status status, std::string why = "") : status_(status), why_(std::move(why)) {}
  Status status() const { return status_; }
  const std::string& why() const { return why_; }

 private:
  Status status_;
  std::string why_;
};

inline void Require(bool holds, Status status = kInvalidValue, const char* why = "") {
  if (!holds) {
    throw Refusal(status, why);
  }
}

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_STATUS_H_
