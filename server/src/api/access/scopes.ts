/**
 * What each scope allows. `conductor:viewer` allows all calls of its kind; `conductor:viewer:order*` allows calls on definitions
 * whose id begins with `order`. A scope in any other form allows nothing.
 */
import { AppError } from '../../base/errors.js';
import { shortestPrefixes, type AllowedNames } from '../../base/allowed-names.js';
import { nameProblem } from '../../engine/values/names.js';

/** This scope allows everything. */
const ADMIN_SCOPE = 'conductor:admin';
/** The maximum number of prefixes in a search condition. */
const PREFIXES_MAX = 50;

/** The scopes that a prefix can narrow, each with the name that the prefix applies to. */
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

/** Databases can't compare lone surrogates. */
const NOT_IN_PREFIX = /[\s*]|\p{Surrogate}/u;

/** Appended to the value that the user entered. */
export const NOT_A_SCOPE = `is not a scope. Scopes: ${[...WHOLE_SCOPES].join(', ')}. Narrow ${Object.keys(NARROWED_BY).join(', ')} by a prefix like this: conductor:viewer:order*`;

/** Whether the server knows this scope, with or without a prefix. */
export function isScope(text: string): boolean {
  if (WHOLE_SCOPES.has(text)) return true;
  return Object.keys(NARROWED_BY).some((scope) => prefixIn(text, scope) !== null);
}

/**
 * The names that a caller's scopes cover: none if this scope is missing in every form.
 * @throws AppError `forbidden` if there are too many prefixes
 */
export function allowedNamesOf(scopes: ReadonlySet<string>, scope: string): AllowedNames {
  if (scopes.has(ADMIN_SCOPE) || scopes.has(scope)) return 'all';
  if (!Object.hasOwn(NARROWED_BY, scope)) return [];
  const prefixes = shortestPrefixes([...scopes].flatMap((each) => prefixIn(each, scope) ?? []));
  if (prefixes.length <= PREFIXES_MAX) return prefixes;
  throw new AppError(
    'forbidden',
    `The token has more than ${PREFIXES_MAX} prefixes of the scope ${scope}`,
  );
}

/** Null if this isn't the scope with a prefix. */
function prefixIn(text: string, scope: string): string | null {
  if (!text.startsWith(`${scope}:`) || !text.endsWith('*')) return null;
  const prefix = text.slice(scope.length + 1, -1);
  return nameProblem(prefix) === null && !NOT_IN_PREFIX.test(prefix) ? prefix : null;
}
