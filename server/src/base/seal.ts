/**
 * Keeps secrets in the store unreadable for whoever sees only the store: AES-256-GCM with a key from a file.
 *
 * The key is read when it is first needed. Servers that never keep a secret need no key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Seal {
  /** @param place what the secret belongs to: it cannot be opened for anything else */
  seal(secret: string, place: string): string;
  /** @throws Error that says why it cannot be opened */
  open(sealed: string, place: string): string;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1.';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter texts are no keys. */
const KEY_LENGTH_MIN = 16;

export interface SealOptions {
  readonly keyFile: string;
  /** Whether the server creates the file if it is missing. */
  readonly creates: boolean;
}

export function createSeal(options: SealOptions): Seal {
  let key: Buffer | null = null;
  return sealWith((mayCreate) => (key ??= keyIn(options, mayCreate)), options.keyFile);
}

/** With a key that nobody else has: what it seals, only this process can open. */
export function createPrivateSeal(): Seal {
  const key = randomBytes(KEY_BYTES);
  return sealWith(() => key, 'memory');
}

function sealWith(readKey: (mayCreate: boolean) => Buffer, keyPlace: string): Seal {
  return {
    seal(secret, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, readKey(true), iv).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv(CIPHER, readKey(false), bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(place))
          .setAuthTag(tag);
        const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new Error(
          `the stored secret cannot be opened with the key in ${keyPlace}: restore that key, or set the secret again`,
          { cause: error },
        );
      }
    },
  };
}

/** @throws Error */
function keyIn({ creates, keyFile }: SealOptions, mayCreate: boolean): Buffer {
  if (creates && mayCreate) createKey(keyFile);
  let text: string;
  try {
    text = readFileSync(keyFile, 'utf8').trim();
  } catch (error) {
    const create = 'create it, for example with: openssl rand -base64 32';
    throw new Error(`the key file ${keyFile} cannot be read; ${create}`, { cause: error });
  }
  if (text.length < KEY_LENGTH_MIN) {
    throw new Error(`the key in ${keyFile} is shorter than ${KEY_LENGTH_MIN} characters`);
  }
  return createHash('sha256').update(text).digest();
}

/** Of several processes, one creates the key: it appears whole, and never replaces another. */
function createKey(keyFile: string): void {
  const own = `${keyFile}.${process.pid}`;
  mkdirSync(dirname(keyFile), { recursive: true });
  writeFileSync(own, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    linkSync(own, keyFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
}
