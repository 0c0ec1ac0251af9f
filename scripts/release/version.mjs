/**
 * Sets the version of all packages and of the unreleased changelog sections.
 *
 *   pnpm release:version 0.2.0
 *
 * Called by: `pnpm release:version`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root, runMain } from '../tool.mjs';

/** All packages of the workspace share a version. */
const PACKAGES = ['.', 'server', 'server/ui', 'sdk', 'worker-sdk', 'e2e', 'examples'];
const CHANGELOGS = ['CHANGELOG.md', 'sdk/CHANGELOG.md', 'worker-sdk/CHANGELOG.md'];
/** Semantic Versioning 2.0.0, without build metadata. */
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
/** "Unreleased", or the version that comes next: "0.1.0 – unreleased". */
const UNRELEASED = /^## (?:Unreleased|\d\S* – unreleased)$/m;

export function setVersion(folder, version, date) {
  if (!VERSION.test(version)) throw new Error(`${version} is not a version such as 1.2.3`);
  const changed = [];
  for (const name of PACKAGES) {
    const file = join(name, 'package.json');
    const text = readFileSync(join(folder, file), 'utf8');
    changed.push([file, text.replace(/"version": "[^"]*"/, `"version": "${version}"`)]);
  }
  for (const file of CHANGELOGS) {
    const text = readFileSync(join(folder, file), 'utf8');
    const [heading] = UNRELEASED.exec(text) ?? [];
    if (heading === undefined) throw new Error(`${file} has no unreleased section`);
    changed.push([file, text.replace(heading, `## Unreleased\n\n## ${version} – ${date}`)]);
  }
  // Either everything is written or nothing.
  for (const [file, text] of changed) writeFileSync(join(folder, file), text);
}

/** The version that all packages have. Throws if they differ. */
export function commonVersion(folder) {
  const versions = PACKAGES.map((name) => {
    return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
  });
  const [version] = versions;
  if (versions.every((other) => other === version)) return version;
  throw new Error(`The packages have different versions: ${[...new Set(versions)].join(', ')}`);
}

/** Throws if a changelog has no entry or no date for the version. */
export function checkChangelogs(folder, version) {
  for (const file of CHANGELOGS) {
    const sections = readFileSync(join(folder, file), 'utf8').split(/^## /m);
    const section = sections.find(
      (text) => text.startsWith(`${version} – `) && !text.startsWith(`${version} – unreleased`),
    );
    if (section === undefined) {
      throw new Error(`${file} has no section ${version}: run pnpm release:version ${version}`);
    }
    if (!/^- /m.test(section)) throw new Error(`${file} says nothing about ${version}`);
  }
}

if (isMain(import.meta.url)) {
  await runMain(() => {
    const [version = ''] = process.argv.slice(2);
    setVersion(root, version, new Date().toISOString().slice(0, 10));
    console.log(`All packages have the version ${version}. Review the changelogs, and commit.`);
  });
}
