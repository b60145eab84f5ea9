/**
 * Compares scripts with their minified form, which pages get: only comments and white space may differ.
 * `just scripts` gives it each script that is sent to pages, and TypeScript by npx.
 */
"use strict";
const { execFileSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const { delimiter, join, resolve } = require("node:path");

const MINIFY = "import json, sys; from mcp_browser.dom.scripts import minified; print(json.dumps([*map(minified, json.load(sys.stdin))]))";
const ts = require(resolve(process.env.PATH.split(delimiter).find((folder) => existsSync(join(folder, "tsc"))), "../typescript"));

/** The nodes of a script from the first to the last token: what each is, the text of those without parts, and where. */
function nodesOf(text) {
  const file = ts.createSourceFile("script.js", text, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS);
  const errors = file.parseDiagnostics.map(({ messageText, start }) => ({ is: `error: ${messageText}`, at: start }));
  const nodes = (node) => {
    const parts = node.getChildren(file).filter((part) => !ts.isJSDoc(part));
    return [{ is: `${ts.SyntaxKind[node.kind]} ${parts.length ? "" : node.getText(file)}`, at: node.getStart(file) }, ...parts.flatMap(nodes)];
  };
  return { file, nodes: [...errors, ...nodes(file)] };
}

const paths = process.argv.slice(2);
const sources = paths.map((path) => readFileSync(path, "utf8"));
const minified = JSON.parse(execFileSync("python", ["-c", MINIFY], { input: JSON.stringify(sources), encoding: "utf8" }));
paths.forEach((path, number) => {
  const { file, nodes } = nodesOf(sources[number]);
  const { nodes: others } = nodesOf(minified[number]);
  const place = nodes.findIndex(({ is }, index) => is !== others[index]?.is);
  if (place < 0 && nodes.length === others.length) return;
  const { is, at } = nodes[place] ?? nodes.at(-1);
  console.error(`${path}:${file.getLineAndCharacterOfPosition(at).line + 1}: minified, ${is.trim()} is ${others[place]?.is.trim() ?? "missing"}`);
  process.exitCode = 1;
});
