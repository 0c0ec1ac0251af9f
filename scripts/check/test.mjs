/**
 * Builds what is stale and runs every test. The last line is `N passed, N failed, N skipped`, and the exit code is 0 only
 * when something ran and nothing failed. Arguments go to vitest: `pnpm test --project server`.
 *
 * Called by: `pnpm test`, `pnpm test:simulation`, `pnpm test:faults`, `pnpm screenshots`, .ci/run.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../build/build.mjs';
import { root, runMain, runTool, ToolError } from '../tool.mjs';

const REPORT = join(root, '.cache/vitest.json');

await runMain(async () => {
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    await build();
    counts = runTests(process.argv.slice(2));
  } catch (error) {
    // A build that fails is a failed test run, and says so in the same form.
    console.error(error instanceof ToolError ? error.message : error);
    counts = { ...counts, failed: counts.failed + 1 };
  }
  process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
});

function runTests(args) {
  rmSync(REPORT, { force: true });
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
    // A file that cannot be loaded, or an error outside of any test, fails no single test.
    failed: failedTool === null ? failed : Math.max(failed, 1),
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  };
}

/** Without a report the run ended before it had one, which the exit code of vitest tells. */
function readReport() {
  try {
    return JSON.parse(readFileSync(REPORT, 'utf8'));
  } catch {
    return {};
  }
}
