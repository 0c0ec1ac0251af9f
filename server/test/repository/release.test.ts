/** A release gives all packages and changelogs its version, or changes nothing. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODULE = path.join(ROOT, 'scripts/release/version.mjs');
const PACKAGES = ['.', 'server', 'server/ui', 'sdk', 'worker-sdk', 'e2e', 'examples'];
const CHANGELOGS = ['CHANGELOG.md', 'sdk/CHANGELOG.md', 'worker-sdk/CHANGELOG.md'];
const FILES = [...PACKAGES.map((name) => path.join(name, 'package.json')), ...CHANGELOGS];

function copyFiles(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of FILES) cpSync(path.join(ROOT, file), path.join(folder, file));
  return folder;
}

/** Runs an expression with the functions of the module; throws with what the process printed. */
function evaluate(folder: string, expression: string): string {
  const script = `import * as release from ${JSON.stringify(MODULE)};
    const folder = ${JSON.stringify(folder)};
    console.log(${expression});`;
  const options = { encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], options).trim();
}

function contents(folder: string): readonly string[] {
  return FILES.map((file) => readFileSync(path.join(folder, file), 'utf8'));
}

it('sets the version of all packages, and dates the unreleased entries', () => {
  const folder = copyFiles();
  evaluate(folder, "release.setVersion(folder, '7.8.9', '2030-01-31')");
  expect(evaluate(folder, 'release.commonVersion(folder)')).toBe('7.8.9');
  expect(evaluate(folder, "release.checkChangelogs(folder, '7.8.9')")).toBe('undefined');
  for (const file of CHANGELOGS) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    expect(text).toMatch(/^## Unreleased\n\n## 7\.8\.9 – 2030-01-31\n\n### /m);
  }
});

it('changes nothing if the version is malformed or a changelog has nothing to release', () => {
  const folder = copyFiles();
  const before = contents(folder);
  expect(() => evaluate(folder, "release.setVersion(folder, 'next', '2030-01-31')")).toThrow(
    'next is not a version such as 1.2.3',
  );
  expect(contents(folder)).toEqual(before);
  writeFileSync(path.join(folder, 'sdk/CHANGELOG.md'), '# Changelog\n');
  const changed = contents(folder);
  expect(() => evaluate(folder, "release.setVersion(folder, '1.0.0', '2030-01-31')")).toThrow(
    'sdk/CHANGELOG.md has no unreleased section',
  );
  expect(contents(folder)).toEqual(changed);
});

it.each(['Unreleased', '7.8.9 – unreleased'])('dates the section "%s"', (heading) => {
  const folder = copyFiles();
  for (const file of CHANGELOGS) {
    writeFileSync(path.join(folder, file), `# Changelog\n\n## ${heading}\n\n- It waits.\n`);
  }
  expect(() => evaluate(folder, "release.checkChangelogs(folder, '7.8.9')")).toThrow(
    'has no section 7.8.9: run pnpm release:version 7.8.9',
  );
  evaluate(folder, "release.setVersion(folder, '7.8.9', '2030-01-31')");
  expect(evaluate(folder, "release.checkChangelogs(folder, '7.8.9')")).toBe('undefined');
  for (const file of CHANGELOGS) {
    expect(readFileSync(path.join(folder, file), 'utf8')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 7.8.9 – 2030-01-31\n\n- It waits.\n',
    );
  }
});

it('is not ready while versions differ or a changelog is silent', () => {
  const folder = copyFiles();
  const file = path.join(folder, 'sdk/package.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/"version": "[^"]*"/, '"version": "0.0.1"'));
  expect(() => evaluate(folder, 'release.commonVersion(folder)')).toThrow('different versions');
  expect(() => evaluate(folder, "release.checkChangelogs(folder, '9.9.9')")).toThrow(
    'has no section 9.9.9: run pnpm release:version 9.9.9',
  );
});
