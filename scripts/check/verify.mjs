/**
 * Everything that must hold before a change is done, in the order in which it is cheapest to learn what is wrong.
 *
 * Called by: `pnpm verify`.
 */
import { pnpmCommand, runMain, runTool } from '../tool.mjs';

/** The unit rings; the end-to-end tests have `pnpm test`. */
const UNIT_PROJECTS = ['server', 'sdk', 'worker-sdk'];

const STEPS = [
  ['generate', () => script('build/generate')],
  ['check:format', () => runTool('prettier', ['--check', '--log-level', 'warn', '.'])],
  // Before whatever looks at types, as packages see each other through what was built.
  ['build', () => script('build/build')],
  ['lint', () => runTool('eslint', ['.', '--max-warnings', '0'])],
  ['check:types', () => packageScript('check:types')],
  ['check:deps', () => packageScript('check:deps')],
  ['check:dead', () => runTool('knip', [])],
  ['check:licences', () => script('check/licences')],
  ['audit:prod', () => script('check/audit')],
  [
    'test',
    () => runTool('vitest', ['run', ...UNIT_PROJECTS.flatMap((name) => ['--project', name])]),
  ],
  ['check:generated', () => script('check/generated')],
];

await runMain(() => {
  for (const [name, run] of STEPS) {
    const began = performance.now();
    try {
      run();
    } catch (error) {
      console.error(`verify: ${name} failed after ${seconds(began)} s`);
      throw error;
    }
    console.log(`verify: ${name} ok (${seconds(began)} s)`);
  }
});

function seconds(began) {
  return ((performance.now() - began) / 1000).toFixed(1);
}

function script(name) {
  runTool('node', [`scripts/${name}.mjs`]);
}

/** A script of package.json. */
function packageScript(name) {
  const [command, ...before] = pnpmCommand();
  runTool(command, [...before, 'run', name]);
}
