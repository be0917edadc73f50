#include "probes/storage/params.hpp"

namespace fleetbench {

Json storage_params_schema() {
  return Json::parse(R"({
    "type": "object", "additionalProperties": false,
    "properties": {
      "directory": {
        "description": "folder on each node below which a scratch folder is made; empty: $TMPDIR, or else /var/tmp",
        "type": "string", "default": ""
      },
      "profiles": {
        "description": "what to measure, each with metrics of its own",
        "type": "array", "minItems": 1, "uniqueItems": true,
        "items": {"type": "string", "enum": ["sequential", "small_files", "random_read", "shards", "checkpoint"]},
        "default": ["sequential", "small_files", "random_read"]
      },
      "shared": {
        "description": "measure on a network or cluster file system, which all nodes load together; without this such a folder is left alone",
        "type": "boolean", "default": false
      },
      "share_of_free": {
        "description": "at most this share of what is free in the folder is written",
        "type": "number", "exclusiveMinimum": 0, "maximum": 0.9, "default": 0.2
      },
      "repetitions": {
        "description": "how often each figure is taken in a measurement; their median counts",
        "type": "integer", "minimum": 1, "maximum": 100, "default": 3
      },
      "fio_limit_s": {
        "description": "longest that fio may take for one profile; then it is ended and the profile failed",
        "type": "number", "minimum": 0.1, "maximum": 86400, "default": 50
      },
      "sequential_bytes": {
        "description": "read in a repetition of sequential by all readers together; fio counts milliseconds, so let it take 0.1 s and more",
        "type": "integer", "minimum": 1048576, "maximum": 17592186044416, "default": 134217728
      },
      "sequential_readers": {
        "description": "files that sequential reads at a time",
        "type": "integer", "minimum": 1, "maximum": 256, "default": 4
      },
      "small_files": {
        "description": "files that small_files works on",
        "type": "integer", "minimum": 1, "maximum": 10000000, "default": 500
      },
      "small_file_bytes": {
        "description": "bytes in each of them",
        "type": "integer", "minimum": 0, "maximum": 67108864, "default": 16384
      },
      "small_file_threads": {
        "description": "threads that work on them at a time",
        "type": "integer", "minimum": 1, "maximum": 256, "default": 4
      },
      "files_per_folder": {
        "description": "at most this many of them in a folder",
        "type": "integer", "minimum": 1, "maximum": 1000000, "default": 100
      },
      "random_bytes": {
        "description": "size of the file of random_read",
        "type": "integer", "minimum": 1048576, "maximum": 17592186044416, "default": 67108864
      },
      "random_operations": {
        "description": "reads in a repetition of random_read",
        "type": "integer", "minimum": 1, "maximum": 1000000000, "default": 4000
      },
      "queue_depth": {
        "description": "reads of random_read under way at a time",
        "type": "integer", "minimum": 1, "maximum": 1024, "default": 32
      },
      "engine": {
        "description": "how random_read keeps them under way: libaio from one thread; psync, for a fio without libaio, with a thread for each",
        "type": "string", "enum": ["libaio", "psync"], "default": "libaio"
      },
      "shards": {
        "description": "shard files that shards reads; rounded up to a multiple of the readers",
        "type": "integer", "minimum": 1, "maximum": 100000, "default": 4
      },
      "shard_bytes": {
        "description": "size of a shard",
        "type": "integer", "minimum": 262144, "maximum": 1099511627776, "default": 104857600
      },
      "shard_readers": {
        "description": "readers of shards at a time",
        "type": "integer", "minimum": 1, "maximum": 256, "default": 4
      },
      "checkpoint_bytes": {
        "description": "size of the file that checkpoint writes",
        "type": "integer", "minimum": 1048576, "maximum": 17592186044416, "default": 268435456
      }
    }
  })");
}

}  // namespace fleetbench
