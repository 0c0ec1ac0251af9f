/**
 * Decides which hosts and addresses HttpRequest steps may call.
 *
 * Owns: the classes of addresses and the host lists. Must not know: HTTP, DNS, connections.
 *
 *  AP1 Link-local, metadata, multicast and reserved addresses are refused, whatever the settings are.
 *  AP2 An address is judged by its destination: IPv4 inside IPv6 counts as that IPv4 address.
 *  AP3 An address that is not known to be public is not public, and text that is not a valid address is refused.
 *  AP4 Host lists only restrict: an entry never allows what AP1 or a setting refuses.
 */
import ipaddr from 'ipaddr.js';

export interface AddressPolicyOptions {
  /** RFC 1918, carrier-grade NAT and unique local IPv6 addresses. */
  readonly allowPrivate: boolean;
  readonly allowLoopback: boolean;
  /** Null: every host. Names, `*.name` for everything below a name, addresses and CIDR ranges. */
  readonly allowHosts: readonly string[] | null;
  /** Like `allowHosts`; addresses and ranges also apply to the addresses that a name resolves to. */
  readonly denyHosts: readonly string[];
}

export interface AddressPolicy {
  /** Why the host of a URL must not be called, judging by its text; null if there is no objection. */
  refuseHost(hostname: string): string | null;
  /** Why connections to an address of a host are not allowed; null if they are. */
  refuseAddress(address: string): string | null;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

type HostPattern =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'below'; readonly suffix: string }
  | { readonly kind: 'range'; readonly range: readonly [Address, number] };

/** Names under which clouds offer credentials to any caller; they may also resolve to other kinds of addresses. */
const METADATA_HOSTS = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** Metadata services outside the link-local ranges: AWS (v6), Google (v6), Azure's wire server, Alibaba, Oracle. */
const METADATA_RANGES = ranges(
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
);

/** VPN and proxy software on developers' machines assigns these benchmark addresses to names. */
const FURTHER_PRIVATE_RANGES = ranges('198.18.0.0/15', '2001:2::/48');

/** All addresses ever assigned as global unicast (RFC 4291). Others that the library considers unicast are reserved. */
const PUBLIC_IPV6_RANGES = ranges('2000::/3');

/** @throws Error naming an invalid entry of a host list */
export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const allowed = options.allowHosts?.map(parseHostPattern) ?? null;
  const denied = options.denyHosts.map(parseHostPattern);

  const refuseAddress = (text: string): string | null => {
    const address = parseAddress(text);
    if (address === null) return `${JSON.stringify(text)} is not an address`;
    if (denied.some((pattern) => matchesAddress(pattern, address))) {
      return `the address ${text} is on the list of denied hosts`;
    }
    return refuseClass(address, text, options);
  };

  const refuseHost = (hostname: string): string | null => {
    const name = normalizeHost(hostname);
    if (METADATA_HOSTS.has(name)) return `${name} is a metadata service, which may not be called`;
    const address = parseAddress(name);
    const matches = (pattern: HostPattern): boolean =>
      matchesName(pattern, name) || (address !== null && matchesAddress(pattern, address));
    if (denied.some(matches)) return `${name} is on the list of denied hosts`;
    if (allowed !== null && !allowed.some(matches)) {
      return `${name} is not on the list of allowed hosts`;
    }
    return address === null ? null : refuseAddress(name);
  };

  return { refuseHost, refuseAddress };
}

/** As in a URL (`[::1]`), with or without the trailing dot of the root, in any case. */
export function normalizeHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function refuseClass(
  address: Address,
  text: string,
  options: Pick<AddressPolicyOptions, 'allowPrivate' | 'allowLoopback'>,
): string | null {
  if (isWithin(address, METADATA_RANGES)) {
    return `${text} is the address of a metadata service, which may not be called`;
  }
  switch (classOf(address)) {
    case 'public':
      return null;
    case 'private':
      return options.allowPrivate ? null : `${text} is a private address, which is not allowed`;
    case 'loopback':
      return options.allowLoopback ? null : `${text} is a loopback address, which is not allowed`;
    case 'linkLocal':
      return `${text} is a link-local address, which may not be called`;
    case 'reserved':
      return `${text} is a reserved address, which may not be called`;
  }
}

function classOf(address: Address): 'public' | 'private' | 'loopback' | 'linkLocal' | 'reserved' {
  if (isWithin(address, FURTHER_PRIVATE_RANGES)) return 'private';
  // The library knows more ranges than its types name, and may add new ones: see AP3.
  const range: string = address.range();
  switch (range) {
    case 'unicast':
      return address.kind() === 'ipv4' || isWithin(address, PUBLIC_IPV6_RANGES)
        ? 'public'
        : 'reserved';
    case 'private':
    case 'carrierGradeNat':
    case 'uniqueLocal':
    case 'deprecatedSiteLocal':
      return 'private';
    case 'loopback':
    case 'linkLocal':
      return range;
    default:
      return 'reserved';
  }
}

/** Null if the text is not a valid address. Otherwise the address that packets would be sent to, see AP2. */
function parseAddress(text: string): Address | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? (embeddedAddress(address) ?? address) : address;
}

function embeddedAddress(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const range: string = address.range();
  // NAT64 and its stateless variant have the IPv4 address in the last 32 bits, 6to4 in those after the prefix.
  if (range === 'rfc6052' || range === 'rfc6145') return toIPv4(address.parts.slice(6));
  if (range === '6to4') return toIPv4(address.parts.slice(1, 3));
  return null;
}

function toIPv4(parts: readonly number[]): ipaddr.IPv4 {
  return new ipaddr.IPv4(parts.flatMap((part) => [part >> 8, part & 0xff]));
}

function ranges(...texts: readonly string[]): readonly (readonly [Address, number])[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

function isWithin(address: Address, list: readonly (readonly [Address, number])[]): boolean {
  return list.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

function matchesName(pattern: HostPattern, name: string): boolean {
  if (pattern.kind === 'name') return name === pattern.name;
  return pattern.kind === 'below' && name.endsWith(pattern.suffix);
}

function matchesAddress(pattern: HostPattern, address: Address): boolean {
  return pattern.kind === 'range' && isWithin(address, [pattern.range]);
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

function parseHostPattern(text: string): HostPattern {
  const entry = normalizeHost(text.trim());
  if (ipaddr.isValidCIDR(entry)) return { kind: 'range', range: ipaddr.parseCIDR(entry) };
  const address = parseAddress(entry);
  if (address !== null) {
    return { kind: 'range', range: [address, address.kind() === 'ipv4' ? 32 : 128] };
  }
  const name = entry.startsWith('*.') ? entry.slice(2) : entry;
  if (!HOST_NAME.test(name)) {
    throw new Error(`${JSON.stringify(text)} is not a host name, "*.name", address or CIDR range`);
  }
  return entry === name ? { kind: 'name', name } : { kind: 'below', suffix: `.${name}` };
}
