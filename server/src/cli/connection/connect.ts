/**
 * Determines the server and token of a command.
 *
 *  CN1 A stored token is sent only to the server it was stored with, not to one given by --url or STEPWRIGHT_URL.
 *  CN2 Options override environment variables, which override stored profiles.
 */
import { misused } from '../failure.js';
import { checkedUrl, type Address } from './address.js';
import { ServerClient } from './server-client.js';
import type { ConnectionOptions } from './options.js';
import { profileNamed, readProfiles } from './profiles.js';

export const DEFAULT_URL = 'http://127.0.0.1:5001';

export async function connect(options: ConnectionOptions): Promise<ServerClient> {
  return new ServerClient(await findServer(options));
}

/** @throws CommandFailure if the options contradict each other, or a profile or an address is not valid */
export async function findServer(
  options: ConnectionOptions,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Address> {
  const { profile, url } = options;
  if (url !== undefined && profile !== undefined) {
    throw misused('--url and --profile both select a server: give only one of them');
  }
  // An empty variable counts as unset.
  const read = (name: string): string | undefined => environment[name] || undefined;
  const token = options.token ?? read('STEPWRIGHT_TOKEN') ?? null;
  if (url !== undefined) return { url: checkedUrl(url, '--url'), token };
  // A profile given for this call overrides the variables, and uses its own token.
  if (profile !== undefined) return fromProfile(profile, options.token ?? null);
  const variable = read('STEPWRIGHT_URL');
  if (variable !== undefined) return { url: checkedUrl(variable, 'STEPWRIGHT_URL'), token };
  const named = read('STEPWRIGHT_PROFILE') ?? (await readProfiles()).current;
  if (named !== null) return fromProfile(named, token);
  return { url: DEFAULT_URL, token };
}

async function fromProfile(name: string, token: string | null): Promise<Address> {
  const profile = profileNamed(name, await readProfiles());
  const url = checkedUrl(profile.url, `the profile ${name}`);
  return { url, token: token ?? profile.token };
}
