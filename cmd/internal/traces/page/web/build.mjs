// Builds dist/index.html: one page with its script and style inlined. The last <script of the page
// is the program: toolman trace html puts the traces before it. `npm ci && npm run build` gives the
// same bytes everywhere. An argument is another folder than dist.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const common = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", target: ["es2022"], logLevel: "warning" };

async function built(entry, options) {
  const { outputFiles } = await build({ ...common, ...options, entryPoints: [fileURLToPath(new URL(entry, import.meta.url))] });
  return outputFiles[0].text.trim();
}

const script = (await built("src/main.ts", { format: "iife" })).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").replaceAll("<script", "<\\script");
const style = await built("src/style.css", {});
const page = readFileSync(new URL("src/index.html", import.meta.url), "utf8")
  .replace("<!--style-->", () => style)
  .replace("<!--script-->", () => script);
const dist = process.argv[2] ?? fileURLToPath(new URL("dist", import.meta.url));
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, "index.html"), page);
console.log(`dist/index.html: ${page.length} characters, ${Buffer.byteLength(page)} bytes`);
