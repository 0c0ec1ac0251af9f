/**
 * Throws at import on a Node that is older than `engines` of the package. The command `stepwright` finds a newer one by itself; a
 * test runner does not, and there the first thing to fail would be Python, for a reason that nobody understands.
 *
 * `index.ts` imports it before everything else.
 */
import { readFileSync } from 'node:fs';

/** @throws Error */
export function checkNode(version: string, needed: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return;
  throw new Error(
    `stepwright/testing needs Node ${needed} or later, but this is Node ${version}. Run the tests on a newer Node, or use the ` +
      'command `stepwright test`, which brings its own.',
  );
}

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { engines } = JSON.parse(manifest) as { readonly engines: { readonly node: string } };
checkNode(process.versions.node, engines.node.replace('>=', ''));
