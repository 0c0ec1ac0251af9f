/**
 * `pnpm bench:test-kit [--cases=100] [--rounds=5]`: how long `stepwright test` takes.
 *
 * Takes the definition and the case of docs/testing.md: a failed payment that is retried after an hour, three days of waiting, an
 * HTTP call and an event, in virtual time. Runs a folder with one case, then one with many of them: the difference is what the
 * cases take, the rest is the start of the process and of Python. Then tests the order saga of the examples.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { documentBlock } from './document-block.ts';
import { latencyFrom } from './measure.ts';

interface Report {
  readonly files: readonly {
    readonly cases: readonly { readonly name: string; readonly durationMs: number }[];
  }[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = path.join(ROOT, 'server/dist/cli/main.js');
const DOCUMENT = 'docs/testing.md';
const SAGA = path.join(ROOT, 'examples/16-order-saga');

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
  },
});
const [cases, rounds] = [Number(values.cases), Number(values.rounds)];
const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-test-kit-'));
try {
  writeFileSync(
    path.join(folder, 'reminder.yaml'),
    documentBlock(DOCUMENT, 'yaml', 'reminder.yaml'),
  );
  const single = measure(1);
  const many = measure(cases + 1);
  show('the process with one case', single);
  show(`${cases} more cases`, many - single);
  rmSync(folder, { recursive: true });
  cpSync(SAGA, folder, { recursive: true });
  // The first case also waits for the start of Python, which this definition needs.
  cpSync(path.join(SAGA, 'order.test.yaml'), path.join(folder, 'again.test.yaml'));
  for (const { durationMs, name } of run().cases) show(`order saga, ${name}`, durationMs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The median of the rounds, in milliseconds. */
function measure(count: number): number {
  writeFileSync(path.join(folder, 'reminder.test.yaml'), repeated(count));
  return latencyFrom(Array.from({ length: rounds }, () => run().durationMs)).p50Ms;
}

function run(): { readonly durationMs: number; readonly cases: Report['files'][number]['cases'] } {
  const began = performance.now();
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [COMMAND, 'test', '--json', folder],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  const durationMs = performance.now() - began;
  if (status !== 0) throw new Error(`the tests failed:\n${stdout}${stderr}`);
  const { files } = JSON.parse(stdout) as Report;
  return { durationMs, cases: files.flatMap((file) => file.cases) };
}

/** The case of the documentation, as often as that. */
function repeated(count: number): string {
  const text = documentBlock(DOCUMENT, 'yaml', 'reminder.test.yaml');
  const start = text.indexOf('  - Name:');
  const [head, body] = [text.slice(0, start), text.slice(start)];
  const copies = Array.from({ length: count }, (_, at) =>
    body.replace(/- Name: (.*)/, `- Name: $1 (${at + 1})`),
  );
  return head + copies.join('\n');
}

function show(what: string, ms: number): void {
  console.log(`${what}: ${ms.toFixed(0)} ms`);
}
