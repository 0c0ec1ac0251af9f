/**
 * `pnpm --filter @stepwright/sdk check:lowest-node`: runs the built SDKs on the lowest version of Node.js in their
 * package.json, with a server on this repository's version. It needs npm's registry, so it is not part of the tests.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from './server-process.js';

const SMOKE = fileURLToPath(new URL('smoke.mjs', import.meta.url));

const lowest = lowestNode('../../package.json');
if (lowest !== lowestNode('../../../worker-sdk/package.json')) {
  throw new Error('the SDKs name different Nodes');
}
const server = await ServerProcess.start();
try {
  for (const args of [['--version'], [SMOKE, server.url]]) {
    const output = execFileSync('npx', ['-y', `node@${lowest}`, ...args], { encoding: 'utf8' });
    console.info(output.trim());
  }
} finally {
  await server.remove();
}

/** `>=20.3` means 20.3.0. */
function lowestNode(packageFile: string): string {
  const text = readFileSync(fileURLToPath(new URL(packageFile, import.meta.url)), 'utf8');
  const { engines } = JSON.parse(text) as { readonly engines: { readonly node: string } };
  const [major, minor = '0', patch = '0'] = engines.node.replace('>=', '').split('.');
  return `${major}.${minor}.${patch}`;
}
