import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSeal, type Seal } from '../../src/base/seal.js';

const SECRET = 'whsec_é€😀 not for everyone';
const PLACE = 'notification/billing';

const newKeyFile = (): string =>
  join(mkdtempSync(join(tmpdir(), 'stepwright-seal-')), 'data', 'sealing-key');
const created = (keyFile = newKeyFile()): Seal => createSeal({ keyFile, creates: true });
const given = (text: string): Seal => {
  const keyFile = join(mkdtempSync(join(tmpdir(), 'stepwright-seal-')), 'sealing-key');
  writeFileSync(keyFile, text);
  return createSeal({ keyFile, creates: false });
};

describe('A seal', () => {
  it('opens a sealed secret, also after a restart', () => {
    const keyFile = newKeyFile();
    const sealed = created(keyFile).seal(SECRET, PLACE);
    expect(created(keyFile).open(sealed, PLACE)).toBe(SECRET);
  });

  it('hides the secret, differently each time', () => {
    const seal = created();
    const sealed = seal.seal(SECRET, PLACE);
    expect(Buffer.from(sealed.slice(3), 'base64url').includes(SECRET.slice(0, 6))).toBe(false);
    expect(seal.seal(SECRET, PLACE)).not.toBe(sealed);
  });

  it('creates its key when it first seals, readable for its owner only', () => {
    const keyFile = newKeyFile();
    const seal = created(keyFile);
    expect(existsSync(keyFile)).toBe(false);
    seal.seal(SECRET, PLACE);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(keyFile, '..'))).toEqual(['sealing-key']);
  });

  it('does not replace a key that another process has created', () => {
    const keyFile = newKeyFile();
    const [one, other] = [created(keyFile), created(keyFile)];
    const sealed = one.seal(SECRET, PLACE);
    expect(one.open(other.seal('other', PLACE), PLACE)).toBe('other');
    expect(other.open(sealed, PLACE)).toBe(SECRET);
  });

  it('uses the key that it is given, without the newline at its end', () => {
    const sealed = given('0123456789abcdef').seal(SECRET, PLACE);
    expect(given('0123456789abcdef\n').open(sealed, PLACE)).toBe(SECRET);
    expect(() => given('0123456789abcdeX').open(sealed, PLACE)).toThrow('cannot be opened');
  });

  it('opens nothing for another place, and nothing that was changed or cut', () => {
    const seal = created();
    const sealed = seal.seal(SECRET, PLACE);
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    const altered = (change: (copy: Buffer) => Buffer): string =>
      `v1.${change(Buffer.from(bytes)).toString('base64url')}`;
    const flipped = (at: number): string =>
      altered((copy) => {
        copy[at]! ^= 1;
        return copy;
      });
    expect(() => seal.open(sealed, 'notification/other')).toThrow('cannot be opened');
    const broken = [flipped(0), flipped(12), flipped(bytes.length - 1)];
    const cut = [0, 11, 12, 20, 27, 28].map((end) => altered((copy) => copy.subarray(0, end)));
    for (const text of [...broken, ...cut, '', 'v1.', 'v2.x', SECRET]) {
      expect(() => seal.open(text, PLACE), text).toThrow(
        'restore that key, or set the secret again',
      );
    }
  });

  it('explains the problem with a key file', () => {
    expect(() => given('short').seal(SECRET, PLACE)).toThrow('shorter than 16 characters');
    const missing = createSeal({ keyFile: newKeyFile(), creates: false });
    expect(() => missing.seal(SECRET, PLACE)).toThrow('openssl rand -base64 32');
  });
});
