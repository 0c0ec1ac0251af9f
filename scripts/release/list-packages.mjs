/**
 * Lists every package that the published parts need at run time, where it is installed, with its license.
 *
 * Called by: sbom.mjs, check/licenses.mjs.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../tool.mjs';

/** The packages of the page are included, because the server ships its built files. */
const PARTS = ['server', 'server/ui', 'sdk', 'worker-sdk'];

/** Packages whose files the build copies into the server, without their dependencies. */
const COPIED = ['prettier', 'swagger-ui-dist'];

/** Sorted by name and version, without duplicates and without the parts themselves. */
export function listPackages() {
  const left = leftOut();
  const found = new Map();
  const queue = PARTS.filter((part) => existsSync(join(root, part, 'package.json'))).map(
    (part) => ({
      folder: join(root, part),
      isOurs: true,
    }),
  );
  for (const name of COPIED) {
    const folder = findInstalled(join(root, 'server'), name);
    if (folder === null) throw new Error(`${name} is not installed: run pnpm install`);
    queue.push({ folder, isOurs: false });
  }
  for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
    const { folder, isOurs } = entry;
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { name, version } = manifest;
    if (!isOurs && found.has(`${name}@${version}`)) continue;
    if (!isOurs) found.set(`${name}@${version}`, { name, version, license: licenseOf(manifest) });
    if (COPIED.includes(name)) continue;
    const needed = { ...manifest.dependencies, ...manifest.optionalDependencies };
    for (const dependency of Object.keys(needed)) {
      if (left.has(`${name}>${dependency}`)) continue;
      const installed = findInstalled(folder, dependency);
      if (installed !== null) {
        queue.push({ folder: installed, isOurs: !installed.includes('node_modules') });
      } else if (manifest.optionalDependencies?.[dependency] === undefined) {
        throw new Error(`${dependency}, which ${name} needs, is not installed: run pnpm install`);
      }
    }
  }
  return [...found.values()].sort((a, b) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1,
  );
}

/** `package>dependency`: dependencies that are declared but not installed; see `overrides` in pnpm-workspace.yaml. */
function leftOut() {
  const { overrides } = parse(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'));
  const removed = Object.entries(overrides).filter(([, version]) => version === '-');
  return new Set(removed.map(([names]) => names));
}

function licenseOf({ license, licenses }) {
  if (typeof license === 'string') return license;
  if (typeof license?.type === 'string') return license.type;
  return Array.isArray(licenses) ? licenses.map(({ type }) => type).join(' OR ') : '';
}

/** Looks for a package like Node does: in `node_modules` beside the folder, then in the folders above. */
function findInstalled(folder, name) {
  for (let place = folder; ; place = dirname(place)) {
    const candidate = join(place, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (place === dirname(place)) return null;
  }
}
