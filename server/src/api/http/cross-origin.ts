/**
 * Prevents pages of other sites from using this server through the browser of a user who can reach it.
 *
 * A browser sends requests for any page: forms, images and `fetch` reach a server on loopback or in a private network that the
 * site itself can't reach. The server recognizes such requests by headers that pages can't set.
 *
 *  O1 Without access control, the server responds only under its own names, so a page can't reach it as "same origin" under a
 *     name whose DNS record was changed to a loopback address (DNS rebinding).
 *  O2 A request that a browser makes for a page of another origin can't reach anything under /api, unless `cors_origins` lists
 *     that origin.
 *  O3 A request that a page can make without a preflight never receives a work item.
 */
import cors from 'cors';
import type { Express, Request } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../base/errors.js';

export interface CrossOriginOptions {
  /** Names accepted in the `Host` header besides loopback names and addresses; `*.name` matches all subdomains. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call the API, such as `https://app.example.com`. */
  readonly corsOrigins: readonly string[];
  /** Whether calls need a token. */
  readonly hasAccessControl: boolean;
}

/** The maximum number of cached names. Every request has one, and it is nearly always the same. */
const KNOWN_HOSTS_MAX = 100;
const HOST_LENGTH_MAX = 300;

const CORS_HEADERS = {
  allowedHeaders: [
    'Authorization',
    'Content-Type',
    'Accept',
    'Idempotency-Key',
    'Last-Event-ID',
    'traceparent',
  ],
  exposedHeaders: ['Location', 'Retry-After'],
  maxAge: 600,
};

export function registerCrossOriginRules(app: Express, options: CrossOriginOptions): void {
  const { allowedHosts, corsOrigins, hasAccessControl } = options;
  const isAllowedHost = hostMatcher(allowedHosts);
  const permitted = new Set(corsOrigins);
  // One handler for all rules, because every request pays for each. It runs before the preflight is answered, so that a
  // page that is not permitted gets no permission either.
  app.use((request, _response, next) => {
    if (!hasAccessControl) checkHost(request, isAllowedHost);
    if (!permitted.has(request.headers.origin ?? '')) {
      refuseForeignOrigin(request);
      if (!hasAccessControl) refuseWorkToPage(request);
    }
    next();
  });
  if (permitted.size > 0) app.use('/api', cors({ origin: [...permitted], ...CORS_HEADERS }));
}

/** Rule O1. Health probes reveal nothing, and orchestrators send them under any name. */
function checkHost(request: Request, isAllowed: (host: string) => boolean): void {
  const { host } = request.headers;
  // Browsers always send it; HTTP/1.0 clients may not.
  if (host === undefined || isAllowed(host) || request.path.startsWith('/health')) return;
  throw new AppError(
    'host_not_allowed',
    `Without auth, this server accepts only loopback names and addresses as its host name, not '${host.slice(0, 200)}'; ` +
      `add the name to allowed_hosts, or set auth=true`,
  );
}

function hostMatcher(allowedHosts: readonly string[]): (host: string) => boolean {
  const entries = allowedHosts.map((entry) => entry.toLowerCase().replace(/\.$/, ''));
  const known = new LRUCache<string, boolean>({ max: KNOWN_HOSTS_MAX });
  return (host) => {
    const before = known.get(host);
    if (before !== undefined) return before;
    const name = hostNameOf(host);
    const isAllowed = name !== null && (isOwnName(name) || isListed(name, entries));
    if (host.length <= HOST_LENGTH_MAX) known.set(host, isAllowed);
    return isAllowed;
  };
}

/** A page's host is an IP address only if the page was loaded from that address. */
function isOwnName(name: string): boolean {
  return ipaddr.isValid(name) || name === 'localhost' || name.endsWith('.localhost');
}

function isListed(name: string, entries: readonly string[]): boolean {
  return entries.some((entry) =>
    entry.startsWith('*.') ? name.endsWith(entry.slice(1)) : entry === '*' || entry === name,
  );
}

/** Without port, brackets and trailing dot, in lower case; null if it is not a valid host. */
function hostNameOf(host: string): string | null {
  if (!URL.canParse(`http://${host}`)) return null;
  const { hostname, pathname, username } = new URL(`http://${host}`);
  if (pathname !== '/' || username !== '') return null;
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Rule O2. */
function refuseForeignOrigin(request: Request): void {
  if (!isForeign(request) || !isBelow(request, '/api')) return;
  throw new AppError(
    'cross_origin',
    'Pages from other origins may not call this server; add the origin to cors_origins to allow it',
  );
}

/** Express matches paths case-insensitively. */
function isBelow({ path }: Request, parent: string): boolean {
  const lowerCase = path.toLowerCase();
  return lowerCase === parent || lowerCase.startsWith(`${parent}/`);
}

/**
 * Uses the browser's own statement if there is one (over HTTPS, and on loopback), otherwise the origin of the page.
 * Programs other than browsers send neither.
 */
function isForeign({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { host, origin } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}

/**
 * Rule O3. Images and scripts are fetched with GET, which sends no origin, and browsers state the purpose of a request only over
 * HTTPS and on loopback. So a browser that doesn't state it gets no work.
 */
function refuseWorkToPage(request: Request): void {
  const { headers, method } = request;
  const isBrowser = headers['user-agent']?.startsWith('Mozilla/') === true;
  if (!isBrowser || headers['sec-fetch-site'] !== undefined || method !== 'GET') return;
  if (!isBelow(request, '/api/activity')) return;
  throw new AppError(
    'cross_origin',
    'Without auth, a browser can claim work only over HTTPS; use HTTPS, or a worker that is not a browser',
  );
}
