/**
 * Keeps secrets in the store unreadable for whoever sees only the store: AES-256-GCM with a key from a file.
 *
 * The key is read when it is first needed. Servers that never keep a secret need no key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from './errors.js';
import { isOpenToOthers, makePrivateDirectory, PRIVATE_FILE } from './private-files.js';

export interface Seal {
  /**
   * @param place what the secret belongs to: it cannot be opened for anything else
   * @throws AppError `sealing_key_unavailable`
   */
  seal(secret: string, place: string): string;
  /** @throws AppError `sealing_key_unavailable` that says why it cannot be opened */
  open(sealed: string, place: string): string;
  /** Why secrets cannot be sealed, for the operator; null if nothing is wrong, or the key will be created. */
  problem(): string | null;
  /** Whether every user of the machine may read the key. */
  isExposed(): boolean;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1.';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter texts are no keys. */
const KEY_LENGTH_MIN = 16;
const HOW_TO_CREATE =
  'the operator creates it, the same for all nodes, for example with: openssl rand -base64 32 > sealing-key';
/** Only the operator can help. Longer than clients wait for one call, so that they show the error at once. */
const RETRY_AFTER_SECONDS = 60;

export interface SealOptions {
  readonly keyFile: string;
  /** Whether the server creates the file in its own directory if it is missing. Otherwise, it is in `secrets_dir`. */
  readonly creates: boolean;
}

export function createSeal(options: SealOptions): Seal {
  const { creates, keyFile } = options;
  let key: Buffer | null = null;
  const readKey = (mayCreate: boolean): Buffer => (key ??= keyIn(options, mayCreate));
  return {
    ...sealWith(readKey, placeOf(options)),
    problem() {
      if (creates && !existsSync(keyFile)) return null;
      return problemOf(() => readKey(!creates));
    },
    // The mode of a mounted secret is that of its volume.
    isExposed: () => creates && isOpenToOthers(keyFile),
  };
}

function problemOf(action: () => unknown): string | null {
  try {
    action();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** As callers may see it: without the path. */
function placeOf({ creates }: SealOptions): string {
  return `sealing-key in ${creates ? 'data_dir' : 'secrets_dir'}`;
}

/** With a key that nobody else has: what it seals, only this process can open. */
export function createPrivateSeal(): Seal {
  const key = randomBytes(KEY_BYTES);
  return { ...sealWith(() => key, 'memory'), problem: () => null, isExposed: () => false };
}

function sealWith(
  readKey: (mayCreate: boolean) => Buffer,
  keyPlace: string,
): Pick<Seal, 'seal' | 'open'> {
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
        throw unavailable(
          `The stored secret cannot be opened with the key in the file ${keyPlace}: restore that key, or set the secret again`,
          error,
        );
      }
    },
  };
}

/** @throws AppError `sealing_key_unavailable` */
function keyIn(options: SealOptions, mayCreate: boolean): Buffer {
  const { creates, keyFile } = options;
  const where = `The key file ${placeOf(options)}`;
  let text: string;
  try {
    if (creates && mayCreate) createKey(keyFile);
    text = readFileSync(keyFile, 'utf8').trim();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A new key would not open what another one has sealed.
    const help = code === 'ENOENT' && mayCreate ? HOW_TO_CREATE : `check its permissions (${code})`;
    const what = code === 'ENOENT' ? 'is missing' : 'cannot be read or created';
    throw unavailable(`${where}, which protects secrets in the store, ${what}; ${help}`, error);
  }
  if (text.length < KEY_LENGTH_MIN) {
    throw unavailable(`${where} has a key that is shorter than ${KEY_LENGTH_MIN} characters`);
  }
  return createHash('sha256').update(text).digest();
}

function unavailable(message: string, cause?: unknown): AppError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new AppError('sealing_key_unavailable', message, { retryAfterSeconds, cause });
}

/** Of several processes, one creates the key: it appears whole, and never replaces another. */
function createKey(keyFile: string): void {
  const own = `${keyFile}.${process.pid}`;
  makePrivateDirectory(dirname(keyFile));
  writeFileSync(own, randomBytes(KEY_BYTES).toString('base64'), { mode: PRIVATE_FILE });
  try {
    linkSync(own, keyFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
}
