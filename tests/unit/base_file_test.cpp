// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hotset {
namespace {

// A directory of its own for each test, taken away after it.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "hotset-test.XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& name, std::string_view text) { std::ofstream(root_ + "/" + name) << text; }

  std::string root_;
};

TEST_F(FilesTest, reads_below_its_root) {
  put("x", "hello");
  EXPECT_EQ(Files(root_).read("/x").value(), "hello");
}

TEST_F(FilesTest, reads_a_file_whose_size_is_not_known_before) {
  Result<std::string> text = Files().read("/proc/self/status");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::HasSubstr("Pid:"));
}

TEST_F(FilesTest, refuses_a_file_that_is_too_long_instead_of_cutting_it) {
  put("long", std::string(100, 'x'));
  EXPECT_EQ(Files(root_).read("/long", 99).error().code, ErrorCode::bad_data);
  EXPECT_TRUE(Files(root_).read("/long", 100));
}

TEST_F(FilesTest, names_the_file_that_is_not_there) {
  Error error = Files(root_).read("/none").error();
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_THAT(to_sentence(error), testing::HasSubstr("/none"));
}

TEST_F(FilesTest, lists_names_in_order_without_dots) {
  put("b", "");
  put("a", "");
  EXPECT_THAT(Files(root_).list("/").value(), testing::ElementsAre("a", "b"));
}

TEST_F(FilesTest, replaces_a_file_whole_and_leaves_no_temporary_behind) {
  put("model", "old");
  ASSERT_TRUE(replace_file(root_ + "/model", "new"));
  EXPECT_EQ(Files(root_).read("/model").value(), "new");
  EXPECT_THAT(Files(root_).list("/").value(), testing::ElementsAre("model"));
  struct stat status{};
  ASSERT_EQ(::stat((root_ + "/model").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777 & ~0644U, 0U) << "nobody else may write it";
}

TEST_F(FilesTest, keeps_the_old_file_when_the_new_one_cannot_be_written) {
  put("model", "old");
  EXPECT_FALSE(replace_file(root_ + "/missing/model", "new"));
  EXPECT_EQ(Files(root_).read("/model").value(), "old");
}

TEST(ReplaceFile, writes_to_a_device_and_never_puts_a_file_in_its_place) {
  EXPECT_EQ(replace_file("/dev/full", "text").error().code, ErrorCode::output);
  struct stat status{};
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(WriteAll, to_a_full_disk_is_an_output_error) {
  Result<Fd> full = open_write("/dev/full");
  ASSERT_TRUE(full);
  EXPECT_EQ(write_all(full->get(), "x", "f").error().code, ErrorCode::output);
}

TEST(OpenWrite, where_nothing_can_be_written_is_an_output_error_with_a_remedy) {
  const Error error = open_write("/nonexistent/dir/file").error();
  EXPECT_EQ(error.code, ErrorCode::output);
  EXPECT_THAT(error.remedy, testing::HasSubstr("directory"));
}

TEST(ReplaceFile, that_cannot_be_written_is_told_by_the_name_that_was_asked_for) {
  EXPECT_EQ(to_sentence(replace_file("/nonexistent/model", "text").error()),
            "cannot write /nonexistent/model: No such file or directory; make its directory first, or choose another");
}

} // namespace
} // namespace hotset
