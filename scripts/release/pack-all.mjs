/**
 * Packs what users install (stepwright, @stepwright/sdk, @stepwright/worker-sdk) as tarballs into `dist/packages`, or
 * into the folder that is given.
 *
 *   pnpm pack:all
 *   npx ./dist/packages/stepwright-0.1.0.tgz start
 *
 * Called by: `pnpm pack:all`, e2e/cli.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from '../build/build.mjs';
import { isMain, root, runMain, runTool } from '../tool.mjs';

export const PUBLISHED = ['server', 'sdk', 'worker-sdk'];

/** Old tarballs in the folder are removed. */
export async function packAll(folder) {
  await build();
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.tgz')) rmSync(join(folder, file));
  }
  for (const name of PUBLISHED) {
    runTool('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
      cwd: join(root, name),
    });
  }
  return readdirSync(folder).filter((file) => file.endsWith('.tgz'));
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const folder = resolve(process.argv[2] ?? join(root, 'dist/packages'));
    for (const file of await packAll(folder)) console.log(join(folder, file));
  });
}
