/**
 * What scopes allow. `conductor:viewer` allows all calls of its kind; `conductor:viewer:order*` allows those that concern
 * definitions whose id begins with `order`. A scope with any other form allows nothing.
 */
import { AppError } from '../../base/errors.js';
import { shortestPrefixes, type NameReach } from '../../base/name-reach.js';
import { nameProblem } from '../../engine/model/names.js';

/** This scope allows everything. */
const ADMIN_SCOPE = 'conductor:admin';
/** The conditions of a search have this many prefixes at most. */
const PREFIXES_MAX = 50;

/** Scopes that a prefix can narrow, with what the prefix is of. */
const NARROWED_BY = {
  'conductor:controller': 'definition',
  'conductor:viewer': 'definition',
  'conductor:worker': 'activity',
} as const;

const WHOLE_SCOPES: ReadonlySet<string> = new Set([
  ADMIN_SCOPE,
  'conductor:author',
  ...Object.keys(NARROWED_BY),
]);

/** Databases cannot compare lone surrogates. */
const NOT_IN_PREFIX = /[\s*]|\p{Surrogate}/u;

/** To be appended to what somebody gave. */
export const NOT_A_SCOPE = `is not a scope. Scopes: ${[...WHOLE_SCOPES].join(', ')}. Narrow ${Object.keys(NARROWED_BY).join(', ')} by a prefix like this: conductor:viewer:order*`;

/** Whether the server knows this scope, with or without a prefix. */
export function isScope(text: string): boolean {
  if (WHOLE_SCOPES.has(text)) return true;
  return Object.keys(NARROWED_BY).some((scope) => prefixIn(text, scope) !== null);
}

/**
 * The names that the scopes of a caller reach: none if they do not contain this scope in any form.
 * @throws AppError `forbidden` if there are too many prefixes
 */
export function reachOf(scopes: ReadonlySet<string>, scope: string): NameReach {
  if (scopes.has(ADMIN_SCOPE) || scopes.has(scope)) return 'all';
  if (!Object.hasOwn(NARROWED_BY, scope)) return [];
  const prefixes = shortestPrefixes([...scopes].flatMap((each) => prefixIn(each, scope) ?? []));
  if (prefixes.length <= PREFIXES_MAX) return prefixes;
  throw new AppError(
    'forbidden',
    `The token has more than ${PREFIXES_MAX} prefixes of the scope ${scope}`,
  );
}

/** Null: this is not the scope with a prefix. */
function prefixIn(text: string, scope: string): string | null {
  if (!text.startsWith(`${scope}:`) || !text.endsWith('*')) return null;
  const prefix = text.slice(scope.length + 1, -1);
  return nameProblem(prefix) === null && !NOT_IN_PREFIX.test(prefix) ? prefix : null;
}
