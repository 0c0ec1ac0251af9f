/**
 * The secrets that the operator gives to definitions: files of a directory, as Docker and Kubernetes mount them, and
 * environment variables `secret_NAME`. A file comes before a variable of the same name.
 *
 *  SC1 A file is read when its value is needed, so a changed one counts at the next call.
 *  SC2 Only names that expressions can write after `secrets.` count: other files, such as `sealing-key`, are never read.
 *  SC3 The mask knows every value that was read, also after it has changed: calls that were made with it may still return.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withoutByteOrderMark } from '../base/byte-order-mark.js';
import { SecretMask } from './secret-mask.js';

export interface SecretSource {
  /** In ascending order. */
  names(): readonly string[];
  /** Null: there is no secret of this name, or it cannot be read. */
  value(name: string): string | null;
  /** Of all values that were read. */
  readonly mask: SecretMask;
}

export const NO_SECRETS: SecretSource = {
  names: () => [],
  value: () => null,
  mask: new SecretMask(),
};

/** Reads every secret, so that values are masked which other nodes have used. */
export function learnSecrets(source: SecretSource): void {
  for (const name of source.names()) source.value(name);
}

export interface SecretSourceOptions {
  /** Null: there are no files. */
  readonly directory: string | null;
  /** By the names after `secret_`. */
  readonly variables: ReadonlyMap<string, string>;
}

const NAME = /^[A-Za-z]\w{0,99}$/;
const BYTES_MAX = 64 * 1024;
const FILES_MAX = 1000;

/** Whether `secrets.NAME` can name it in an expression. */
export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

export function createSecretSource({ directory, variables }: SecretSourceOptions): SecretSource {
  const files = directory === null ? null : new SecretFiles(directory);
  const mask = new SecretMask();
  const source: SecretSource = {
    names: () => [...new Set([...(files?.names() ?? []), ...variables.keys()])].sort(),
    value(name) {
      if (!isSecretName(name)) return null;
      const value = files?.value(name) ?? variables.get(name) ?? null;
      if (value !== null) mask.add(name, value);
      return value;
    },
    mask,
  };
  learnSecrets(source);
  return source;
}

interface KnownFile {
  /** Changes with the content. */
  readonly stamp: string;
  readonly value: string;
}

class SecretFiles {
  readonly #directory: string;
  readonly #known = new Map<string, KnownFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  names(): readonly string[] {
    try {
      const entries = readdirSync(this.#directory, { withFileTypes: true });
      // Mounted secrets are symbolic links.
      return entries
        .filter((entry) => !entry.isDirectory())
        .map(({ name }) => name)
        .filter(isSecretName)
        .sort()
        .slice(0, FILES_MAX);
    } catch {
      return [];
    }
  }

  value(name: string): string | null {
    const path = join(this.#directory, name);
    try {
      const stat = statSync(path);
      const { ctimeMs, ino, mtimeMs, size } = stat;
      if (!stat.isFile() || size > BYTES_MAX) return null;
      const stamp = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
      const known = this.#known.get(name);
      if (known?.stamp === stamp) return known.value;
      const value = withoutByteOrderMark(readFileSync(path, 'utf8')).replace(/\r?\n$/, '');
      this.#known.set(name, { stamp, value });
      return value;
    } catch {
      this.#known.delete(name);
      return null;
    }
  }
}
