/**
 * Checks everything that is required before a release: one version, changelogs, licenses, packages that resolve and have types, a
 * bill of materials, and the files that npm would publish.
 *
 *   pnpm release:version 0.2.0
 *   pnpm release:check            (--any-version before the version is set)
 *
 * Called by: `pnpm release:check`.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../build/build.mjs';
import { pnpmCommand, root, runMain, runTool, startTool } from '../tool.mjs';
import { packAll, PUBLISHED } from './pack-all.mjs';
import { billOfMaterials } from './sbom.mjs';
import { checkChangelogs, commonVersion } from './version.mjs';

/** A larger tarball contains unnecessary files. */
const TARBALL_BYTES_MAX = { stepwright: 12_500_000, sdk: 220_000, 'worker-sdk': 100_000 };

const isAnyVersion = process.argv.includes('--any-version');
const folder = join(root, 'dist/release');

await runMain(async () => {
  await step('one version', () => commonVersion(root));
  if (!isAnyVersion) await step('changelogs', () => checkChangelogs(root, commonVersion(root)));
  await step('build', () => build());
  await step('licenses', () => runTool('node', ['scripts/check/licenses.mjs']));
  for (const name of PUBLISHED) {
    await step(`package ${name}: publint, types`, () => run('--dir', name, 'check:package'));
    await step(`package ${name}: what npm would publish`, () =>
      runTool('npm', ['publish', '--dry-run', '--ignore-scripts', '--silent'], {
        cwd: join(root, name),
      }),
    );
  }
  await step('tarballs', checkTarballs);
  await step('bill of materials', () => {
    writeFileSync(join(folder, 'sbom.json'), JSON.stringify(billOfMaterials(), null, 2));
  });
  console.log(`Ready: the tarballs and sbom.json are in ${folder}.`);
});

async function checkTarballs() {
  mkdirSync(folder, { recursive: true });
  for (const file of await packAll(folder)) {
    const name = file.replace(/^stepwright-(?=sdk|worker)/, '').replace(/-\d.*$/, '');
    const { size } = statSync(join(folder, file));
    if (size <= TARBALL_BYTES_MAX[name]) continue;
    throw new Error(`${file} has ${size} bytes, more than ${TARBALL_BYTES_MAX[name]}`);
  }
}

async function step(title, check) {
  console.log(`== ${title}`);
  await check();
}

function run(...args) {
  const [command, ...first] = pnpmCommand();
  return startTool(command, [...first, ...args]);
}
