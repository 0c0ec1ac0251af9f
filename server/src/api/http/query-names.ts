/**
 * Query parameter names: accepted in any casing, such as `?Timeout=5`, as in Conductor. Unknown names are rejected, because a
 * filter with a typo would silently have no effect.
 *
 * The known names come from the OpenAPI document, which is generated from the controllers.
 */
import { parse, type ParsedUrlQuery } from 'node:querystring';
import type { RequestHandler } from 'express';
import { suggestName } from '../../engine/definitions/suggest-name.js';
import { AppError } from '../../base/errors.js';
import { callKey, readApiDocument } from './api-document.js';

/** The query parameters of each call, by `GET /api/workflow/:id` in Express's notation. */
const NAMES_BY_CALL: ReadonlyMap<string, readonly string[]> = readNames();

const NAME_BY_LOWER_CASE = new Map(
  [...NAMES_BY_CALL.values()].flat().map((name) => [name.toLowerCase(), name]),
);

/** Keeps a response from repeating a whole query. */
const SHOWN_LENGTH_MAX = 100;

function readNames(): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const [call, { parameters = [] }] of readApiDocument().operations) {
    const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
    names.set(
      call,
      ofQuery.map(({ name }) => name),
    );
  }
  return names;
}

/** The names of the query parameters of a call. */
export function queryNamesOf(method: string, path: string): readonly string[] {
  return NAMES_BY_CALL.get(callKey(method, path)) ?? [];
}

/** A name in two spellings counts as the same name given twice: its values are a list. */
export function parseQuery(text: string | null | undefined): ParsedUrlQuery {
  if (text === null || text === undefined || text === '') return {};
  const query = new Map<string, string | string[]>();
  for (const [name, value] of Object.entries(parse(text))) {
    if (value === undefined) continue;
    const known = NAME_BY_LOWER_CASE.get(name.toLowerCase()) ?? name;
    const before = query.get(known);
    query.set(known, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(query);
}

/**
 * Rejects query parameters that the call doesn't have. Every controller under `/api` lists it in `@Middlewares`, so it runs after
 * authentication and before the body is read. A test checks that none is missing.
 */
export const knownQuery: RequestHandler = (request, _response, next) => {
  if (!request.url.includes('?')) {
    next();
    return;
  }
  // Only routes call this.
  const { path } = request.route as { readonly path: string };
  const names = queryNamesOf(request.method, path);
  for (const name of Object.keys(request.query)) {
    if (!names.includes(name)) throw unknownParameter(name, names);
  }
  next();
};

function unknownParameter(name: string, names: readonly string[]): AppError {
  const known = names.length === 0 ? 'This call takes none' : `This call takes ${names.join(', ')}`;
  const shown = name.length > SHOWN_LENGTH_MAX ? `${name.slice(0, SHOWN_LENGTH_MAX)}…` : name;
  const message = `is not a query parameter of this call. ${known}.${suggestName(name, names)}`;
  return new AppError('invalid_request', `${shown} ${message}`, { parameter: shown });
}
