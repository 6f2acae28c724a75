// Runs a fuzz target without a fuzzing compiler: over its corpus, so that every input that once
// mattered stays tested, and over a fixed number of mutants of each file, the same ones everywhere.
//
// usage: NAME_fuzz_test CORPUS_FOLDER MUTANTS
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// xorshift64*: all that is asked of it is to be the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
  std::size_t Below(std::size_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return bound == 0 ? 0 : static_cast<std::size_t>((state_ * 0x2545F4914F6CDD1DU) >> 11) % bound;
  }

 private:
  std::uint64_t state_;
};

// One to four small changes: a bit, an interesting byte, a cut, a piece twice, a piece of `other`.
std::string Mutate(const std::string& original, const std::string& other, Random& random) {
  static const std::string kBytes("\x00\xff\x7f\x80\"{}[](),:;=/.0123456789-+eE \n", 36);
  std::string text = original;
  for (std::size_t left = 1 + random.Below(4); left > 0 && !text.empty(); --left) {
    const std::size_t at = random.Below(text.size());
    const std::size_t length = 1 + random.Below(std::min<std::size_t>(text.size() - at, 32));
    switch (random.Below(6)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
        break;
      case 1:
        text[at] = kBytes[random.Below(kBytes.size())];
        break;
      case 2:
        text.insert(at, 1, kBytes[random.Below(kBytes.size())]);
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.replace(at, length, other.substr(random.Below(other.size() + 1), length));
        break;
    }
  }
  return text;
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER MUTANTS\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s holds no file\n", argv[1]);
    return 2;
  }
  const std::uint64_t mutants = std::strtoull(argv[2], nullptr, 10);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    std::printf("%s\n", files[i].c_str());
    std::fflush(stdout);  // a crash then names its file
    Run(corpus[i]);
    for (std::uint64_t m = 0; m < mutants; ++m) {
      Random random(i * mutants + m);
      Run(Mutate(corpus[i], corpus[random.Below(corpus.size())], random));
    }
  }
  return 0;
}
