#include "verify/gpu_choice.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "fixtures/case/error.h"
#include "kernels/cuda/gpu_names.h"
#include "verify/in_child.h"

namespace voltcheck::verify {
namespace {

int ParseGpu(const std::string& word, std::size_t gpus) {
  int number = -1;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || result.ec != std::errc() || result.ptr != word.data() + word.size() ||
      number < 0) {
    throw BadInput("--gpus", "cannot be " + Quote(word), "give all, or numbers such as 0,2");
  }
  if (static_cast<std::size_t>(number) >= gpus) {
    throw BadInput("--gpus",
                   "there is no GPU " + word + ": this machine shows " + std::to_string(gpus),
                   "number them from 0");
  }
  return number;
}

// What the child tells: lines, each a name behind this, or an error's line behind the other.
constexpr char kName = 'N';
constexpr char kNone = 'E';

std::string NamesAsText() {
  std::string text;
  try {
    for (const std::string& name : cuda::GpuNames()) {
      text += kName + name + "\n";
    }
  } catch (const Error& error) {
    text = kNone + std::string(error.what()) + "\n";
  }
  return text;
}

}  // namespace

std::vector<int> PickGpus(const std::string& text, const std::vector<std::string>& names) {
  if (names.empty()) {
    throw Error(ExitStatus::kUnavailable,
                "this machine shows no NVIDIA GPU; see what nvidia-smi says, or use --device "
                "simulator");
  }
  std::vector<int> gpus;
  if (text.empty() || text == "all") {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == names.front()) {
        gpus.push_back(static_cast<int>(i));
      }
    }
    return gpus;
  }
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const int gpu = ParseGpu(word, names.size());
    if (std::find(gpus.begin(), gpus.end(), gpu) != gpus.end()) {
      throw BadInput("--gpus", "names GPU " + word + " twice", "name each once");
    }
    gpus.push_back(gpu);
    const std::string& first = names[static_cast<std::size_t>(gpus.front())];
    const std::string& name = names[static_cast<std::size_t>(gpu)];
    if (name != first) {
      throw BadInput(
          "--gpus",
          "GPU " + word + " is a " + name + ", GPU " + std::to_string(gpus.front()) + " a " + first,
          "run each kind by itself");
    }
  }
  if (text.back() == ',') {
    ParseGpu("", names.size());
  }
  return gpus;
}

std::vector<int> ChooseGpus(const std::string& text) {
  std::istringstream lines(InChild("GPUs", NamesAsText));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.front() == kNone) {
      throw Error(ExitStatus::kUnavailable, line.substr(1));
    }
    names.push_back(line.substr(1));
  }
  return PickGpus(text, names);
}

std::vector<int> ShareOfGpus(const std::vector<int>& gpus, int process, int processes) {
  const auto count = static_cast<int>(gpus.size());
  if (processes > count) {
    return {gpus[static_cast<std::size_t>(process % count)]};
  }
  std::vector<int> share;
  for (int i = process; i < count; i += processes) {
    share.push_back(gpus[static_cast<std::size_t>(i)]);
  }
  return share;
}

}  // namespace voltcheck::verify
