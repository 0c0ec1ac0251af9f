/** Turns parameters into a result: schema, middleware, handler, schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActivityContext } from './activity-context.js';
import type { RegisteredActivity } from './activity-handlers.js';
import { InvalidDataError, type SchemaIssue } from './errors.js';

/** The work that middleware gets. */
export interface ActivityWork {
  /** The parameters that the handler will get. */
  readonly parameters: unknown;
  readonly context: ActivityContext;
}

/**
 * Wraps every handler. The middleware that is added first is the outermost. It returns the result of `next`, or another one.
 *
 * @example
 * ```ts
 * import type { Middleware } from '@stepwright/worker-sdk';
 *
 * const timed: Middleware = async ({ context }, next) => {
 *   const began = performance.now();
 *   try {
 *     return await next();
 *   } finally {
 *     context.log.info('took', { ms: performance.now() - began });
 *   }
 * };
 * ```
 */
export type Middleware = (work: ActivityWork, next: () => Promise<unknown>) => unknown;

/** @throws the error of the handler; InvalidDataError */
export async function runHandler(
  { handler, parametersSchema, resultSchema }: RegisteredActivity,
  middleware: readonly Middleware[],
  sent: unknown,
  context: ActivityContext,
): Promise<unknown> {
  const parameters = await checked('parameters', parametersSchema, sent);
  const work = { parameters, context };
  const run = middleware.reduceRight<() => Promise<unknown>>(
    (next, around) => async () => around(work, next),
    async () => handler(parameters, context),
  );
  return checked('result', resultSchema, await run());
}

async function checked(
  what: 'parameters' | 'result',
  schema: StandardSchemaV1 | undefined,
  value: unknown,
): Promise<unknown> {
  if (schema === undefined) return value;
  const outcome = await schema['~standard'].validate(value);
  if (outcome.issues === undefined) return outcome.value;
  throw new InvalidDataError(what, outcome.issues.map(readIssue));
}

function readIssue({ message, path = [] }: StandardSchemaV1.Issue): SchemaIssue {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return { message, path: keys.join('.') };
}
