/**
 * Runs one example against the running server: `pnpm example 5`, `pnpm example 05` or `pnpm example activities`.
 *
 * The server is at `STEPWRIGHT_URL`, by default http://127.0.0.1:5001, where `pnpm start` starts it.
 *
 * Called by: `pnpm example`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../build/build.mjs';
import { root, runMain, runTool } from '../tool.mjs';

const URL_OF_SERVER = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';

await runMain(async () => {
  const names = readdirSync(join(root, 'examples')).filter((name) => /^\d\d-/.test(name));
  const wanted = process.argv[2];
  const name = wanted === undefined ? undefined : findExample(names, wanted);
  if (name === undefined) {
    const complaint = wanted === undefined ? 'Which example?' : `There is no example '${wanted}'.`;
    console.error([complaint, ...names.map((each) => `  pnpm example ${each}`)].join('\n'));
    process.exitCode = 2;
    return;
  }
  if (!existsSync(join(root, 'worker-sdk/dist/index.js'))) await build();
  if (!(await serverAnswers())) {
    console.error(
      `No server responds at ${URL_OF_SERVER}. Start one in another terminal: pnpm start`,
    );
    process.exitCode = 1;
    return;
  }
  runTool('node', [`examples/${name}/main.ts`], { stdio: 'inherit' });
});

function findExample(names, wanted) {
  const number = /^\d+$/.test(wanted) ? `${wanted.padStart(2, '0')}-` : null;
  return names.find((name) =>
    number === null ? name === wanted || name.slice(3) === wanted : name.startsWith(number),
  );
}

async function serverAnswers() {
  try {
    return (await fetch(new URL('api/info', URL_OF_SERVER))).ok;
  } catch {
    return false;
  }
}
