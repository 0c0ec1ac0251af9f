/** The files of tests of the examples and of docs/testing.md hold, and so does its code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { test } from '../../src/cli/commands/test.js';
import { TestPythons } from '../../src/test-kit/files/pythons.js';
import { createTestServer } from '../../src/test-kit/index.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENT = readFileSync(path.join(ROOT, 'docs/testing.md'), 'utf8');
const BLOCKS = [...DOCUMENT.matchAll(/^```(\S+) ?(\S*)\n([^]*?)^```$/gm)].map(
  ([, language = '', name = '', text = '']) => ({ language, name, text }),
);

let folder: string;
let printed = '';

const pythons = new TestPythons();
afterAll(() => pythons[Symbol.asyncDispose]());

beforeEach(() => {
  printed = '';
  const keep = (text: unknown): boolean => {
    printed += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-documents-'));
  for (const { name, text } of BLOCKS) {
    if (name !== '') writeFileSync(path.join(folder, name), text);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...paths: readonly string[]): Promise<number> {
  return test(paths, { filter: '', update: false, watch: false, json: false }, pythons);
}

describe('a test file', () => {
  it('passes in the examples', async () => {
    const examples = path.join(ROOT, 'examples');
    const tested = readdirSync(examples, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.test.yaml') && !file.includes('node_modules'),
    );
    expect(tested.length).toBeGreaterThan(0);
    const code = await run(...tested.map((file) => path.join(examples, file)));
    expect({ code, printed }).toMatchObject({ code: 0 });
  });

  it('passes in docs/testing.md', async () => {
    expect({ code: await run(folder), printed }).toMatchObject({ code: 0 });
    expect(printed).toContain('1 passed');
  });
});

describe('the code of docs/testing.md', () => {
  it('runs', async () => {
    const source = BLOCKS.find(({ language }) => language === 'ts')?.text ?? '';
    const body = source.replaceAll(/^import .*$/gm, '');
    // Its imports become parameters.
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    const play = new Function(
      'createTestServer',
      'readFileSync',
      `return (async () => {${body}\nreturn { data, status }; })();`,
    ) as (...imported: readonly unknown[]) => Promise<unknown>;
    const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
    expect(await play(createTestServer, read)).toMatchObject({
      status: 'Complete',
      data: { reminded: true, carrier: 'A' },
    });
  });
});
