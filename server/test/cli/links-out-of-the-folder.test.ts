/**
 * Goal: a folder that a stranger has filled makes no command read or write a file outside (BF1, FF1, FF2), nor watch one (WA1).
 * Method: a folder with links to a file with a token beside it. What the commands do with it: e2e/cli/apply.test.ts.
 */
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fmt } from '../../src/cli/commands/fmt.js';
import { readBounded, writeOutput } from '../../src/cli/files/bounded-files.js';
import { loadProject, readTestFiles, writeSnapshots } from '../../src/cli/files/find-tests.js';
import { watchFolders } from '../../src/cli/files/watch-folders.js';
import { readWorkflowFiles } from '../../src/cli/files/workflow-files.js';
import { readTestFile } from '../../src/test-kit/files/read-test-file.js';

const SECRET = '{"token": "profile-token-1", "Id": "x", "Steps": []}';
const FLOW = 'Id: flow\nSteps: [{ Id: a, StepType: NoOp }]\n';

let base: string;
let folder: string;
let secret: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-links-')));
  folder = path.join(base, 'flows');
  mkdirSync(folder);
  secret = path.join(base, 'profiles.json');
  writeFileSync(secret, SECRET);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function link(target: string, name: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  symlinkSync(target, file);
  return file;
}

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function found(given: string): Promise<Record<string, string>> {
  const files = await readWorkflowFiles([given]);
  return Object.fromEntries(
    files.map((file) => [path.relative(given, file.path), file.unreadable ?? file.text]),
  );
}

describe('the folder reader', () => {
  it('refuses each file whose real path is outside, and names it', async () => {
    link(secret, 'absolute.py');
    link('../profiles.json', 'relative.py');
    link('../../profiles.json', 'deep/inside.yaml');
    link('absolute.py', 'twice.json');
    const refusal = `its real path is outside the folder ${folder}`;
    expect(await found(folder)).toEqual({
      'absolute.py': refusal,
      'relative.py': refusal,
      'deep/inside.yaml': refusal,
      'twice.json': refusal,
    });
    // A folder with the same beginning is another folder.
    mkdirSync(`${folder}-more`);
    writeFileSync(path.join(`${folder}-more`, 'x.py'), SECRET);
    link('../flows-more/x.py', 'sibling.py');
    expect((await found(folder))['sibling.py']).toBe(refusal);
  });

  it('refuses a link that is named alone', async () => {
    const file = link(secret, 'named.py');
    const [only] = await readWorkflowFiles([file]);
    expect(only).toMatchObject({ text: '', unreadable: expect.stringContaining(folder) as string });
  });

  it('refuses links to hidden files of the folder, which are not meant for the server', async () => {
    write('.env', 'TOKEN = "a"\n');
    write('.git/config', 'Id: a\n');
    link('.env', 'env.py');
    link('../.git/config', 'deep/config.yaml');
    expect(new Set(Object.values(await found(folder)))).toEqual(
      new Set(['it is a link to a hidden file']),
    );
  });

  it('reads links inside the folder, and a folder that is itself a link', async () => {
    write('deep/flow.yaml', FLOW);
    link('deep/flow.yaml', 'again.yaml');
    const given = path.join(base, 'current');
    symlinkSync(folder, given);
    expect(await found(given)).toEqual({ 'again.yaml': FLOW, 'deep/flow.yaml': FLOW });
  });

  it('reads hard links, which look like files', async () => {
    linkSync(secret, path.join(folder, 'hard.py'));
    expect(await found(folder)).toEqual({ 'hard.py': SECRET });
  });

  it('returns nothing from outside while a file becomes a link and a file again', async () => {
    const file = write('swapped.py', 'harmless');
    const swaps = { go: true };
    const swapping = (async (): Promise<void> => {
      for (let count = 0; swaps.go; count += 1) {
        rmSync(file);
        if (count % 2 === 0) symlinkSync(secret, file);
        else writeFileSync(file, 'harmless');
        await new Promise(setImmediate);
      }
    })();
    for (let count = 0; count < 2000; count += 1) {
      const text = await readBounded(folder, file).then(
        ({ bytes }) => bytes.toString(),
        () => '',
      );
      expect(text).not.toContain('profile-token');
    }
    swaps.go = false;
    await swapping;
  });
});

