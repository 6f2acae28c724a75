// Entry point of every test program. RapidCheck draws its seed from the random device unless it is
// told one, and with `reproduce=` in RC_PARAMS every other property passes without running: both
// would make a green run mean nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const char* params = std::getenv("RC_PARAMS");
  if (params != nullptr && std::strstr(params, "reproduce=") != nullptr &&
      std::getenv("CI") != nullptr) {
    std::fprintf(stderr, "RC_PARAMS: reproduce= skips properties; unset it to run the tests\n");
    return 2;
  }
  if (params == nullptr || std::strstr(params, "seed=") == nullptr) {
    const std::string with_seed = std::string(params == nullptr ? "" : params) + " seed=20240229";
    setenv("RC_PARAMS", with_seed.c_str(), 1);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
