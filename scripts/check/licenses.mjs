/**
 * Fails if a package that the product needs at run time has a license that has not been approved.
 *
 * Called by: `pnpm check:licenses`, verify.mjs.
 */
import { isMain, runMain } from '../tool.mjs';
import { listPackages } from '../release/list-packages.mjs';

const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  // Requires publishing its sources if they are modified; elkjs is shipped unmodified.
  'EPL-2.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** SPDX: `OR` needs one allowed license, `AND` needs all to be allowed. */
export function isAllowed(license) {
  const text = license.replace(/[()]/g, ' ').trim();
  return text
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((name) => ALLOWED.has(name.trim())));
}

if (isMain(import.meta.url)) {
  await runMain(() => {
    const packages = listPackages();
    const refused = packages.filter(({ license }) => !isAllowed(license));
    for (const { license, name, version } of refused) {
      console.error(`${name}@${version}: ${license === '' ? 'no license' : license}`);
    }
    if (packages.length === 0) throw new Error('there are no packages to check: run pnpm install');
    if (refused.length > 0) throw new Error(`${refused.length} licenses are not allowed`);
    console.log(`${packages.length} packages, all with allowed licenses`);
  });
}
