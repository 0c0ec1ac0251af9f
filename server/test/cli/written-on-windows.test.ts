/** Files as editors on Windows write them: with a byte order mark and with CRLF. They mean the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readValue } from '../../src/cli/arguments/data.js';
import { readDuration } from '../../src/cli/arguments/values.js';
import { isSameText } from '../../src/cli/files/store-files.js';
import { readSnapshots } from '../../src/cli/files/find-tests.js';
import { readWorkflowFiles } from '../../src/cli/files/workflow-files.js';
import { createSecretSource } from '../../src/secrets/secret-source.js';
import { parseDocument } from '../../src/test-kit/definition-source.js';

const MARK = '\uFEFF';
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'windows-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, MARK + text);
  return file;
}

describe('a byte order mark', () => {
  it.each([
    ['data.json', '{"a": "x\\ny"}\r\n'],
    ['data.yaml', 'a: |-\r\n  x\r\n  y\r\n'],
    ['data.txt', '{\r\n"a": "x\\ny"}'],
  ])('is no part of start data in %s', async (name, text) => {
    expect(await readValue(`@${write(name, text)}`, '--data')).toEqual({ a: 'x\ny' });
  });

  it('is no part of definitions, scripts, snapshots and files of tests', async () => {
    const script = write('shout.py', 'a = 1\r\n');
    const definition = write('flow.yaml', 'Id: a\r\n');
    const files = await readWorkflowFiles([script, definition]);
    expect(files.map(({ text }) => text)).toEqual(['a = 1\r\n', 'Id: a\r\n']);
    write('flow.test.yaml.snap', '{"one": {"status": "Complete"}}');
    expect(await readSnapshots(path.join(folder, 'flow.test.yaml'))).toEqual({
      one: { status: 'Complete' },
    });
    const test = parseDocument(`${MARK}Definition: a\r\nCases: []\r\n`);
    expect(test.value).toEqual({ Definition: 'a', Cases: [] });
    expect(test.locate('/Cases')).toMatchObject({ line: 2, column: 1 });
  });
});

describe('a secret', () => {
  it('has neither the byte order mark nor the last line break of its file', () => {
    write('TOKEN', 'abc\r\n');
    const secrets = createSecretSource({ directory: folder, variables: new Map() });
    expect(secrets.names()).toContain('TOKEN');
    expect(secrets.value('TOKEN')).toBe('abc');
  });
});

describe('the line endings of a checkout', () => {
  it.each([
    ['Id: a\nSteps:\n', 'Id: a\r\nSteps:\r\n', true],
    ['Id: a\r\nSteps:\n', 'Id: a\nSteps:\r\n', true],
    ['Id: a\n', 'Id: b\r\n', false],
    [null, '', false],
  ])('decides whether a change is none: %j and %j', (stored, text, isSame) => {
    expect(isSameText(stored, text)).toBe(isSame);
  });
});

describe('the duration of an option', () => {
  it.each([
    ['5', 5000],
    ['0.5', 500],
    ['45s', 45_000],
    ['2h30m', 9_000_000],
    ['PT5S', 5000],
    ['00:01:00', 60_000],
  ])('is read from %s', (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });

  it.each(['', 'x', '1.2.3', '-', '1e3'])('is not %j', (text) => {
    expect(() => readDuration(text)).toThrow('It must be a duration');
  });
});
