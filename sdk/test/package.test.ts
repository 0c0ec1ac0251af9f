/** The package as published: its size, contents, requirements and types. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Sdk from '../src/index.js';
import { ServerProcess } from './support/server-process.js';
import { typeErrors } from './support/type-check.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

async function bundle(
  source: string,
  options: BuildOptions = {},
): Promise<{ readonly code: string; readonly gzipBytes: number; readonly files: string[] }> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: source, resolveDir: PACKAGE },
    bundle: true,
    minify: true,
    format: 'esm',
    // Fails on every API of Node.js.
    platform: 'browser',
    target: 'es2022',
    ...options,
    metafile: true,
    write: false,
  });
  const { text, contents } = outputFiles[0]!;
  return { code: text, gzipBytes: gzipSync(contents).length, files: Object.keys(metafile.inputs) };
}

describe('the SDK package', () => {
  it('stays within 16 kB, minified and gzipped', async () => {
    const { gzipBytes } = await bundle(`export * from '@stepwright/sdk'`);
    console.info(`@stepwright/sdk: ${gzipBytes} bytes minified and gzipped`);
    expect(gzipBytes).toBeLessThanOrEqual(16_000);
  });

  it('is tree-shakable', async () => {
    const { files, gzipBytes } = await bundle(`export { isApiError } from '@stepwright/sdk'`);
    expect(gzipBytes).toBeLessThan(1000);
    expect(files.length).toBeGreaterThan(0);
  });

  it('passes the package linters', () => {
    const run = (tool: string, ...args: string[]): string =>
      execFileSync(`${PACKAGE}/node_modules/.bin/${tool}`, args, {
        cwd: PACKAGE,
        encoding: 'utf8',
      });
    expect(run('publint', '--strict', '--pack', 'npm')).toContain('All good');
    expect(run('attw', '--pack', '.', '--profile', 'esm-only', '--no-color')).not.toMatch(/❌/);
  });
});

describe('the built SDK', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start();
  });
  afterAll(async () => {
    await server.remove();
  });

  it('completes a workflow with a worker in a separate program', () => {
    const smoke = fileURLToPath(new URL('support/smoke.mjs', import.meta.url));
    const output = execFileSync(process.execPath, [smoke, server.url], { encoding: 'utf8' });
    expect(output).toBe('Complete 42\n');
  });

  it('uses only APIs that browsers have', async () => {
    const { code } = await bundle(`export * from '@stepwright/sdk'`, {
      format: 'iife',
      globalName: 'sdk',
    });
    const web = {
      fetch,
      Request,
      Response,
      Headers,
      URL,
      URLSearchParams,
      ReadableStream,
      FormData,
      AbortController,
      AbortSignal,
      DOMException,
      TextDecoder,
      TextEncoder,
      setTimeout,
      clearTimeout,
      performance,
      crypto,
    };
    const context = createContext({ ...web });
    runInContext(code, context);
    const { createClient, isApiError } = runInContext('sdk', context) as typeof Sdk;
    const client = createClient({ baseUrl: server.url });
    await client.definitions.register({ id: 'web', steps: [{ id: 'x', stepType: 'NoOp' }] });
    const handle = await client.workflows.start('web', { from: 'a page' });
    expect(await handle.wait()).toMatchObject({ status: 'Complete', data: { from: 'a page' } });
    const error = await client.workflows.get('nope').catch((reason: unknown) => reason);
    expect(isApiError(error, 'workflow_not_found')).toBe(true);
  });
});

describe('the SDK type declarations', () => {
  it('fulfills the assertions in types.check.ts', () => {
    const file = fileURLToPath(new URL('types.check.ts', import.meta.url));
    expect(typeErrors(`${PACKAGE}/tsconfig.test.json`, [file])).toEqual([]);
  });
});
