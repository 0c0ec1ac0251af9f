/**
 * Build stages that run only if one of their inputs has changed.
 *
 * A stage names its inputs (files and folders, relative to the repository). Their content is hashed, and a stamp in
 * `.cache/stamps/` stores the hash of the last successful run. Because content counts rather than time, switching to another
 * branch and back doesn't trigger a build. A stage also runs if one of its outputs is missing, or, with `outputsAreInputs`, if an
 * output was changed by hand. Called by: build.mjs, generate.mjs.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, root } from '../tool.mjs';

/** Inputs of every stage: the settings of the compiler and the exact versions of all packages. */
const SHARED_INPUTS = [
  'tsconfig.base.json',
  'pnpm-lock.yaml',
  'scripts/tool.mjs',
  'scripts/build/stage.mjs',
  'scripts/build/build.mjs',
];

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap(listFiles)) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {object} stage
 * @param {string} stage.name
 * @param {string[]} stage.inputs
 * @param {string[]} stage.outputs files that exist after a successful run
 * @param {boolean} [stage.outputsAreInputs] run again if something else has changed an output
 * @param {() => void | Promise<void>} stage.run throws if it fails
 */
export async function runStage({ name, inputs, outputs, outputsAreInputs = false, run }) {
  const stampFile = join(root, '.cache/stamps', `${name.replaceAll(' ', '-')}.txt`);
  const hashedInputs = [...SHARED_INPUTS, ...inputs];
  const stamp = () => hashOf(outputsAreInputs ? [...hashedInputs, ...outputs] : hashedInputs);
  const known = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : null;
  if (known === stamp() && outputs.every((output) => existsSync(join(root, output)))) return;

  const began = performance.now();
  // An interrupted stage must run again.
  rmSync(stampFile, { force: true });
  await run();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp());
  console.error(`built ${name} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
