/** The allowed values of inputs with a fixed choice: for the checks of definitions, and for the steps that use them. */

/** `Level` of EmitLog. */
export const EMIT_LEVELS = [
  'Trace',
  'Debug',
  'Information',
  'Warning',
  'Error',
  'Critical',
  'None',
] as const;
export type EmitLevel = (typeof EMIT_LEVELS)[number];

/** `Method` of HttpRequest. */
export const HTTP_METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'MERGE',
  'COPY',
] as const;

/** `Format` of HttpRequest. */
export const HTTP_FORMATS = ['Json', 'Xml', 'None'] as const;
export type HttpFormat = (typeof HTTP_FORMATS)[number];
