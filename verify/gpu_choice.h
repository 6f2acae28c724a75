#ifndef VOLTCHECK_VERIFY_GPU_CHOICE_H_
#define VOLTCHECK_VERIFY_GPU_CHOICE_H_

#include <string>
#include <vector>

namespace voltcheck::verify {

/// The GPUs that `text` asks for, by number: "" or "all" are all of the first one's kind, "0,2"
/// those. A run says of one kind of GPU what it does, so others of `names` are refused: Error
/// (status 2) for that, for a number that stands twice or that no GPU has; status 3 when there is
/// no GPU at all.
std::vector<int> PickGpus(const std::string& text, const std::vector<std::string>& names);

/// The same with the GPUs of this machine, which a child process looks for.
std::vector<int> ChooseGpus(const std::string& text);

/// What one of `processes` on one machine takes of its GPUs: its share of them where there are
/// enough, else one, which it shares with others.
std::vector<int> ShareOfGpus(const std::vector<int>& gpus, int process, int processes);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_GPU_CHOICE_H_
