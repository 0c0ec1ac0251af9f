/**
 * Throws at import if the version of Node.js is too old. Without this check, the first missing API would cause an obscure error.
 *
 * `index.ts` imports it before everything else. It does not check browsers, Deno or Bun.
 */
const LOWEST = [20, 3] as const;

interface Runtime {
  readonly process?: { readonly versions?: { readonly node?: string } };
  readonly Deno?: unknown;
  readonly Bun?: unknown;
}

const { Bun, Deno, process } = globalThis as Runtime;
const version = process?.versions?.node;
if (version !== undefined && Deno === undefined && Bun === undefined) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < LOWEST[0] || (major === LOWEST[0] && minor < LOWEST[1])) {
    throw new Error(
      `The Stepwright SDK requires Node ${LOWEST.join('.')} or later, but this is Node ${version}. Install a newer Node from https://nodejs.org.`,
    );
  }
}

export {};
