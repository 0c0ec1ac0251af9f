/**
 * Keeps the pages of other sites from driving this server through the browser of somebody who can reach it.
 *
 * A browser sends requests for any page: forms, images and `fetch` reach a server on loopback or in a private network that
 * the site itself cannot reach. What the server tells such requests by are headers that pages cannot set.
 *
 *  O1 Without access control the server answers only under names that are its own, so that a page cannot get at it as
 *     "same origin" under a name whose DNS record was changed to a loopback address (DNS rebinding).
 *  O2 A request that a browser makes for a page of another origin reaches nothing below /api, unless `cors_origins` lists
 *     that origin.
 *  O3 Work is handed out to no request that a page could make without a preflight.
 */
import cors from 'cors';
import type { Express, Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { AppError } from '../../base/errors.js';

export interface ForeignPageOptions {
  /** Names in the `Host` header that are answered besides loopback names and addresses; `*.name` is all below a name. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call the API, such as `https://app.example.com`. */
  readonly corsOrigins: readonly string[];
  /** Whether calls need a token. */
  readonly hasAccessControl: boolean;
}

const CORS_HEADERS = {
  allowedHeaders: ['Authorization', 'Content-Type', 'Accept', 'Idempotency-Key', 'Last-Event-ID'],
  exposedHeaders: ['Location', 'Retry-After'],
  maxAge: 600,
};

export function registerForeignPageRules(app: Express, options: ForeignPageOptions): void {
  const { allowedHosts, corsOrigins, hasAccessControl } = options;
  if (!hasAccessControl) app.use(ownNamesOnly(allowedHosts));
  const permitted = new Set(corsOrigins);
  // Before the preflight is answered, so that a page that is not permitted gets no permission either.
  app.use('/api', refuseForeignOrigins(permitted));
  if (permitted.size > 0) app.use('/api', cors({ origin: [...permitted], ...CORS_HEADERS }));
  if (!hasAccessControl) app.use('/api/activity', refuseWorkToPages(permitted));
}

/** Rule O1. Probes of health reveal nothing, and orchestrators send them under any name. */
function ownNamesOnly(allowedHosts: readonly string[]): RequestHandler {
  const isAllowed = hostMatcher(allowedHosts);
  return ({ headers, path }, _response, next) => {
    const { host } = headers;
    // Browsers always send it; HTTP/1.0 clients need not.
    if (host === undefined || path.startsWith('/health') || isAllowed(host)) {
      next();
      return;
    }
    throw new AppError(
      'host_not_allowed',
      `Without auth this server answers to loopback names and addresses only, not to '${host.slice(0, 200)}'; ` +
        `list the name in allowed_hosts, or set auth=true`,
    );
  };
}

function hostMatcher(allowedHosts: readonly string[]): (host: string) => boolean {
  const entries = allowedHosts.map((entry) => entry.toLowerCase().replace(/\.$/, ''));
  return (host) => {
    const name = hostNameOf(host);
    if (name === null) return false;
    // No page has an address as its name but one that came from that very address.
    if (ipaddr.isValid(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
    return entries.some((entry) =>
      entry.startsWith('*.') ? name.endsWith(entry.slice(1)) : entry === '*' || entry === name,
    );
  };
}

/** Without port, brackets and the dot of the root, in lower case; null where it is no host at all. */
function hostNameOf(host: string): string | null {
  if (!URL.canParse(`http://${host}`)) return null;
  const { hostname, pathname, username } = new URL(`http://${host}`);
  if (pathname !== '/' || username !== '') return null;
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Rule O2. */
function refuseForeignOrigins(permitted: ReadonlySet<string>): RequestHandler {
  return (request, _response, next) => {
    if (!isForeign(request) || permitted.has(request.headers.origin ?? '')) {
      next();
      return;
    }
    throw new AppError(
      'cross_origin',
      'Pages of other origins may not call this server; list the origin in cors_origins to permit it',
    );
  };
}

/**
 * What the browser itself says, where it says it (over HTTPS, and on loopback); else by the origin of the page. Programs
 * that are no browsers send neither.
 */
function isForeign({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { host, origin } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}

/**
 * Rule O3. Images and scripts are fetched with GET, which sends no origin, and browsers say what they fetch for only over
 * HTTPS and on loopback. So a browser that does not say it gets no work.
 */
function refuseWorkToPages(permitted: ReadonlySet<string>): RequestHandler {
  return ({ headers, method }, _response, next) => {
    const saysWhatFor = headers['sec-fetch-site'] !== undefined;
    const isBrowser = headers['user-agent']?.startsWith('Mozilla/') === true;
    const isPermitted = permitted.has(headers.origin ?? '');
    if (method !== 'GET' || !isBrowser || saysWhatFor || isPermitted) {
      next();
      return;
    }
    throw new AppError(
      'cross_origin',
      'Work is not handed out to pages in a browser without auth; use a worker, or HTTPS',
    );
  };
}