describe('a test file', () => {
  const project = async (name: string): Promise<unknown> => {
    const [file] = await readTestFiles([folder]);
    if (file === undefined) throw new Error('there is no file of tests');
    return loadProject(file, readTestFile(`Definition: ${name}\nCases: [{ Name: a }]\n`));
  };
  const outside = /its real path is outside the folder/;

  it('refuses a definition outside of the folder, by .. and by a link', async () => {
    write('a.test.yaml', 'Cases: []');
    link(secret, 'linked.json');
    await expect(project('../profiles.json')).rejects.toThrow(outside);
    await expect(project('linked.json')).rejects.toThrow(outside);
  });

  it('reads a definition above the folder if it is in the same checkout', async () => {
    write('.git/HEAD', '');
    write('flow.yaml', FLOW);
    const file = write('tests/a.test.yaml', 'Cases: []');
    const [found] = await readTestFiles([path.dirname(file)]);
    if (found === undefined) throw new Error('there is no file of tests');
    const loaded = await loadProject(
      found,
      readTestFile('Definition: ../flow.yaml\nCases: [{ Name: a }]\n'),
    );
    expect(loaded.definition.text).toBe(FLOW);
  });

  it('writes no snapshot through a link out of the folder', async () => {
    const file = write('a.test.yaml', 'Cases: []');
    const made = path.join(base, 'made.json');
    link(made, 'a.test.yaml.snap');
    await expect(writeSnapshots(file, { a: {} })).rejects.toThrow('a.test.yaml.snap');
    rmSync(path.join(folder, 'a.test.yaml.snap'));
    link(secret, 'a.test.yaml.snap');
    await expect(writeSnapshots(file, { a: {} })).rejects.toThrow(outside);
    expect(existsSync(made)).toBe(false);
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
  });
});

describe('the output of a command', () => {
  it('is not written through a link out of the folder', async () => {
    const file = link(secret, 'report.xml');
    await expect(writeOutput(file, 'x')).rejects.toThrow('its real path is outside');
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
    await writeOutput(path.join(folder, 'other.xml'), 'x');
    expect(readFileSync(path.join(folder, 'other.xml'), 'utf8')).toBe('x');
  });

  it('is for its own user only if it is an export', async () => {
    const file = path.join(folder, 'run.json');
    await writeOutput(file, 'x', 0o600);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
  });

  it('is not formatted outside, and a link inside remains a link', async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    link(secret, 'out.json');
    write('deep/flow.yaml', 'Steps: [{Id: a, StepType: NoOp}]\nId: flow\n');
    const inside = link('deep/flow.yaml', 'again.yaml');
    expect(await fmt([folder], { check: false, json: true })).toBe(1);
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
    expect(lstatSync(inside).isSymbolicLink()).toBe(true);
    expect(readFileSync(inside, 'utf8')).toMatch(/^Id: flow/);
  });
});

it('watches a folder, but nothing that a link in it leads to', async () => {
  for (let count = 0; count < 50; count += 1) {
    mkdirSync(path.join(base, `big/${count}`), { recursive: true });
  }
  link('../big', 'big');
  link(secret, 'secret.py');
  write('deep/flow.yaml', FLOW);
  const given = path.join(base, 'current');
  symlinkSync(folder, given);
  const watcher = await watchFolders([given]);
  try {
    await once(watcher, 'ready');
    expect(Object.keys(watcher.getWatched()).sort()).toEqual(
      expect.arrayContaining([folder, path.join(folder, 'deep')]),
    );
    expect(Object.keys(watcher.getWatched())).toHaveLength(3);
  } finally {
    await watcher.close();
  }
});
