/**
 * Goal: no file of a folder ends a command, or hides other files.
 * Method: a folder with everything that can be wrong.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readWorkflowFiles } from '../../src/cli/files/workflow-files.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-files-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

async function found(): Promise<Record<string, string>> {
  const files = await readWorkflowFiles([folder]);
  return Object.fromEntries(
    files.map((file) => [path.relative(folder, file.path), file.unreadable ?? file.text]),
  );
}

it('gives a reason for each file that cannot be read, and reads the others', async () => {
  write('good.yaml', 'Id: a');
  write('folder.yaml/inside.yml', 'Id: b');
  write('binary.yaml', Buffer.from([0x49, 0, 0x64]));
  write('latin.py', Buffer.from([0xe9, 0x0a]));
  truncateSync(write('huge.yaml', ''), 17 * 1024 * 1024);
  symlinkSync('loop.yaml', path.join(folder, 'loop.yaml'));
  symlinkSync('nowhere.yaml', path.join(folder, 'dangling.yaml'));
  execFileSync('mkfifo', [path.join(folder, 'pipe.yaml')]);
  expect(await found()).toEqual({
    'good.yaml': 'Id: a',
    'folder.yaml/inside.yml': 'Id: b',
    'binary.yaml': 'it is a binary file',
    'latin.py': 'it is not UTF-8 text',
    'huge.yaml': 'it is larger than 16 MB',
    'loop.yaml': 'it is a link that leads to itself',
    'dangling.yaml': 'it is a link to a file that does not exist',
    'pipe.yaml': 'it is not a file',
  });
});

it('reads linked files as Kubernetes mounts them, and follows no linked folder', async () => {
  write('..2026_01/flow.yaml', 'Id: mounted');
  symlinkSync('..2026_01', path.join(folder, '..data'));
  symlinkSync('..data/flow.yaml', path.join(folder, 'flow.yaml'));
  symlinkSync('.', path.join(folder, 'again'));
  symlinkSync('.', path.join(folder, 'folder.yaml'));
  expect(await found()).toEqual({ 'flow.yaml': 'Id: mounted' });
});

it('leaves out JSON that is no definition, and tests', async () => {
  write('package.json', '{}');
  write('flow.json', '{"id": "a", "steps": []}');
  write('flow.test.yaml', 'Cases: []');
  expect(Object.keys(await found())).toEqual(['flow.json']);
});

it('reads scripts and limits before the definitions that use them', async () => {
  write('a.yaml', 'Id: a');
  write('z.limit.yaml', 'Name: z');
  write('b.LIMIT.json', '{"name": "b"}');
  write('y.py', 'x = 1');
  const files = await readWorkflowFiles([folder]);
  expect(files.map(({ kind, path: file }) => [kind, path.basename(file)])).toEqual([
    ['script', 'y.py'],
    ['limit', 'b.LIMIT.json'],
    ['limit', 'z.limit.yaml'],
    ['definition', 'a.yaml'],
  ]);
});

it('names files and folders that only others may read', async (test) => {
  const uid = process.getuid?.();
  if (uid !== 0) return test.skip('only root can become another user');
  write('good.yaml', 'Id: a');
  chmodSync(write('locked.yaml', 'Id: b'), 0o600);
  write('closed/c.yaml', 'Id: c');
  chmodSync(path.join(folder, 'closed'), 0o700);
  chmodSync(folder, 0o755);
  process.seteuid?.(65_534);
  try {
    expect(await found()).toEqual({
      'good.yaml': 'Id: a',
      'locked.yaml': 'permission denied',
      closed: 'permission denied',
    });
  } finally {
    process.seteuid?.(uid);
  }
});

it('reads 10,000 files, and asks for a smaller folder if there are more', async () => {
  for (let count = 1; count <= 10_000; count += 1) write(`${count % 100}/${count}.yaml`, 'Id: a');
  expect(await readWorkflowFiles([folder])).toHaveLength(10_000);
  write('one-more.yaml', 'Id: a');
  await expect(found()).rejects.toThrow('more than 10000 definitions, scripts and limits');
});
