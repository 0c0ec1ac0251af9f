/** Converts problems of path, query and header parameters to their wire type. */
import type { ValidateError } from '@tsoa/runtime';
import type { AppError } from '../../../base/errors.js';
import type { ProblemItem } from '../models/problem.js';

export type ParameterItem = ProblemItem & { parameter: string };

/** The problems that tsoa found in parameters. */
export function parameterItems(error: ValidateError): ParameterItem[] {
  return Object.entries(error.fields).map(([name, { message, value }]) => ({
    code: 'invalid_parameter',
    message: saidPlainly(message, value),
    // If a method takes its whole query as one object, tsoa prefixes the name of that object.
    parameter: name.replace(/^query\./, ''),
  }));
}

/** The parameter that the server itself has rejected, if any. */
export function parameterItemsOf({ message, parameter }: AppError): ParameterItem[] {
  return parameter === null ? [] : [{ code: 'invalid_parameter', message, parameter }];
}

/** Rewords tsoa's messages about repeated parameters and about values that are not among the allowed ones. */
function saidPlainly(message: string, value: unknown): string {
  if (Array.isArray(value)) return 'is given more than once';
  const choices = [...message.matchAll(/one of the following; \['([^']+)'\]/g)].map(
    ([, name]) => name,
  );
  return choices.length > 0 ? `must be one of ${choices.join(', ')}` : message;
}
