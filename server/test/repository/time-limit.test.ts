/** Once the time of a run of all tests is over, tests are skipped and named, not failed or silently left out. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { status: string; meta: { isLate?: boolean } }[];
  }[];
}

it('skips the tests that would start after it', () => {
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  const report = path.join(mkdtempSync(path.join(tmpdir(), 'stepwright-')), 'report.json');
  onTestFinished(() => rmSync(path.dirname(report), { recursive: true }));
  execFileSync(
    process.execPath,
    [
      vitest,
      'run',
      '--project',
      'sdk',
      'exact-json',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { cwd: ROOT, stdio: 'pipe', env: { ...process.env, TEST_DEADLINE_MS: '1' } },
  );
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  expect(tests.length).toBeGreaterThan(1);
  for (const { status, meta } of tests)
    expect({ status, meta }).toEqual({ status: 'skipped', meta: { isLate: true } });
});
