/**
 * Everything that must hold before a change is done, in the order in which it is cheapest to learn what is wrong.
 *
 * Called by: `pnpm verify`.
 */
import { pnpmCommand, runMain, startTool } from '../tool.mjs';

/** The unit rings; the end-to-end tests have `pnpm test`. */
const UNIT_PROJECTS = ['server', 'sdk', 'worker-sdk'];

/**
 * Tests of the unit rings that are left to `pnpm test` as well: they try at random or kill processes one after the other, take
 * ten seconds to a minute each, and rarely find what no shorter test finds.
 */
const LONG_TESTS = [
  '**/test/faults/**',
  '**/test/security/fuzz/**',
  '**/test/security/growth/**',
  '**/test/security/process-limits.test.ts',
  '**/test/security/stored-rubbish.test.ts',
  '**/test/security/scripts.test.ts',
  '**/test/scripts/pyodide/escape.test.ts',
  '**/test/scripts/pyodide/exhaustion.test.ts',
  '**/test/scripts/pyodide/interruption.test.ts',
  '**/test/simulation/safeguards.test.ts',
  '**/test/behaviour/{idle-process,nodes,restarts,two-nodes}.test.ts',
  'test/{examples,package}.test.ts',
];

const UNIT_TESTS = [
  'run',
  ...UNIT_PROJECTS.flatMap((name) => ['--project', name]),
  ...LONG_TESTS.flatMap((files) => ['--exclude', files]),
];

/** One after the other; what stands in one list runs side by side, as each of these uses one core. */
const STEPS = [
  [['generate', () => script('build/generate')]],
  // Before whatever looks at types, as packages see each other through what was built.
  [['build', () => script('build/build')]],
  [
    ['lint', () => startTool('eslint', ['.', '--max-warnings', '0'])],
    [
      'format, types, dependencies, dead code, licences',
      async () => {
        await startTool('prettier', ['--check', '--log-level', 'warn', '.']);
        await packageScript('check:types');
        await packageScript('check:deps');
        await startTool('knip', []);
        await script('check/licences');
        await script('check/audit');
      },
    ],
  ],
  [['test', () => startTool('vitest', UNIT_TESTS)]],
  [['check:generated', () => script('check/generated')]],
];

await runMain(async () => {
  for (const step of STEPS) await Promise.all(step.map(([name, run]) => timed(name, run)));
});

async function timed(name, run) {
  const began = performance.now();
  try {
    await run();
  } catch (error) {
    console.error(`verify: ${name} failed after ${seconds(began)} s`);
    throw error;
  }
  console.log(`verify: ${name} ok (${seconds(began)} s)`);
}

function seconds(began) {
  return ((performance.now() - began) / 1000).toFixed(1);
}

function script(name) {
  return startTool('node', [`scripts/${name}.mjs`]);
}

/** A script of package.json. */
function packageScript(name) {
  const [command, ...before] = pnpmCommand();
  return startTool(command, [...before, 'run', name]);
}
