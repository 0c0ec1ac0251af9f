/** Checks the combination of the settings for PostgreSQL, and the files that they name. */
import { readFileSync } from 'node:fs';
import {
  isPostgresAddress,
  readPostgresAddress,
  type PostgresAddress,
} from '../postgres/address.js';
import type { Config } from './settings.js';

type PostgresSettings = Pick<Config, 'dbhost' | 'dbhost_listen' | 'dbhost_password_file'>;

/** Returns a sentence that says what is wrong, without secrets; null if everything is right. */
export function problemWithPostgres(config: PostgresSettings): string | null {
  const { dbhost, dbhost_listen, dbhost_password_file } = config;
  if (dbhost === null || !isPostgresAddress(dbhost)) {
    for (const name of ['dbhost_listen', 'dbhost_password_file'] as const) {
      if (config[name] !== null) return `${name} requires a dbhost that begins with postgres://`;
    }
    return null;
  }
  const addresses = { dbhost, ...(dbhost_listen !== null && { dbhost_listen }) };
  for (const [name, text] of Object.entries(addresses)) {
    const address = readPostgresAddress(text);
    if (address.password !== null && dbhost_password_file !== null) {
      return `${name} contains a password although dbhost_password_file is set; remove one of them`;
    }
    const problem = problemWithFiles(address);
    if (problem !== null) return `${name} ${problem}`;
  }
  return problemWithPasswordFile(dbhost_password_file);
}

function problemWithFiles({ caFile, certificateFile, keyFile }: PostgresAddress): string | null {
  const files = { sslrootcert: caFile, sslcert: certificateFile, sslkey: keyFile };
  for (const [parameter, path] of Object.entries(files)) {
    const read = path === null ? null : readText(path);
    if (read === null) continue;
    if ('problem' in read)
      return `names a file with ${parameter} that cannot be read: ${read.problem}`;
    if (!read.text.includes('-----BEGIN ')) return `names a file with ${parameter} that is not PEM`;
  }
  return null;
}

function problemWithPasswordFile(path: string | null): string | null {
  if (path === null) return null;
  const read = readText(path);
  if ('problem' in read) return `dbhost_password_file cannot be read: ${read.problem}`;
  if (read.text.trim() === '') return 'dbhost_password_file names an empty file';
  return null;
}

function readText(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    // Only the error code: the path may be a password that was put into the wrong setting.
    return {
      problem: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error',
    };
  }
}
