/** Handles requests that match no route: either the path doesn't exist, or it has other methods. */
import type { Express, RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Registered after all routes, whose paths and methods it reads once. */
export function unmatched(app: Express): RequestHandler {
  const known = collectPaths(app);
  return (request, response) => {
    const methods = new Set<string>();
    for (const { pattern, methods: allowed } of known) {
      if (pattern.test(request.path)) allowed.forEach((method) => methods.add(method));
    }
    if (methods.size === 0) {
      throw new AppError('route_not_found', `There is no endpoint at ${request.path}`);
    }
    const allow = [...methods].sort().join(', ');
    response.setHeader('Allow', allow);
    throw new AppError('method_not_allowed', `${request.method} is not allowed here; use ${allow}`);
  };
}

/**
 * Workers claim work with GET, which Express also runs for HEAD: a caller that requests only headers would claim an item and
 * never see it. A stream without a body would stay open for no reason.
 */
export const refuseHead: RequestHandler = (request, response, next) => {
  if (request.method === 'HEAD') {
    response.setHeader('Allow', 'GET');
    throw new AppError('method_not_allowed', 'HEAD is not allowed here; use GET');
  }
  next();
};

function collectPaths(app: Express): KnownPath[] {
  const paths = new Map<string, KnownPath>();
  for (const { route } of app.router.stack) {
    if (route === undefined) continue;
    const known = paths.get(route.path) ?? { pattern: toPattern(route.path), methods: new Set() };
    for (const { method } of route.stack) known.methods.add(method.toUpperCase());
    paths.set(route.path, known);
  }
  return [...paths.values()];
}

/** The paths of the API consist of words, dots and `:name` parameters. */
function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`, 'i');
}
