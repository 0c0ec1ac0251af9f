/** The published package: its contents, its requirements and its types. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { SDK_VERSION } from '../src/worker-identity.js';
import { typeErrors } from '../../sdk/test/support/type-check.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

describe('the worker SDK package', () => {
  it('uses no Node.js APIs, and is small', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from '@stepwright/worker-sdk'`, resolveDir: PACKAGE },
      bundle: true,
      minify: true,
      format: 'esm',
      // Fails if a Node.js API is used.
      platform: 'browser',
      write: false,
    });
    const gzipBytes = gzipSync(outputFiles[0]!.contents).length;
    console.info(
      `@stepwright/worker-sdk: ${gzipBytes} bytes minified and gzipped, the SDK included`,
    );
    expect(gzipBytes).toBeLessThanOrEqual(20_500);
  });

  it('tells the server its own version', () => {
    const { version } = JSON.parse(readFileSync(`${PACKAGE}/package.json`, 'utf8')) as {
      readonly version: string;
    };
    expect(SDK_VERSION).toBe(version);
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

describe('the worker SDK type declarations', () => {
  it('fulfills the assertions in types.check.ts', () => {
    const file = fileURLToPath(new URL('types.check.ts', import.meta.url));
    expect(typeErrors(`${PACKAGE}/tsconfig.test.json`, [file])).toEqual([]);
  });
});
