/**
 * Builds stale parts and runs every test. The last line is `N passed, N failed, N skipped`, and the exit code is 0 only if at
 * least one test ran and none failed. Arguments are passed to vitest: `pnpm test --project server`. With `TEST_MINUTES=60`, tests
 * that would start later than that are skipped, and their files are named.
 *
 * Called by: `pnpm test`, `pnpm test:simulation`, `pnpm test:faults`, `pnpm screenshots`, .ci/run.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from '../build/build.mjs';
import { root, runMain, runTool, ToolError } from '../tool.mjs';

const REPORT = join(root, '.cache/vitest.json');
const MINUTES = Number(process.env.TEST_MINUTES ?? Infinity);

await runMain(async () => {
  process.env.TEST_DEADLINE_MS = String(Date.now() + MINUTES * 60_000);
  rmSync(REPORT, { force: true });
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    if (!(MINUTES > 0)) throw new Error('TEST_MINUTES is not a number above 0');
    await build();
    counts = runTests(process.argv.slice(2));
  } catch (error) {
    // A failed build counts as a failed test run and is reported in the same format.
    console.error(error instanceof ToolError ? error.message : error);
    counts = { ...counts, failed: counts.failed + 1 };
  }
  listRepeated(readReport());
  listLate(readReport());
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
});

function runTests(args) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  let failedTool = null;
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
    runTool('vitest', ['run', ...reporters, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    failedTool = error;
  }
  const report = readReport();
  const failed = report.numFailedTests ?? 0;
  return {
    passed: report.numPassedTests ?? 0,
    // A file that cannot be loaded, or an error outside any test, does not count as a failed test in the report.
    failed: failedTool === null ? failed : Math.max(failed, 1),
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  };
}

/** A test that passed only on its second attempt may have found a defect, so it is reported. */
function listRepeated({ testResults = [] }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  for (const { status, fullName, failureMessages } of tests) {
    if (status !== 'passed' || failureMessages.length === 0) continue;
    console.log(`Passed only at the second attempt: ${fullName}\n  ${failureMessages[0]}`);
  }
}

/** Lists the tests that there was no time for. */
function listLate({ testResults = [] }) {
  const late = testResults.filter(({ assertionResults }) =>
    assertionResults.some(({ meta }) => meta.isLate),
  );
  if (late.length === 0) return;
  console.log(`Not run, or only in part, because TEST_MINUTES=${MINUTES} were over:`);
  for (const { name } of late) console.log(`  ${relative(root, name)}`);
}

/** Without a report, the run ended early; the exit code of vitest reports the failure. */
function readReport() {
  try {
    return JSON.parse(readFileSync(REPORT, 'utf8'));
  } catch {
    return {};
  }
}
