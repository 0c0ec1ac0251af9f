/** Goal: the right server gets the right token, and nobody else reads or gets it. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '../../src/cli/connection/connect.js';
import { readProfiles, writeProfiles } from '../../src/cli/connection/profiles.js';

const PROFILES = {
  current: 'shop',
  profiles: new Map([
    ['shop', { url: 'https://shop.example', token: 'shop-token' }],
    ['open', { url: 'http://127.0.0.1:7000/base/', token: null }],
  ]),
};
const misused = { exitCode: 2 };

let folder: string;
let file: string;
const before = process.env['XDG_CONFIG_HOME'];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-profiles-'));
  process.env['XDG_CONFIG_HOME'] = folder;
  file = path.join(folder, 'stepwright/profiles.json');
});
afterEach(() => {
  if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
  else process.env['XDG_CONFIG_HOME'] = before;
  rmSync(folder, { recursive: true });
});

describe('the server of a command', () => {
  it('is the local server by default', async () => {
    await expect(findServer({}, {})).resolves.toEqual({
      url: 'http://127.0.0.1:5001',
      token: null,
    });
  });

  it('comes from options, then variables, then the current profile', async () => {
    await writeProfiles(PROFILES);
    const environment = { STEPWRIGHT_URL: 'http://variable:1', STEPWRIGHT_TOKEN: 'v' };
    const urlOf = async (...of: Parameters<typeof findServer>): Promise<string> =>
      (await findServer(...of)).url;
    expect(await urlOf({ url: 'http://option:2/' }, environment)).toBe('http://option:2');
    expect(await urlOf({ profile: 'open' }, environment)).toBe('http://127.0.0.1:7000/base');
    expect(await urlOf({}, environment)).toBe('http://variable:1');
    expect(await urlOf({}, { STEPWRIGHT_PROFILE: 'open' })).toBe('http://127.0.0.1:7000/base');
    expect(await urlOf({}, { STEPWRIGHT_URL: '' })).toBe('https://shop.example');
  });

  it('gets a stored token only if it was stored with it', async () => {
    await writeProfiles(PROFILES);
    const tokenOf = async (...of: Parameters<typeof findServer>): Promise<string | null> =>
      (await findServer(...of)).token;
    expect(await tokenOf({}, {})).toBe('shop-token');
    expect(await tokenOf({ profile: 'shop' }, { STEPWRIGHT_TOKEN: 'v' })).toBe('shop-token');
    expect(await tokenOf({ token: 'o' }, { STEPWRIGHT_TOKEN: 'v' })).toBe('o');
    expect(await tokenOf({ url: 'https://other.example' }, {})).toBeNull();
    expect(await tokenOf({}, { STEPWRIGHT_URL: 'https://other.example' })).toBeNull();
    expect(await tokenOf({ profile: 'open' }, { STEPWRIGHT_TOKEN: 'v' })).toBeNull();
  });

  it.each([
    { options: { url: 'ftp://x' }, message: '--url must be a URL' },
    { options: { url: 'http://ada:secret@host' }, message: 'must not contain a password' },
    { options: { url: 'http://a', profile: 'b' }, message: 'give only one' },
    { options: { profile: 'nope' }, message: 'there is no profile nope' },
  ])('rejects the options: $message', async ({ message, options }) => {
    await expect(findServer(options, {})).rejects.toMatchObject({
      ...misused,
      message: expect.stringContaining(message) as string,
    });
  });
});

describe('the profile file', () => {
  it('is readable for its owner only, and leaves no drafts behind', async () => {
    await writeProfiles(PROFILES);
    await writeProfiles(PROFILES);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file))).toEqual(['profiles.json']);
    expect(await readProfiles()).toEqual(PROFILES);
  });

  it('is not used if others can read it', async () => {
    await writeProfiles(PROFILES);
    chmodSync(file, 0o644);
    await expect(readProfiles()).rejects.toThrow(/other users may open it/);
  });

  it.each(['{', '[]', '{"profiles":[]}', '{"profiles":{"a":{}}}', '{"current":1}'])(
    'is reported if it is broken: %s',
    async (text) => {
      await writeProfiles(PROFILES);
      writeFileSync(file, text);
      await expect(readProfiles()).rejects.toThrow(/profiles\.json cannot be used: /);
    },
  );
});
