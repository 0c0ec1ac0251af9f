/** Everything that must hold before a change is done, in the order in which it is cheapest to learn what is wrong. */
import { execFileSync } from 'node:child_process';
import { root, runMain, runTool } from './stage.mjs';

/** The unit rings; the end-to-end tests have `pnpm test`. */
const UNIT_PROJECTS = ['server', 'sdk', 'worker-sdk'];

const STEPS = [
  ['generate', () => script('generate')],
  ['check:format', () => runTool('prettier', ['--check', '--log-level', 'warn', '.'])],
  ['lint', () => runTool('eslint', ['.', '--max-warnings', '0'])],
  // Built first, as packages see each other through their built types.
  ['build', () => script('build')],
  ['check:types', () => pnpm('check:types')],
  ['check:deps', () => pnpm('check:deps')],
  ['check:dead', () => runTool('knip', [])],
  [
    'test',
    () => runTool('vitest', ['run', ...UNIT_PROJECTS.flatMap((name) => ['--project', name])]),
  ],
  ['check:generated', () => script('check-generated')],
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

/** The same pnpm that runs this script, or the one on the PATH. */
function pnpm(name) {
  const args = ['-r', '--if-present', name];
  const own = process.env['npm_execpath'];
  const [command, first] = own?.endsWith('js') ? [process.execPath, [own]] : [own ?? 'pnpm', []];
  execFileSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
