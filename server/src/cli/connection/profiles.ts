/**
 * Stored servers and tokens, in a file that only its owner can read. Tokens are never printed.
 *
 * The file is replaced atomically, so a reader never sees half of it.
 */
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../engine/values/json.js';
import { EXIT_CODES } from '../exit-codes.js';
import { CommandFailure, misused } from '../failure.js';

export interface Profile {
  readonly url: string;
  /** Null if the server doesn't require one. */
  readonly token: string | null;
}

export interface Profiles {
  /** The profile used by default. */
  readonly current: string | null;
  readonly profiles: ReadonlyMap<string, Profile>;
}

const BYTES_MAX = 1 << 20;
const NAME = /^[\w.-]{1,64}$/;
const ONLY_OWNER = 0o600;
const OTHERS = 0o077;

export function profilesFile(environment: NodeJS.ProcessEnv = process.env): string {
  // According to the specification, relative paths must be ignored.
  const { XDG_CONFIG_HOME: given = '' } = environment;
  const folder = path.isAbsolute(given) ? given : path.join(homedir(), '.config');
  return path.join(folder, 'stepwright', 'profiles.json');
}

/** @throws CommandFailure if the file cannot be read, is not valid, or can be read by others */
export async function readProfiles(file: string = profilesFile()): Promise<Profiles> {
  const text = await readPrivate(file);
  if (text === null) return { current: null, profiles: new Map() };
  const invalid = (reason: string): CommandFailure =>
    new CommandFailure(`${file} cannot be used: ${reason}`, 'Correct the file or delete it');
  let content: Json;
  try {
    content = readJson(text);
  } catch {
    throw invalid('it is not JSON');
  }
  if (!isJsonObject(content)) throw invalid('it is not an object');
  const { current = null, profiles = {} } = content;
  if (!isJsonObject(profiles)) throw invalid('`profiles` is not an object');
  if (current !== null && typeof current !== 'string') throw invalid('`current` is not text');
  const entries = Object.entries(profiles).map(([name, profile]): [string, Profile] => {
    if (!isJsonObject(profile)) throw invalid(`the profile ${name} is not an object`);
    const { token = null, url } = profile;
    if (typeof url !== 'string') throw invalid(`the profile ${name} has no url`);
    if (token !== null && typeof token !== 'string') {
      throw invalid(`the token of the profile ${name} is not text`);
    }
    return [name, { url, token }];
  });
  return { current, profiles: new Map(entries) };
}

export async function writeProfiles(
  { current, profiles }: Profiles,
  file: string = profilesFile(),
): Promise<void> {
  const text = writeJson({ current, profiles: Object.fromEntries(profiles) }, 2);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, `${text}\n`, { mode: ONLY_OWNER, flag: 'wx' });
    // The mode above is subject to the umask.
    await chmod(draft, ONLY_OWNER);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** @throws CommandFailure if there is none */
export function profileNamed(name: string, { profiles }: Profiles): Profile {
  const found = profiles.get(name);
  if (found !== undefined) return found;
  const known = [...profiles.keys()];
  const others = known.length === 0 ? 'there are none yet' : `there are ${known.join(', ')}`;
  throw new CommandFailure(
    `there is no profile ${name}; ${others}`,
    `Create it: stepwright profile set ${name} --url <url>`,
    EXIT_CODES.misused,
  );
}

/** @throws CommandFailure */
export function checkedProfileName(name: string): string {
  if (NAME.test(name)) return name;
  throw misused(
    'the name of a profile must have 1 to 64 characters: letters, digits, and the characters . _ -',
  );
}

/** Null if there is no file. */
async function readPrivate(file: string): Promise<string | null> {
  let found;
  try {
    found = await stat(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  // Windows doesn't have these bits.
  if (process.platform !== 'win32' && (found.mode & OTHERS) !== 0) {
    throw new CommandFailure(
      `${file} contains tokens, and other users may open it`,
      `Restrict it to yourself: chmod 600 ${file}`,
    );
  }
  if (found.size > BYTES_MAX) throw new CommandFailure(`${file} is too large`);
  return withoutByteOrderMark(await readFile(file, 'utf8'));
}
