/**
 * Serves the operator's page: the files built from `server/ui`. They are public because they contain no data; the page gets its
 * data from the API with the user's token.
 */
import { fileURLToPath } from 'node:url';
import express, { type Express, type RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';
import type { AccessControl } from '../access/access-control.js';
import { compressedFiles } from './compressed-files.js';

/** The same path relative to `src/api` and to `dist/api`. */
const FOLDER = fileURLToPath(new URL('../../../ui/dist/', import.meta.url));

/** @param connectTo the other origins that the page may call */
function pagePolicy(connectTo: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The page sets element styles through the DOM, which this doesn't affect.
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...connectTo].join(' '),
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** @param access where users sign in; null if sign-in isn't required */
export function registerOperatorPage(app: Express, access: AccessControl | null): void {
  app.get('/', (_request, response) => response.redirect(302, '/ui/'));
  app.use('/ui', readOnly, pageHeaders(access));
  app.use('/ui/assets', compressedFiles(`${FOLDER}assets`, PERMANENT), assets(), missingFile);
  app.use('/ui', rootFiles(), everyPage);
}

const PERMANENT = 'public, max-age=31536000, immutable';

/** Files with a hash of their content in their name that are too small to be compressed. */
function assets(): RequestHandler {
  return express.static(`${FOLDER}assets`, {
    index: false,
    redirect: false,
    cacheControl: false,
    setHeaders: (response) => response.setHeader('Cache-Control', PERMANENT),
  });
}

/** Files without a hash, such as the icon. */
function rootFiles(): RequestHandler {
  return express.static(FOLDER, { index: false, redirect: false, maxAge: '1h' });
}

/** The page does its own routing, so every path gets the same document. */
const everyPage: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-cache');
  response.sendFile('index.html', { root: FOLDER, cacheControl: false }, (error) => {
    if (error === undefined || response.headersSent) return;
    next(
      new AppError('route_not_found', 'The operator page has not been built; the API is available'),
    );
  });
};

const missingFile: RequestHandler = ({ originalUrl }) => {
  throw new AppError('route_not_found', `There is no page at ${originalUrl}`);
};

const readOnly: RequestHandler = ({ method }, response, next) => {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    throw new AppError('method_not_allowed', `${method} is not allowed here; use GET`);
  }
  next();
};

function pageHeaders(access: AccessControl | null): RequestHandler {
  return (_request, response, next) => {
    response.setHeader('Content-Security-Policy', pagePolicy(tokenOrigins(access)));
    response.setHeader('Referrer-Policy', 'same-origin');
    // These files contain no data. Each handler sets how long they may be cached.
    response.removeHeader('Cache-Control');
    next();
  };
}

/** Where the page gets its tokens: nowhere until the issuer has responded. */
function tokenOrigins(access: AccessControl | null): readonly string[] {
  const endpoint = access?.provider?.configuration?.tokenEndpoint ?? null;
  return access?.signIn == null || endpoint === null ? [] : [new URL(endpoint).origin];
}
