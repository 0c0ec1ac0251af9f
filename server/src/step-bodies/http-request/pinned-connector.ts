/**
 * Connections that can only reach an address that the policy allows.
 *
 * The name is resolved once for each connection, the addresses are checked, and the socket gets exactly the addresses that
 * passed: a name that resolves differently a moment later (DNS rebinding) has no effect. This check cannot be bypassed,
 * because every request, after every redirect, needs a connection.
 */
import { lookup as lookupHost } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Every address of a host, in the order in which they should be tried. */
export type AddressLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The policy does not allow calls to this host or address. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError' as const;
}

/** Long enough for a distant host that lost a few packets, short enough to be distinguished from a slow response. */
const CONNECT_TIMEOUT_MS = 10_000;

/** The operating system's own resolution, with its hosts file. */
export const systemLookup: AddressLookup = async (hostname) => {
  const found = await lookupHost(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

export function createPinnedConnector(
  policy: AddressPolicy,
  lookup: AddressLookup,
): buildConnector.connector {
  const connect = buildConnector({
    // One request per connection: `connections` then limits the requests to a host.
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    lookup: createPinnedLookup(policy, lookup),
  });
  return (options, callback) => {
    // An address in the URL is never looked up, so it must be checked here.
    const refusal = isIP(options.hostname) === 0 ? null : policy.refuseAddress(options.hostname);
    if (refusal === null) {
      connect(options, callback);
    } else {
      queueMicrotask(() => {
        callback(new AddressRefusedError(refusal), null);
      });
    }
  };
}

function createPinnedLookup(policy: AddressPolicy, lookup: AddressLookup): LookupFunction {
  return (hostname, options, callback) => {
    resolveAllowed(hostname, policy, lookup).then(
      ([first, ...others]) => {
        if (options.all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), '');
      },
    );
  };
}

/** Refused addresses are omitted, so that a host with one allowed address can be called. */
async function resolveAllowed(
  hostname: string,
  policy: AddressPolicy,
  lookup: AddressLookup,
): Promise<[ResolvedAddress, ...ResolvedAddress[]]> {
  const allowed: ResolvedAddress[] = [];
  const refusals: string[] = [];
  for (const candidate of await lookup(hostname)) {
    const refusal = policy.refuseAddress(candidate.address);
    if (refusal === null) allowed.push(candidate);
    else refusals.push(refusal);
  }
  const [first, ...others] = allowed;
  if (first !== undefined) return [first, ...others];
  const [refusal] = refusals;
  if (refusal === undefined) throw new Error(`${hostname} has no address`);
  throw new AddressRefusedError(`${hostname} may not be called: ${refusal}`);
}
