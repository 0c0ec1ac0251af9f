/**
 * Runs unit tests from sources, in seconds: nothing is built, and no database is started. Arguments go to vitest, so a path
 * selects test files: `pnpm unit server/test/engine/sagas`. Without one, the tests of the engine run. `--watch` runs them
 * again after each change.
 *
 * Called by: `pnpm unit`.
 */
import { generateApi } from '../build/generate.mjs';
import { runMain, runTool } from '../tool.mjs';

/** The projects whose sources run without a build. */
const PROJECTS = ['server', 'sdk', 'worker-sdk'];
const DEFAULT_PATH = 'server/test/engine';

await runMain(async () => {
  const args = process.argv.slice(2);
  // The routes are derived from the controllers. While those are unchanged, this only compares hashes.
  await generateApi();
  process.env.FROM_SOURCES = '1';
  process.env.TEST_STORES ??= 'memory';
  const isWatching = args.includes('--watch');
  const hasPath = args.some((arg) => !arg.startsWith('-'));
  const vitest = [
    ...(isWatching ? [] : ['run']),
    ...PROJECTS.flatMap((name) => ['--project', name]),
    ...(hasPath ? [] : [DEFAULT_PATH]),
    ...args,
  ];
  runTool('vitest', vitest, { stdio: 'inherit' });
});
