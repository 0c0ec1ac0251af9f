/**
 * Goal: one requirement of Node, said everywhere in the same way, and true for all dependencies.
 * Method: `engines` of the packages is the source; compares the docs, the messages and the installed dependencies with it.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkNode } from '../../src/test-kit/check-node.js';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const text = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
const lowestOf = (folder: string): string =>
  (manifestIn(path.join(ROOT, folder)).engines?.node ?? '').replace('>=', '');

/** Whether a version is in a range of alternatives such as `20 || >=22` or `>= 18.0.0`; null for other forms. */
function isIn(version: string, range: string): boolean | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const matches = range.split('||').map((alternative) => {
    const found = /^(>=|\^)?\s*v?(\d+)(?:\.(\d+|x))?(?:\.(?:\d+|x))?$/.exec(alternative.trim());
    if (found === null) return alternative.trim() === '*' ? true : null;
    const [, operator = '', lowestMajor = '0', lowestMinor = '0'] = found;
    const isAbove = minor >= (Number(lowestMinor) || 0);
    if (major === Number(lowestMajor)) return isAbove;
    return operator === '>=' && major > Number(lowestMajor);
  });
  return matches.includes(true) || (matches.includes(null) ? null : false);
}

/** The installed package, and everything that it needs at run time. */
function folderOf(from: string, name: string): string | null {
  let folder = from;
  while (folder !== path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(found, 'package.json'))) return realpathSync(found);
    folder = path.dirname(folder);
  }
  return null;
}

function closureOf(start: string): ReadonlyMap<string, Manifest> {
  const known = new Map<string, Manifest>();
  const open = [path.join(ROOT, start)];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (known.has(folder)) continue;
    const manifest = manifestIn(folder);
    known.set(folder, manifest);
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      const found = folderOf(folder, name);
      if (found !== null) open.push(found);
    }
  }
  return known;
}

describe('the Node requirement', () => {
  it.each(['server', 'sdk', 'worker-sdk'])('holds in %s for all of its dependencies', (folder) => {
    const refusing = [...closureOf(folder)].flatMap(([place, { engines }]) =>
      engines?.node === undefined || isIn(lowestOf(folder), engines.node) === true
        ? []
        : [`${path.basename(place)}: ${engines.node}`],
    );
    expect(refusing).toEqual([]);
  });

  it.each([
    'README.md',
    'docs/tutorial.md',
    'docs/deployment.md',
    'docs/testing.md',
    'server/README.md',
    'examples/README.md',
  ])('is documented for the server in %s', (file) => {
    expect(text(file)).toMatch(new RegExp(`Node \\(?${lowestOf('server')}\\s+or\\s+later`));
  });

  it.each([
    ['sdk', 'sdk/README.md'],
    ['sdk', 'docs/sdk.md'],
    ['worker-sdk', 'worker-sdk/README.md'],
    ['worker-sdk', 'docs/worker-sdk.md'],
  ])('is documented for %s in %s', (folder, file) => {
    expect(text(file)).toMatch(new RegExp(`Node(?:\\.js)? ${lowestOf(folder)}\\s+or later`));
  });

  it('is named when the test kit is imported on an older Node', () => {
    const lowest = lowestOf('server');
    for (const version of ['20.20.2', '22.21.9', '0.1']) {
      expect(() => checkNode(version, lowest)).toThrow(
        `stepwright/testing needs Node ${lowest} or later, but this is Node ${version}`,
      );
    }
    for (const version of [`${lowest}.0`, '22.30.1', '24.0.0', '100.1.0']) {
      expect(() => checkNode(version, lowest)).not.toThrow();
    }
  });
});
