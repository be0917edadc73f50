// Workers, queue and consumer: order, and that nothing ever hangs.
#include "probes/images/loader.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

#include "probes/images/throughput.hpp"
#include "tests/unit/temporary_directory.hpp"

namespace fleetbench::images {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Ends the test program where `body` hangs: a thread that waits for ever cannot be joined.
template <typename Body>
auto within_deadline(Body body) {
  auto result = std::async(std::launch::async, body);
  if (result.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    std::fprintf(stderr, "hangs\n");
    std::abort();
  }
  return result.get();
}

std::string error_of(const std::function<void()>& body) {
  return within_deadline([&]() -> std::string {
    try {
      body();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  });
}

class Loaders : public testing::Test {
 protected:
  Loaders()
      : set_({.directory = directory_.path(),
              .forms = {Form::files, Form::tar, Form::tar_zst},
              .images = 32,
              .png_share = 0.125,
              .share_of_free = 0.5},
             2) {}

  static LoaderOptions options(int workers, int batch = 4) {
    return {.workers = workers, .batch = batch, .prefetch = 2, .crop = 32};
  }

  TemporaryDirectory directory_;
  ImageSet set_;
};

TEST_F(Loaders, GiveTheSameBatchesWithAnyNumberOfWorkers) {
  const auto batches = [&](int workers) {
    std::vector<std::vector<std::size_t>> images;
    std::vector<std::uint32_t> tensors;
    Loader loader(set_, Form::files, options(workers));
    for (int i = 0; i < 10; ++i) {
      auto batch = loader.next();
      images.push_back(batch->images);
      tensors.push_back(crc_of(batch->pages.bytes()));
      loader.give_back(std::move(batch));
    }
    return std::pair(images, tensors);
  };
  const auto one = within_deadline([&] { return batches(1); });
  EXPECT_EQ(one, within_deadline([&] { return batches(5); }));
  std::set<std::size_t> epoch;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(one.first[i].size(), 4U);
    epoch.insert(one.first[i].begin(), one.first[i].end());
  }
  EXPECT_EQ(epoch.size(), 32U);             // each image once
  EXPECT_EQ(one.first[8], one.first[0]);    // then again
  EXPECT_NE(one.second[8], one.second[0]);  // cropped elsewhere
  EXPECT_FALSE(std::is_sorted(one.first[0].begin(), one.first[0].end()) &&
               std::is_sorted(one.first[1].begin(), one.first[1].end()));
}

TEST_F(Loaders, ReadEachShardOnceAnEpochAndFromItsStart) {
  const auto batches = [&](Form form, int workers, int count) {
    return within_deadline([&] {
      std::vector<std::vector<std::size_t>> images;
      Loader loader(set_, form, options(workers));
      for (int i = 0; i < count; ++i) {
        auto batch = loader.next();
        images.push_back(batch->images);
        loader.give_back(std::move(batch));
      }
      return images;
    });
  };
  for (const Form form : {Form::tar, Form::tar_zst}) {
    std::set<std::size_t> epoch;
    for (const auto& images : batches(form, 1, 8)) {
      epoch.insert(images.begin(), images.end());
    }
    EXPECT_EQ(epoch.size(), 32U);
    // More workers than shards: each has one to itself, be it that of another too.
    for (const auto& images : batches(form, 4, 16)) {
      ASSERT_EQ(images.size(), 4U);
      EXPECT_EQ(images[0] % 4, 0U);
      for (std::size_t i = 1; i < images.size(); ++i) {
        EXPECT_EQ(images[i], images[0] + i);
      }
    }
  }
}

TEST_F(Loaders, EndWhereverTheConsumerStops) {
  for (const int taken : {0, 1, 7}) {
    for (const Form form : {Form::files, Form::tar_zst}) {
      within_deadline([&] {
        Loader loader(set_, form, options(3, 2));
        for (int i = 0; i < taken; ++i) {
          loader.next();  // not given back
        }
        return 0;
      });
    }
  }
}

TEST_F(Loaders, WaitForAConsumerThatIsSlow) {
  const auto times = within_deadline([&] {
    Loader loader(set_, Form::files, options(2, 1));
    while (loader.images_done() < 4) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(loader.images_done(), 4U);  // two ahead for each worker, and no more
    loader.next();
    while (loader.images_done() < 5) {
      std::this_thread::yield();
    }
    return loader.finish();
  });
  EXPECT_EQ(times.images, 5U);
  EXPECT_GT(times.idle_share(), 0);
  EXPECT_GT(times.per_image(Stage::decode), 0);
}

TEST_F(Loaders, TellWhatWentWrongInAWorker) {
  fs::resize_file(set_.file(9), 1000);
  fs::resize_file(set_.shard(Form::tar, 1), 100'000);
  fs::remove(set_.shard(Form::tar_zst, 0));
  const struct {
    Form form;
    const char* says;
  } cases[] = {{Form::files, "files/000009.jpg: image 000009.jpg cannot be decoded: libjpeg-turbo"},
               {Form::tar, "tar/00001.tar: "},
               {Form::tar_zst, "tar_zst/00000.tar.zst"}};
  for (const auto& c : cases) {
    for (const int workers : {1, 4}) {
      EXPECT_THAT(error_of([&] {
                    Loader loader(set_, c.form, options(workers));
                    for (int i = 0; i < 100; ++i) {
                      loader.give_back(loader.next());
                    }
                  }),
                  HasSubstr(c.says));
    }
  }
}

TEST_F(Loaders, TellAFailureThatNoBatchWaitedFor) {
  fs::remove_all(set_.folder());
  EXPECT_THAT(error_of([&] {
                while (true) {  // until a worker had the time to find out
                  Loader loader(set_, Form::files, options(2));
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                  loader.finish();
                }
              }),
              HasSubstr("No such file or directory"));
}

TEST_F(Loaders, TellThatAWorkerCannotStart) {
  auto broken = options(2);
  broken.on_start = [] { throw std::runtime_error("cannot be bound"); };
  EXPECT_EQ(error_of([&] { Loader(set_, Form::files, broken).next(); }), "cannot be bound");
}

TEST_F(Loaders, AreTimedInWindows) {
  const auto rate =
      within_deadline([&] { return measure_throughput(set_, Form::files, options(2), 5, 2); });
  ASSERT_EQ(rate.windows.size(), 5U);
  EXPECT_GT(rate.images_per_s(), 0);
  EXPECT_GE(rate.stages.images, 5U * 2 * 4);
  EXPECT_LT(rate.stages.images, 5U * 2 * 4 + 100);
}

TEST_F(Loaders, AConsumersWaitsAreCounted) {
  const auto waits =
      within_deadline([&] { return waits_of_consumer(set_, Form::tar, options(2), 7, 0.001); });
  EXPECT_EQ(waits.size(), 7U);
  EXPECT_TRUE(std::all_of(waits.begin(), waits.end(), [](double wait) { return wait >= 0; }));
}

TEST(BatchQueue, GivesBatchesInOrder) {
  BatchQueue queue(3, 16);
  auto first = queue.begin();
  auto second = queue.begin();
  auto third = queue.begin();
  third->batch->images = {3};
  first->batch->images = {1};
  second->batch->images = {2};
  queue.deliver(std::move(*third));
  queue.deliver(std::move(*first));
  EXPECT_EQ(queue.take()->images.at(0), 1U);
  queue.deliver(std::move(*second));
  auto batch = queue.take();
  EXPECT_EQ(batch->images.at(0), 2U);
  const Batch* address = batch.get();
  queue.give_back(std::move(batch));
  EXPECT_EQ(queue.take()->images.at(0), 3U);
  EXPECT_EQ(queue.begin()->batch.get(), address);
}

TEST(BatchQueue, NotesWhatWasDoneWhenABatchWasMade) {
  BatchQueue queue(2, 16);
  auto first = queue.begin();
  auto second = queue.begin();
  queue.count_image();
  queue.count_image();
  queue.deliver(std::move(*second));
  queue.count_image();
  queue.deliver(std::move(*first));
  const auto in_order_first = queue.take();
  const auto made_first = queue.take();
  EXPECT_EQ(made_first->images_done, 2U);
  EXPECT_EQ(in_order_first->images_done, 3U);
  EXPECT_LE(made_first->made_at, in_order_first->made_at);
}

TEST(BatchQueue, WakesEverybodyWhenItEnds) {
  const auto waits = [](const std::function<void(BatchQueue&)>& end) {
    BatchQueue queue(1, 16);
    const auto held = queue.begin();  // no more room, nothing ready
    auto worker = std::async(std::launch::async, [&] { return queue.begin().has_value(); });
    auto consumer = std::async(std::launch::async, [&]() -> std::string {
      try {
        queue.take();
      } catch (const std::exception& error) {
        return error.what();
      }
      return "a batch";
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    end(queue);
    EXPECT_FALSE(worker.get());
    EXPECT_FALSE(queue.begin().has_value());
    return consumer.get();
  };
  EXPECT_THAT(within_deadline([&] { return waits([](BatchQueue& queue) { queue.stop(); }); }),
              HasSubstr("has stopped"));
  const auto fail = [](BatchQueue& queue) {
    queue.fail(std::make_exception_ptr(std::runtime_error("first")));
    queue.fail(std::make_exception_ptr(std::runtime_error("second")));
  };
  EXPECT_EQ(within_deadline([&] { return waits(fail); }), "first");
}

}  // namespace
}  // namespace fleetbench::images
