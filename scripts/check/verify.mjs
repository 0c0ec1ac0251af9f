/**
 * All checks that must pass before a change is complete, with the cheapest first.
 *
 * Called by: `pnpm verify`.
 */
import { pnpmCommand, runMain, startTool } from '../tool.mjs';

/** Projects with unit tests; `pnpm test` also runs the end-to-end tests. */
const UNIT_PROJECTS = ['server', 'sdk', 'worker-sdk'];

/**
 * Tests that only `pnpm test` runs: they are randomized or kill processes repeatedly, take ten seconds to a minute
 * each, and rarely find what no shorter test finds.
 */
const LONG_TESTS = [
  '**/test/faults/**',
  '**/test/repository/slow-patterns.test.ts',
  '**/test/security/fuzz/**',
  '**/test/security/growth/**',
  '**/test/security/{attacks*,fork-bombs,live-latency,memory-attacks,process-limits,scripts,stored-rubbish}.test.ts',
  '**/test/scripts/pyodide/escape.test.ts',
  '**/test/scripts/pyodide/exhaustion.test.ts',
  '**/test/scripts/pyodide/interruption.test.ts',
  '**/test/simulation/safeguards.test.ts',
  '**/test/behaviour/{idle-process,migrate-store,nodes,postgres-outage,restarts,two-nodes}.test.ts',
  '**/test/store/{copy-store,mongo-outage,postgres-outage}.test.ts',
  'test/{examples,installed-packages,package,production}.test.ts',
];

const UNIT_TESTS = [
  'run',
  ...UNIT_PROJECTS.flatMap((name) => ['--project', name]),
  ...LONG_TESTS.flatMap((files) => ['--exclude', files]),
];

/** The steps run in sequence; the commands within a step run in parallel, because each uses one core. */
const STEPS = [
  [['generate', () => script('build/generate')]],
  // Before any type check, because packages see each other through their build output.
  [['build', () => script('build/build')]],
  [
    ['lint', () => startTool('eslint', ['.', '--max-warnings', '0'])],
    [
      'format, types, dependencies, dead code, licenses',
      async () => {
        await startTool('prettier', ['--check', '--log-level', 'warn', '.']);
        await packageScript('check:types');
        await packageScript('check:deps');
        await startTool('knip', []);
        await script('check/licenses');
        await script('check/audit');
      },
    ],
  ],
  [['test', () => startTool('vitest', UNIT_TESTS)]],
  [['check:generated', () => script('check/generated')]],
];

// The conformance suite tests every store; what a run does is tested on one store here, and on all by `pnpm test`.
process.env['TEST_STORES'] ??= 'memory';

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
