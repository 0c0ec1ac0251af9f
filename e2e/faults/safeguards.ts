/**
 * `pnpm test:safeguards [name …]`: removes one safeguard of the built server at a time, runs the fault test that must
 * notice this against the modified build, and fails if the test does not notice. A test that still passes proves
 * nothing.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyPatch, SAFEGUARDS, type Safeguard } from './support/safeguards.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = path.join(ROOT, 'server');

interface Outcome {
  /** A test failed, and for the expected reason. */
  readonly isRed: boolean;
  /** The failed tests, with the first line of each reason. */
  readonly failures: readonly string[];
}

/** Copies the built server without the safeguard; the packages are those of the original. */
function copyWithout({ patches }: Safeguard, folder: string): string {
  cpSync(path.join(SERVER, 'dist'), path.join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'openapi', 'package.json']) {
    symlinkSync(path.join(SERVER, name), path.join(folder, name));
  }
  for (const patch of patches) applyPatch(patch, path.join(folder, 'dist'));
  return path.join(folder, 'dist/main.js');
}

function run({ only, scale = 1, shows, test }: Safeguard, main: string, folder: string): Outcome {
  const report = path.join(folder, 'report.json');
  const names = only === undefined ? [] : ['-t', only];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const env = { ...process.env, E2E_SERVER_MAIN: main, FAULTS: 'all', FAULTS_SCALE: String(scale) };
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'e2e', ...reporters, `faults/${test}`, ...names],
    { cwd: ROOT, stdio: 'inherit', env },
  );
  return readOutcome(report, shows);
}

/** The parts of vitest's report that are read. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function readOutcome(file: string, shows: RegExp): Outcome {
  // The format of vitest's JSON reporter.
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const failures = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ failureMessages, fullName }) => {
      return `${fullName}: ${failureMessages[0]?.split('\n')[0] ?? ''}`;
    });
  if (failures.length === 0 && report.numPassedTests === 0) {
    throw new Error('no test ran: this safeguard needs MongoDB, through Docker or E2E_DBHOST');
  }
  return { isRed: failures.some((failure) => shows.test(failure)), failures };
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SAFEGUARDS.some((safeguard) => safeguard.name === name));
if (unknown.length > 0) throw new Error(`unknown safeguard: ${unknown.join(', ')}`);

const lines: string[] = [];
for (const safeguard of SAFEGUARDS) {
  if (wanted.length > 0 && !wanted.includes(safeguard.name)) continue;
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-safeguard-'));
  try {
    const main = copyWithout(safeguard, folder);
    console.log(`\nwithout ${safeguard.name}: ${safeguard.test} must be ${safeguard.expected}`);
    const { failures, isRed } = run(safeguard, main, folder);
    const isAsExpected = safeguard.expected === 'red' ? isRed : failures.length === 0;
    if (!isAsExpected) process.exitCode = 1;
    const result = `${isAsExpected ? 'as expected' : 'NOT AS EXPECTED'}, ${failures.length > 0 ? 'red' : 'green'}`;
    lines.push(
      `${safeguard.name} (${safeguard.test}): ${result}`,
      ...failures.map((f) => `  ${f}`),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(`\n${lines.join('\n')}`);
