/** Which files a process without rights cannot read. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findHiddenPath } from '../../../src/scripts/pyodide/hidden-path.js';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-hidden-')));
  chmodSync(folder, 0o755);
  mkdirSync(path.join(folder, 'a/b'), { recursive: true });
  writeFileSync(path.join(folder, 'a/b/file'), '');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  ['a/b/file', 0o600, 'a/b/file'],
  ['a/b', 0o750, 'a/b'],
  ['a', 0o700, 'a'],
  // Entering is enough: nobody lists it.
  ['a', 0o711, null],
  ['a/b/file', 0o604, null],
])('returns with the mode of %s %o the path %s', (changed, mode, found) => {
  chmodSync(path.join(folder, changed), mode);
  expect(findHiddenPath([path.join(folder, 'a/b/file')])).toBe(
    found === null ? null : path.join(folder, found),
  );
});

it('follows links to the files themselves', () => {
  symlinkSync(path.join(folder, 'a/b/file'), path.join(folder, 'link'));
  chmodSync(path.join(folder, 'a/b'), 0o700);
  expect(findHiddenPath([path.join(folder, 'link')])).toBe(path.join(folder, 'a/b'));
});
