#include "probes/support/network_file_systems.hpp"

#include <algorithm>
#include <array>

namespace fleetbench {
namespace {

constexpr std::array<std::string_view, 30> kShared = {
    "nfs",     "nfs4", "lustre", "gpfs",  "mmfs",     "ceph",  "beegfs",  "beegfs_nodev",
    "fhgfs",   "cifs", "smb3",   "smbfs", "9p",       "afs",   "openafs", "virtiofs",
    "ocfs2",   "gfs2", "gfs",    "pvfs2", "orangefs", "panfs", "wekafs",  "glusterfs",
    "quobyte", "daos", "coda",   "ncpfs", "dvs",      "vxfs"};

constexpr std::array<std::string_view, 9> kLocalFuse = {
    "fuseblk",       "fuse.ntfs-3g", "fuse.ntfs",      "fuse.exfat", "fuse.fuse-overlayfs",
    "fuse.mergerfs", "fuse.bindfs",  "fuse.gocryptfs", "fuse.encfs"};

constexpr std::array<std::string_view, 3> kMemory = {"tmpfs", "ramfs", "devtmpfs"};

template <std::size_t count>
bool is_among(const std::array<std::string_view, count>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

}  // namespace

bool may_be_shared(std::string_view fs_type) {
  return is_among(kShared, fs_type) ||
         (fs_type.starts_with("fuse") && !is_among(kLocalFuse, fs_type));
}

bool is_memory(std::string_view fs_type) { return is_among(kMemory, fs_type); }

}  // namespace fleetbench
