/**
 * The operator's page: files that `server/ui` was built into. They hold no data, so that they are public; what the page
 * shows it gets from the API, with the token of whoever looks at it.
 */
import { fileURLToPath } from 'node:url';
import express, { type Express, type RequestHandler } from 'express';
import { AppError } from '../errors.js';

/** The same place relative to `src/api` and to `dist/api`. */
const FOLDER = fileURLToPath(new URL('../../ui/dist/', import.meta.url));

// Styles of single elements are set through the DOM, which `style-src` does not concern.
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ');

export function registerOperatorPage(app: Express): void {
  app.get('/', (_request, response) => response.redirect(302, '/ui/'));
  app.use('/ui', readOnly, pageHeaders);
  app.use('/ui/assets', assets(), missingFile);
  app.use('/ui', rootFiles(), everyPage);
}

/** Files with a hash of their content in the name: what was fetched once is never asked for again. */
function assets(): RequestHandler {
  return express.static(`${FOLDER}assets`, {
    ...{ index: false, redirect: false, immutable: true, maxAge: '1y' },
  });
}

/** Files without a hash, such as the icon. */
function rootFiles(): RequestHandler {
  return express.static(FOLDER, { index: false, redirect: false, maxAge: '1h' });
}

/** An address within the page is the page's own business: each gets the same document. */
const everyPage: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-cache');
  response.sendFile('index.html', { root: FOLDER, cacheControl: false }, (error) => {
    if (error === undefined || response.headersSent) return;
    next(new AppError('route_not_found', 'The operator page is not built; the API is there'));
  });
};

const missingFile: RequestHandler = ({ originalUrl }) => {
  throw new AppError('route_not_found', `There is nothing at ${originalUrl}`);
};

const readOnly: RequestHandler = ({ method }, response, next) => {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    throw new AppError('method_not_allowed', `${method} is not possible here, only GET`);
  }
  next();
};

const pageHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
  response.setHeader('Referrer-Policy', 'same-origin');
  // There are no data in these files; each sort of them says how long it may be kept.
  response.removeHeader('Cache-Control');
  next();
};
