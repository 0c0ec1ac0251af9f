/**
 * Goal: servers that require tokens can be used with few words, and tokens never show.
 * Method: the real command with profiles, variables and tokens, against a server with access control.
 */
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../sdk/test/support/free-port.js';
import { CommandLine } from './command-line.js';

let line: CommandLine;
let key: string;
let admin: string;

interface MadeToken {
  readonly token: string;
  readonly settings: Readonly<Record<string, string>>;
}

beforeAll(async () => {
  // Only for the settings of the server that the tests use.
  const open = await CommandLine.start();
  key = path.join(open.folder, 'key.pem');
  const made = await open.json<MadeToken>(['token', '--key', key]);
  admin = made.token;
  line = await CommandLine.start(made.settings);
  return () => open.stop();
});
afterAll(() => line.stop());

describe('stepwright token', () => {
  it('keeps the private key for its owner, and makes further tokens with it', async () => {
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const args = ['token', '--key', key, '--scope', 'conductor:viewer', '--expires', '5m'];
    const { code, stderr, stdout } = await line.pipe(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(stderr).toContain("auth='true' alg='ES256' publickey='");
    const environment = { STEPWRIGHT_TOKEN: stdout.trim() };
    expect((await line.pipe(['list'], { environment })).code).toBe(0);
    const start = await line.pipe(['run', 'order'], { environment });
    expect(start.code).toBe(4);
    expect(start.stderr).toContain('docs/authentication.md');
    expect((await line.terminal(args)).screen).toContain('# The token');
  });

  it.each([
    { args: [], subject: userInfo().username },
    { args: ['--subject', 'billing'], subject: 'billing' },
  ])('names who the caller is, by default the user: $args', async ({ args, subject }) => {
    const { token } = await line.json<MadeToken>(['token', '--key', key, ...args]);
    const [, claims = ''] = token.split('.');
    const text = Buffer.from(claims, 'base64url').toString();
    expect(JSON.parse(text)).toMatchObject({ sub: subject, scope: 'conductor:admin' });
  });

  it.each([
    {
      args: ['--scope', 'everything'],
      message: "--scope: 'everything' is not a scope. Scopes: conductor:admin",
    },
    { args: ['--alg', 'none'], message: 'ES256' },
    { args: ['--expires', 'soon'], message: 'It must be a duration' },
  ])('rejects $args', async ({ args, message }) => {
    const { code, stderr } = await line.pipe(['token', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('rejects a key of another kind', async () => {
    const { code, stderr } = await line.pipe(['token', '--key', key, '--alg', 'RS256']);
    expect(code).toBe(2);
    expect(stderr).toContain('the key does not fit --alg RS256');
  });
});

describe('a server error', () => {
  it('says that the server requires a token', async () => {
    const { code, stderr } = await line.pipe(['list']);
    expect(code).toBe(4);
    expect(stderr).toMatch(/--token, STEPWRIGHT_TOKEN, or stepwright profile set\n$/);
    const wrong = await line.terminal(['list', '--token', 'ey.wrong.token']);
    expect(wrong.code).toBe(4);
    expect(wrong.screen).not.toContain('ey.wrong.token');
    expect((await line.pipe(['list', '--token', admin])).code).toBe(0);
  });

  it('names a server that is not there', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await line.pipe(['list', '--url', url]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^stepwright: the server at \S+ cannot be reached: .*ECONNREFUSED/);
    expect(stderr).toContain('stepwright dev');
    expect((await line.terminal(['run', 'order', '--url', url])).code).toBe(3);
  });

  it('names a server that is something else', async () => {
    const other = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo; // It listens on TCP.
    const { code, stderr } = await line.pipe(['list', '--url', `http://127.0.0.1:${port}`]);
    other.close();
    expect(code).toBe(3);
    expect(stderr).toContain('responded with 404, but it does not look like a Stepwright server');
  });

  it.each(['..', '.', ''])('gets no other path by the id %j', async (id) => {
    const { code, stderr } = await line.pipe(['show', id, '--token', admin]);
    expect(code).toBe(2);
    expect(stderr).toContain('is not a valid name or id');
  });
});

describe('the profile list', () => {
  it('stores a server and its token, and never prints the token', async () => {
    const set = ['profile', 'set', 'shop', '--url', line.url, '--token-stdin', '--use'];
    const stored = await line.pipe(set, { input: `${admin}\n` });
    expect(stored).toMatchObject({ code: 0, stdout: '' });
    const file = path.join(line.folder, 'config/stepwright/profiles.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(admin);

    const piped = await line.pipe(['profile', 'list']);
    expect(piped.stdout).toMatch(/^\* shop +http:\S+ +expires in \d+ minutes$/m);
    const { screen } = await line.terminal(['profile', 'list']);
    expect(screen).toContain('shop');
    const { stdout: json } = await line.pipe(['profile', 'list', '--json']);
    expect(JSON.parse(json)).toMatchObject({ items: [{ name: 'shop', hasToken: true }] });
    for (const text of [stored.stderr, piped.stdout, screen, json])
      expect(text).not.toContain(admin);

    // Without variables, commands use it.
    const environment = { STEPWRIGHT_URL: '' };
    expect((await line.pipe(['list'], { environment })).code).toBe(0);
    expect((await line.terminal(['list'], { environment })).code).toBe(0);
    // The address of the variable is the same server, but the token was not stored with it.
    expect((await line.pipe(['list'])).code).toBe(4);
    expect((await line.pipe(['list', '--profile', 'shop'])).code).toBe(0);
  });

  it('drops the token of a profile whose server changes', async () => {
    await line.pipe(['profile', 'set', 'moved', '--url', line.url, '--token', admin]);
    await line.pipe(['profile', 'set', 'moved', '--url', 'http://127.0.0.1:9']);
    const { items } = await line.json<{ items: { name: string; hasToken: boolean }[] }>([
      'profile',
      'list',
    ]);
    expect(items.find(({ name }) => name === 'moved')).toMatchObject({ hasToken: false });
  });

  it('selects and removes profiles', async () => {
    await line.pipe(['profile', 'set', 'other', '--url', line.url]);
    expect((await line.terminal(['profile', 'use', 'other'])).code).toBe(0);
    expect((await line.pipe(['profile', 'list'])).stdout).toMatch(/^\* other .* none$/m);
    expect((await line.terminal(['profile', 'remove', 'other'])).code).toBe(0);
    expect((await line.pipe(['profile', 'list'])).stdout).not.toContain('other');
    const gone = await line.pipe(['profile', 'use', 'other']);
    expect(gone.code).toBe(2);
    expect(gone.stderr).toContain('there is no profile other');
    expect((await line.pipe(['profile', 'set', 'a/b', '--url', line.url])).code).toBe(2);
    expect((await line.terminal(['profile', 'set', 'new'])).code).toBe(2);
  });
});
