/**
 * All checks that must pass before a change is complete; stops at the first that fails.
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
  '**/test/security/fuzz/**',
  '**/test/security/{attacks*,process-limits,scripts,stored-rubbish}.test.ts',
  '**/test/scripts/pyodide/escape.test.ts',
  '**/test/scripts/pyodide/exhaustion.test.ts',
  '**/test/scripts/pyodide/interruption.test.ts',
  '**/test/runtime/operation-counts.test.ts',
  '**/test/schemas/input-schemas.test.ts',
  '**/test/simulation/simulation.test.ts',
  '**/test/behavior/{idle-process,live-changes,migrate-store,nodes,restarts,two-nodes}.test.ts',
  '**/test/store/{copy-store,mongo-outage,postgres-outage}.test.ts',
  'test/{examples,package,production}.test.ts',
];

const UNIT_TESTS = [
  'run',
  ...UNIT_PROJECTS.flatMap((name) => ['--project', name]),
  ...LONG_TESTS.flatMap((files) => ['--exclude', files]),
];

/** The format of a file depends on that file alone, so files that have not changed are not checked again. */
const FORMAT = [
  '--check',
  '--log-level',
  'warn',
  '--cache',
  '--cache-strategy',
  'content',
  '--cache-location',
  '.cache/prettier',
  '.',
];

/**
 * The steps run in sequence, the lists within a step in parallel: tests wait half of their time, which the checks of the
 * sources use.
 */
const STEPS = [
  [[['generate', () => script('build/generate')]]],
  // Before any type check, because packages see each other through their build output.
  [[['build', () => script('build/build')]]],
  [
    [
      ['format', () => tool('prettier', FORMAT)],
      ['types', () => packageScript('check:types')],
      ['dependencies', () => packageScript('check:deps')],
      ['dead code', () => tool('knip', [])],
      ['licenses', () => script('check/licenses')],
      ['audit', () => script('check/audit')],
      ['lint', () => tool('eslint', ['.', '--max-warnings', '0'])],
    ],
    [['test', () => tool('vitest', UNIT_TESTS)]],
  ],
  [[['check:generated', () => script('check/generated')]]],
];

// The conformance suite tests every store; what a run does is tested on one store here, and on all by `pnpm test`.
process.env['TEST_STORES'] ??= 'memory';

const failed = new AbortController();

await runMain(async () => {
  for (const step of STEPS) await Promise.all(step.map(inSequence));
});

async function inSequence(commands) {
  for (const [name, run] of commands) await timed(name, run);
}

async function timed(name, run) {
  const began = performance.now();
  try {
    await run();
  } catch (error) {
    // The first failure stops the parallel steps.
    if (!failed.signal.aborted) {
      console.error(`verify: ${name} failed after ${seconds(began)} s`);
      failed.abort();
    }
    throw error;
  }
  console.log(`verify: ${name} ok (${seconds(began)} s)`);
}

function seconds(began) {
  return ((performance.now() - began) / 1000).toFixed(1);
}

function tool(name, args) {
  return startTool(name, args, { signal: failed.signal });
}

function script(name) {
  return tool('node', [`scripts/${name}.mjs`]);
}

/** A script of package.json. */
function packageScript(name) {
  const [command, ...before] = pnpmCommand();
  return tool(command, [...before, 'run', name]);
}
