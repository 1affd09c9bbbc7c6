// Fetches the API reference page's script, Scalar, and writes it gzipped to
// the path given, where the root group embeds it. One package of npm is all the
// page needs, so it is packed by itself, without its tree of 300 dependencies,
// and trusted only when its hash is the one pinned here. The file is written
// whole or not at all.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const source = "@scalar/api-reference@1.46.4";
const integrity = "sha512-EpCcOG15Ry8DKNs/f5AdRA97s1B5kGPekzANpnK0j1IpyU4Sb/mfdyfB00WC+vUo7hfc4BFRSkkiPa5SSM7fng==";
const script = "package/dist/browser/standalone.js";

const target = process.argv[2];
if (!target) {
  console.error("usage: node tools/scalar.mjs FILE");
  process.exit(2);
}

mkdirSync(".local", { recursive: true });
const folder = mkdtempSync(join(".local", "scalar-"));
try {
  const packed = execFileSync("npm", ["pack", source, "--silent", "--pack-destination", folder], { encoding: "utf8" });
  const archive = join(folder, packed.trim().split("\n").pop());
  const found = "sha512-" + createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (found !== integrity) {
    throw new Error(`${source} is not the file this project pins: ${found}, want ${integrity}`);
  }
  execFileSync("tar", ["-xzf", archive, "-C", folder, script]);
  mkdirSync(dirname(target), { recursive: true });
  const partial = join(folder, "script.gz");
  writeFileSync(partial, gzipSync(readFileSync(join(folder, script)), { level: 9 }));
  renameSync(partial, target);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
