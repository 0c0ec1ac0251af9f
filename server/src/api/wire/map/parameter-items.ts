/** What is wrong with the parameters of path, query and headers, as the wire shows it. */
import type { ValidateError } from '@tsoa/runtime';
import type { AppError } from '../../../base/errors.js';
import type { ProblemItem } from '../models/problem.js';

export type ParameterItem = ProblemItem & { parameter: string };

/** What tsoa found; bodies are not its business. */
export function parameterItems(error: ValidateError): ParameterItem[] {
  return Object.entries(error.fields).map(([name, { message, value }]) => ({
    code: 'invalid_parameter',
    message: saidPlainly(message, value),
    // Where a method takes all of its query as one object, tsoa puts that object's name in front.
    parameter: name.replace(/^query\./, ''),
  }));
}

/** The one parameter that the server itself has found wrong, if it was one. */
export function parameterItemsOf({ message, parameter }: AppError): ParameterItem[] {
  return parameter === null ? [] : [{ code: 'invalid_parameter', message, parameter }];
}

/** What tsoa says of a value that is there twice, or none of a few, is in words of its own. */
function saidPlainly(message: string, value: unknown): string {
  if (Array.isArray(value)) return 'is given more than once';
  const choices = [...message.matchAll(/one of the following; \['([^']+)'\]/g)].map(
    ([, name]) => name,
  );
  return choices.length > 0 ? `must be one of ${choices.join(', ')}` : message;
}
