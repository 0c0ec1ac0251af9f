/** Goal: the origin of a folder is the same on every machine, names no secret, and names the folder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOrigin, repositoryOf, sourceOf } from '../../src/cli/files/origin.js';

let top: string;
let flows: string;
beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'stepwright-origin-'));
  flows = path.join(top, 'flows');
  mkdirSync(flows);
});
afterEach(() => rmSync(top, { recursive: true }));

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  return execFileSync('git', ['-C', top, ...identity, ...args], { encoding: 'utf8' }).trim();
}

function commit(): string {
  git('init', '--quiet');
  writeFileSync(path.join(flows, 'a.yaml'), 'Id: a\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
  return git('rev-parse', '--short=12', 'HEAD');
}

describe('the repository name', () => {
  it.each([
    'git@github.com:acme/shop.git',
    'https://github.com/acme/shop',
    'https://GitHub.com/acme/shop.git/',
    'https://user:secret@github.com/acme/shop.git',
    'ssh://git@github.com/acme/shop.git',
  ])('is read from %s', (address) => {
    expect(repositoryOf(address)).toBe('github.com/acme/shop');
  });

  it.each(['', '/srv/git/shop.git', '../shop', 'file:///srv/shop', 'C:\\shop', '/'])(
    'is absent for the local path %j',
    (address) => {
      expect(repositoryOf(address)).toBeNull();
    },
  );
});

describe('the origin of a folder', () => {
  it('is its place in the repository, and the commit', async () => {
    const revision = commit();
    git('remote', 'add', 'origin', 'https://user:secret@github.com/acme/shop.git');
    expect(await findOrigin(flows, undefined, {})).toBe(`github.com/acme/shop/flows@${revision}`);
    expect(await findOrigin(top, undefined, {})).toBe(`github.com/acme/shop@${revision}`);
    writeFileSync(path.join(flows, 'a.yaml'), 'Id: b\n');
    expect(await findOrigin(flows, undefined, {})).toMatch(/flows@[0-9a-f]{12}-changed$/);
  });

  it('is the given name, with the commit unless that is given too', async () => {
    expect(await findOrigin(flows, 'shop', {})).toBe('shop');
    const revision = commit();
    expect(await findOrigin(flows, 'shop', {})).toBe(`shop@${revision}`);
    expect(await findOrigin(flows, 'shop@v1', {})).toBe('shop@v1');
  });

  it('is unknown without a repository, or without an address of it', async () => {
    expect(await findOrigin(flows, undefined, {})).toBeNull();
    commit();
    expect(await findOrigin(flows, undefined, {})).toBeNull();
  });

  it.each([
    {
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_SHA: '3f2c1a9d0b1e2f3a',
      GITHUB_WORKSPACE: '',
    },
    {
      CI_PROJECT_URL: 'https://github.com/acme/shop',
      CI_COMMIT_SHA: '3f2c1a9d0b1e2f3a',
      CI_PROJECT_DIR: '',
    },
  ])('comes from the variables of the job if there is no repository', async (variables) => {
    const root = Object.keys(variables).at(-1) ?? '';
    const job = { ...variables, [root]: top };
    expect(await findOrigin(flows, undefined, job)).toBe('github.com/acme/shop/flows@3f2c1a9d0b1e');
    expect(await findOrigin(tmpdir(), undefined, job)).toBeNull();
  });

  it.each([
    ['a\u001b[2J@1', 'control character'],
    ['@1', 'names no source'],
    [`${'x'.repeat(200)}@1`, 'longer than 200'],
  ])('rejects %j', async (given, reason) => {
    await expect(findOrigin(flows, given, {})).rejects.toThrow(reason);
  });

  it('has a source that is the same for every commit', () => {
    expect(sourceOf('github.com/a/b@1')).toBe('github.com/a/b');
    expect(sourceOf('team@home/b@1')).toBe('team@home/b');
    expect(sourceOf('shop')).toBe('shop');
  });
});
