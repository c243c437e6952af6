// SPDX-License-Identifier: Apache-2.0
#include "present/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/file.h"

namespace hotset {
namespace {

struct Pipe {
  Fd read_end, write_end;
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
  }
};

TEST(Output, a_full_disk_is_an_output_error) {
  Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  Output output(full.get(), "the report");
  Result<> printed = output.line("{}");
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().code, ErrorCode::output);
  EXPECT_EQ(printed.error().object, "the report");
  EXPECT_FALSE(printed.error().remedy.empty());
}

TEST(Output, a_closed_descriptor_is_an_output_error) {
  Output output(-1);
  EXPECT_EQ(output.print("x").error().code, ErrorCode::output);
  EXPECT_EQ(output.finish().error().code, ErrorCode::output);
}

TEST(Output, a_reader_that_went_away_is_no_error_and_is_told) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.read_end.reset();
  Output output(pipe.write_end.get());
  EXPECT_TRUE(output.print("x"));
  EXPECT_TRUE(output.reader_gone());
  EXPECT_TRUE(output.print("more"));
}

TEST(Output, a_line_ends_with_a_line_feed) {
  Pipe pipe;
  Output output(pipe.write_end.get());
  ASSERT_TRUE(output.print("a"));
  ASSERT_TRUE(output.line("b"));
  ASSERT_TRUE(output.finish());
  pipe.write_end.reset();
  EXPECT_EQ(read_all(pipe.read_end.get(), "pipe").value(), "ab\n");
}

TEST(Output, waits_when_a_nonblocking_pipe_is_full) {
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK), 0);
  std::string text(1 << 20, 'x'); // more than a pipe holds
  std::size_t received = 0;
  std::thread reader([&] { received = read_all(pipe.read_end.get(), "pipe", text.size() * 2).value().size(); });
  Output output(pipe.write_end.get());
  EXPECT_TRUE(output.print(text));
  pipe.write_end.reset();
  reader.join();
  EXPECT_EQ(received, text.size());
}

} // namespace
} // namespace hotset
