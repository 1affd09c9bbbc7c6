// Fetches the fonts of documents and writes them gzipped into the folder given, where
// shared/typeset embeds them. Each package of npm is packed by itself and trusted only when its
// hash is the one pinned here. A font is written whole or not at all, with the licence of its package.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

const sources = [
  {
    source: "@embedpdf/fonts-latin@1.0.0",
    integrity: "sha512-LLYysdr8O6sRNzhmW3PbF3AeA8xnqvOi4XLFfIfNlW5uEZ+qsJdcfd78Q78sFJMhlaOAYFMziMMsnOzmx463rA==",
    fonts: { "NotoSans-Regular": "package/fonts/NotoSans-Regular.ttf", "NotoSans-Bold": "package/fonts/NotoSans-Bold.ttf" },
    licence: { "OFL-latin.txt": "package/LICENSE" },
  },
  {
    source: "@embedpdf/fonts-arabic@1.0.0",
    integrity: "sha512-SnGvQb+LwPZQO2WjjvlmXrJZolJUfLYbLZQSaYUw1vrQyMyJKT4LewvJGG+hZ+Yz2fz7OMIQ+4Gc98mGODZtOg==",
    fonts: {
      "NotoNaskhArabic-Regular": "package/fonts/NotoNaskhArabic-Regular.ttf",
      "NotoNaskhArabic-Bold": "package/fonts/NotoNaskhArabic-Bold.ttf",
    },
    licence: { "OFL-arabic.txt": "package/LICENSE" },
  },
  {
    source: "@expo-google-fonts/noto-sans-jp@0.4.3",
    integrity: "sha512-Fl+Z6vtD24HFAYsvzB0S9Nery1ly16B9PesdY0wBd+wEHAvkNglnkTUspU0HqGOubkmoa8zusJrKv6vDx1o70A==",
    fonts: { "NotoSansJP-Regular": "package/400Regular/NotoSansJP_400Regular.ttf" },
    licence: { "OFL-japanese.txt": "package/LICENSE_FONT" },
  },
];

const target = process.argv[2];
if (!target) {
  console.error("usage: node tools/fonts.mjs FOLDER");
  process.exit(2);
}

mkdirSync(".local", { recursive: true });
mkdirSync(target, { recursive: true });
const folder = mkdtempSync(join(".local", "fonts-"));
try {
  for (const { source, integrity, fonts, licence } of sources) {
    const packed = execFileSync("npm", ["pack", source, "--silent", "--pack-destination", folder], { encoding: "utf8" });
    const archive = join(folder, packed.trim().split("\n").pop());
    const found = "sha512-" + createHash("sha512").update(readFileSync(archive)).digest("base64");
    if (found !== integrity) {
      throw new Error(`${source} is not the file this project pins: ${found}, want ${integrity}`);
    }
    execFileSync("tar", ["-xzf", archive, "-C", folder, ...Object.values(fonts), ...Object.values(licence)]);
    for (const [name, path] of Object.entries(licence)) {
      copyFileSync(join(folder, path), join(target, name));
    }
    for (const [name, path] of Object.entries(fonts)) {
      const partial = join(folder, basename(path) + ".gz");
      writeFileSync(partial, gzipSync(readFileSync(join(folder, path)), { level: 9 }));
      renameSync(partial, join(target, name + ".ttf.gz"));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
