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

export async function listProfiles({ json }: OutputOptions): Promise<void> {
  const { current, profiles } = await readProfiles();
  const items = [...profiles].map(([name, { token, url }]): ListedProfile => {
    const isCurrent = name === current;
    return { name, url, isCurrent, hasToken: token !== null, tokenExpiry: expiryOf(token) };
  });
  const output = new Output();
  if (json) {
    output.json({ items });
    return;
  }
  if (items.length === 0) output.note('There are no profiles. Create one: stepwright profile set');
  else {
    output.table(items, [
      { title: 'PROFILE', text: ({ isCurrent, name }) => `${isCurrent ? '*' : ' '} ${name}` },
      { title: 'SERVER', text: ({ url }) => url },
      { title: 'TOKEN', text: (profile) => tokenText(profile, output.now) },
    ]);
  }
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
  await say(`The profile ${name} is stored in ${profilesFile()}.`, options);
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
  await say(`Commands now use the profile ${name}.`, options);
}

export async function removeProfile(name: string, options: OutputOptions): Promise<void> {
  const stored = await readProfiles();
  profileNamed(name, stored);
  const profiles = new Map(stored.profiles);
  profiles.delete(name);
  await writeProfiles({ current: stored.current === name ? null : stored.current, profiles });
  await say(`The profile ${name} is removed.`, options);
}

/** With --json, all profiles are printed in their new state. */
async function say(change: string, { json }: OutputOptions): Promise<void> {
  if (json) await listProfiles({ json });
  else new Output().note(change);
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
