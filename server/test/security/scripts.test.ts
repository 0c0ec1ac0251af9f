/** The licenses, the audit and the bill of materials (S-22): the scripts as users run them. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-token-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(script: string, ...args: string[]) {
  return spawnSync(process.execPath, [path.join(ROOT, 'scripts', script), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
}

describe('the published package', () => {
  it('contains only dependencies with allowed licenses', () => {
    const { status, stdout, stderr } = run('check/licenses.mjs');
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^\d{2,} packages/);
  });

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0)', true],
    ['MIT AND GPL-3.0', false],
    ['(MPL-2.0 OR Apache-2.0)', true],
    ['GPL-3.0-only', false],
    ['AGPL-3.0', false],
    ['SEE LICENSE IN file', false],
    ['', false],
  ])('allows a dependency with %j: %s', async (license, allowed) => {
    const { isAllowed } = (await import(path.join(ROOT, 'scripts/check/licenses.mjs'))) as {
      isAllowed: (text: string) => boolean;
    };
    expect(isAllowed(license)).toBe(allowed);
  });

  it('has a bill of materials that lists every package once', () => {
    const { status, stdout, stderr } = run('release/sbom.mjs');
    expect(status, stderr).toBe(0);
    const bom = JSON.parse(stdout) as { bomFormat: string; components: { purl: string }[] };
    expect(bom.bomFormat).toBe('CycloneDX');
    const purls = bom.components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
    expect(purls.some((purl) => purl.startsWith('pkg:npm/express@'))).toBe(true);
    expect(purls.some((purl) => purl.startsWith('pkg:npm/vitest@'))).toBe(false);
    // Packages that tsoa could bring in.
    expect(purls.filter((purl) => /(%40hapi|koa|multer|express@4)/.test(purl))).toEqual([]);
  });

  it('runs only two named install scripts', () => {
    const workspace = readFileSync(path.join(ROOT, 'pnpm-workspace.yaml'), 'utf8');
    const allowed = [...workspace.matchAll(/^ {2}'?([\w@/-]+)'?: true$/gm)].map(([, name]) => name);
    expect(allowed).toEqual(['node', 'esbuild']);
  });
});

interface AuditResult {
  readonly status: number | null;
  readonly output: string;
  /** Names of the packages in the requests to the registry. */
  readonly asked: readonly string[];
}

/** Runs the audit against a local registry with the responses of a real one; null: nobody listens there. */
async function audit(answer: { status: number; body: string } | null): Promise<AuditResult> {
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push(...Object.keys(JSON.parse(body) as object));
      response.statusCode = answer?.status ?? 0;
      response.setHeader('Content-Type', 'application/json').end(answer?.body);
    });
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  const close = () => new Promise((resolve) => registry.close(resolve));
  if (answer === null) await close();
  const script = path.join(ROOT, 'scripts/check/audit.mjs');
  const child = spawn(process.execPath, [script, `--registry=http://127.0.0.1:${port}/`], {
    cwd: ROOT,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (answer !== null) await close();
  return { status, output, asked };
}

describe('the audit', () => {
  const advisory = (severity: string, versions: string) =>
    JSON.stringify({
      express: [
        {
          id: 1,
          url: 'https://example.org/advisories/1',
          title: 'Something bad',
          severity,
          vulnerable_versions: versions,
        },
      ],
    });

  it('passes and states the number of packages if the registry reports nothing', async () => {
    const { asked, output, status } = await audit({ status: 200, body: '{}' });
    expect(status, output).toBe(0);
    expect(output).toMatch(/^audited: \d{2,} packages, no known vulnerabilities/m);
    expect(output).not.toContain('NOT AUDITED');
    expect(asked).toContain('express');
    expect(asked).not.toContain('vitest');
  });

  it.each(['low', 'critical'])('fails for a vulnerability of severity %s', async (severity) => {
    const { output, status } = await audit({ status: 200, body: advisory(severity, '<99') });
    expect(status, output).toBe(1);
    expect(output).toContain(`${severity}: express: Something bad https://example.org`);
    expect(output).toContain(`there are known vulnerabilities: 1 ${severity}`);
  });

  it('passes if the vulnerability affects another version', async () => {
    const { output, status } = await audit({ status: 200, body: advisory('high', '<1.0.0') });
    expect(status, output).toBe(0);
  });

  it.each([
    ['does not support the call', { status: 404, body: '{}' }],
    ['rejects the method', { status: 405, body: '' }],
    ['returns an HTML page', { status: 200, body: '<html>' }],
    ['is unavailable', null],
  ])('says NOT AUDITED and passes if the registry %s', async (_what, answer) => {
    const { output, status } = await audit(answer);
    expect(status, output).toBe(0);
    expect(output).toContain('NOT AUDITED');
    expect(output).not.toMatch(/^audited/m);
  });

  it('fails if the request could not be sent', () => {
    const { status, stderr } = run('check/audit.mjs', '--no-such-option');
    expect(status).toBe(1);
    expect(stderr).toContain('pnpm audit failed');
    expect(stderr).not.toContain('NOT AUDITED');
  });
});
