/** Converts problems of path, query and header parameters to their wire type. */
import type { ValidateError } from '@tsoa/runtime';
import type { AppError } from '../../../base/errors.js';
import type { ProblemItem } from '../models/problem.js';

export type ParameterItem = ProblemItem & { parameter: string };

/** The problems that tsoa found in parameters. */
export function parameterItems(error: ValidateError): ParameterItem[] {
  return Object.entries(error.fields).map(([name, { message, value }]) => {
    const place = placeOf(name);
    return {
      code: 'invalid_parameter',
      message: saidPlainly(message, isInBody(place) ? null : value),
      // If a method takes its whole query as one object, tsoa adds that object's name as a prefix.
      parameter: place.replace(/^query\./, ''),
    };
  });
}

/** The parameter that the server itself has rejected, if any. */
export function parameterItemsOf({ message, parameter }: AppError): ParameterItem[] {
  return parameter === null ? [] : [{ code: 'invalid_parameter', message, parameter }];
}

/** tsoa writes `body.start` but `start.$0.stepId`. Only bodies have elements. */
function placeOf(name: string): string {
  if (!/\.\$\d/.test(name)) return name;
  const place = name.replace(/\.\$(\d+)/g, '[$1]');
  return place.startsWith('body') ? place : `body.${place}`;
}

/** A member of a body may be a list; a parameter is one if it was repeated. */
function isInBody(name: string): boolean {
  return name === 'body' || name.startsWith('body.');
}

/** tsoa's messages for values of the wrong type. */
const TYPE_MESSAGES: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/^'.*' is required$/, 'is missing'],
  [/^invalid string value$/, 'must be a text'],
  [/^invalid array$/, 'must be a list'],
  [/^invalid object$/, 'must be an object'],
  [/^invalid boolean value$/, 'must be true or false'],
  [/^invalid (float|integer|double|long) number$/, 'must be a number'],
];

/** Rewords tsoa's messages about repeated parameters, wrong types and disallowed values. */
function saidPlainly(message: string, value: unknown): string {
  if (Array.isArray(value)) return 'is given more than once';
  const choices = [...message.matchAll(/one of the following; \['([^']+)'\]/g)].map(
    ([, name]) => name,
  );
  if (choices.length === 0) {
    return TYPE_MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? message;
  }
  const allowed = [...new Set(choices)].join(', ');
  // For a value that may also be a list: the list is too long, or the value or one of its elements has the wrong type.
  const [tooLong] = /must have at most [\w ]+/.exec(message) ?? [];
  if (tooLong !== undefined) return tooLong;
  if (message.includes('invalid array')) return `must be ${allowed} or a list`;
  if (/invalid \w+ number/.test(message)) return `must be ${allowed} or a list of numbers`;
  return `must be one of ${allowed}`;
}
