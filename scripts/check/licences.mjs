/**
 * Fails if a package that the product needs at run time has a licence that has not been approved.
 *
 * Called by: `pnpm check:licences`, verify.mjs.
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

/** SPDX: `OR` needs one allowed licence, `AND` needs all to be allowed. */
export function isAllowed(licence) {
  const text = licence.replace(/[()]/g, ' ').trim();
  return text
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((name) => ALLOWED.has(name.trim())));
}

if (isMain(import.meta.url)) {
  await runMain(() => {
    const packages = listPackages();
    const refused = packages.filter(({ licence }) => !isAllowed(licence));
    for (const { licence, name, version } of refused) {
      console.error(`${name}@${version}: ${licence === '' ? 'no licence' : licence}`);
    }
    if (packages.length === 0) throw new Error('there are no packages to check: run pnpm install');
    if (refused.length > 0) throw new Error(`${refused.length} licences are not allowed`);
    console.log(`${packages.length} packages, all with allowed licences`);
  });
}
