// SPDX-License-Identifier: Apache-2.0
#include "window/image.h"

#include <cstring>

namespace hotset {
namespace {

constexpr std::size_t kHeaderWords = sizeof(window_header) / sizeof(__u64);
constexpr std::size_t kPublishedSlotWords = sizeof(window_published_slot) / sizeof(__u64);

std::size_t value_words(const WindowImage& image) {
  return image.layout == WINDOW_STARTS ? WINDOW_WORDS(image.counters) : kHeaderWords + image.counters;
}

} // namespace

WindowImage WindowImage::starts(std::size_t cpus, std::size_t counters) {
  WindowImage image;
  image.cpus = cpus;
  image.counters = counters;
  image.values.resize(cpus * value_words(image));
  return image;
}

WindowImage WindowImage::published(std::size_t cpus) {
  WindowImage image;
  image.layout = WINDOW_PUBLISHED;
  image.cpus = cpus;
  image.counters = WINDOW_PUBLISHED_COUNTERS;
  image.values.resize(cpus * value_words(image));
  image.slots.resize(cpus * WINDOW_SLOTS * kPublishedSlotWords);
  return image;
}

window_header WindowImage::header(std::size_t cpu) const {
  window_header header{};
  std::memcpy(&header, &values[cpu * value_words(*this)], sizeof(header));
  return header;
}

std::span<const __u64> WindowImage::totals(std::size_t cpu) const {
  return std::span(values).subspan(cpu * value_words(*this) + kHeaderWords, counters);
}

std::span<__u64> WindowImage::slot(std::size_t cpu, std::size_t index) {
  if (layout == WINDOW_PUBLISHED)
    return std::span(slots).subspan((index * cpus + cpu) * kPublishedSlotWords, kPublishedSlotWords);
  std::size_t first = cpu * value_words(*this) + kHeaderWords + counters;
  return std::span(values).subspan(first + index * (1 + counters), 1 + counters);
}

std::span<const __u64> WindowImage::slot(std::size_t cpu, std::size_t index) const {
  return const_cast<WindowImage*>(this)->slot(cpu, index); // which changes nothing
}

} // namespace hotset
