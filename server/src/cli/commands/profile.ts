/** `stepwright profile`: manages stored servers and tokens. Tokens are never printed. */
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { checkedToken, checkedUrl } from '../connection/address.js';
import {
  checkedProfileName,
  profileNamed,
  profilesFile,
  readProfiles,
  writeProfiles,
  type Profile,
} from '../connection/profiles.js';
import { misused } from '../failure.js';
import { Output } from '../output/output.js';
import type { Column } from '../output/table.js';
import { relativeTime } from '../output/times.js';

interface OutputOptions {
  readonly json: boolean;
}

export interface SetOptions extends OutputOptions {
  readonly url?: string;
  readonly tokenStdin: boolean;
  /** False removes the stored token. */
  readonly token?: string | false;
  readonly use: boolean;
}

interface ListedProfile {
  readonly name: string;
  readonly url: string;
  readonly isCurrent: boolean;
  readonly hasToken: boolean;
  /** Null if there is no token, or if its expiry is unknown. */
  readonly tokenExpiry: string | null;
}

const COLUMNS: readonly Column<ListedProfile>[] = [
  { title: 'PROFILE', text: ({ isCurrent, name }) => `${isCurrent ? '*' : ' '} ${name}` },
  { title: 'SERVER', text: ({ url }) => url },
  { title: 'TOKEN', text: tokenText },
];

/** @param change the message about a change, printed instead of the table; JSON is the new state of all profiles either way */
export async function listProfiles(
  options: OutputOptions,
  change: string | null = null,
): Promise<void> {
  const output = new Output(options);
  const { current, profiles } = await readProfiles();
  const items = [...profiles].map(([name, { token, url }]): ListedProfile => {
    const isCurrent = name === current;
    return { name, url, isCurrent, hasToken: token !== null, tokenExpiry: expiryOf(token) };
  });
  output.result({ items }, () => {
    if (change !== null) output.note(change);
    else if (items.length > 0) output.table(items, COLUMNS);
    else output.note('There are no profiles. Create one: stepwright profile set');
  });
}

/** Creates or changes a profile. */
export async function setProfile(name: string, options: SetOptions): Promise<void> {
  const stored = await readProfiles();
  const before = stored.profiles.get(checkedProfileName(name));
  const url = options.url ?? before?.url;
  if (url === undefined) throw misused(`--url is missing: the profile ${name} is new`);
  const profile = { url: checkedUrl(url, '--url'), token: await tokenFor(before, url, options) };
  const profiles = new Map([...stored.profiles, [name, profile]]);
  await writeProfiles({ current: options.use ? name : stored.current, profiles });
  await listProfiles(options, `The profile ${name} is stored in ${profilesFile()}.`);
}

/** A token belongs to its server. After a server change, it must be given again. */
async function tokenFor(
  before: Profile | undefined,
  url: string,
  { token, tokenStdin }: SetOptions,
): Promise<string | null> {
  if (tokenStdin) return checkedToken((await text(process.stdin)).trim());
  if (token === false) return null;
  if (token !== undefined) return checkedToken(token);
  return before?.url === url ? before.token : null;
}

export async function useProfile(name: string, options: OutputOptions): Promise<void> {
  const stored = await readProfiles();
  profileNamed(name, stored);
  await writeProfiles({ ...stored, current: name });
  await listProfiles(options, `Commands now use the profile ${name}.`);
}

export async function removeProfile(name: string, options: OutputOptions): Promise<void> {
  const stored = await readProfiles();
  profileNamed(name, stored);
  const profiles = new Map(stored.profiles);
  profiles.delete(name);
  await writeProfiles({ current: stored.current === name ? null : stored.current, profiles });
  await listProfiles(options, `The profile ${name} is removed.`);
}

function tokenText({ hasToken, tokenExpiry }: ListedProfile, now: number): string {
  if (!hasToken) return 'none';
  if (tokenExpiry === null) return 'stored';
  const hasEnded = Date.parse(tokenExpiry) <= now;
  return `${hasEnded ? 'expired' : 'expires'} ${relativeTime(tokenExpiry, now)}`;
}

/** The token isn't verified: only its server can do that. */
function expiryOf(token: string | null): string | null {
  if (token === null) return null;
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? null : new Date(exp * 1000).toISOString();
  } catch {
    return null;
  }
}
