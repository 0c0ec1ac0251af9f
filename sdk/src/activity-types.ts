/**
 * Activities declared once, for workers and clients alike.
 *
 * A declaration has types (`activity<P, R>()`), or schemas that are checked when work arrives and when it is done. A schema
 * may change what it checks, so that what travels and what the handler sees can differ; hence four types for each.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonResult } from './json.js';

/** One activity: schemas of its parameters and result (any library of the Standard Schema family), or types alone. */
export interface ActivityDeclaration {
  /** Checks the parameters before the handler sees them. */
  readonly parameters?: StandardSchemaV1;
  /** Checks what the handler returned before it is reported. */
  readonly result?: StandardSchemaV1;
  /** Never there at run time: carries the types of `activity<P, R>()`. */
  readonly types?: { readonly parameters: unknown; readonly result: unknown };
}

/** Activities by name. */
export type ActivityDeclarations = Readonly<Record<string, ActivityDeclaration>>;

/** An activity that has types and no schemas. */
export interface TypedActivity<TParameters, TResult> {
  readonly types?: { readonly parameters: TParameters; readonly result: TResult };
}

type TypesOf<A, Part extends 'parameters' | 'result'> = A extends {
  readonly types?: infer T;
}
  ? NonNullable<T> extends Readonly<Record<Part, infer Value>>
    ? Value
    : unknown
  : unknown;

/** The parameters as the handler of a worker gets them. */
export type HandlerParameters<A> = A extends {
  readonly parameters: infer S extends StandardSchemaV1;
}
  ? StandardSchemaV1.InferOutput<S>
  : TypesOf<A, 'parameters'>;

/** What the handler of a worker returns. */
export type HandlerResult<A> = A extends { readonly result: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferInput<S>
  : TypesOf<A, 'result'>;

/** The parameters as they are sent. */
export type SentParameters<A> = A extends { readonly parameters: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferInput<S>
  : TypesOf<A, 'parameters'>;

/** The result as it is sent. */
export type SentResult<A> = A extends { readonly result: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<S>
  : TypesOf<A, 'result'>;

/**
 * Declares an activity by its types alone.
 *
 * @example
 * ```ts
 * import { activity, createClient, defineActivities } from '@stepwright/sdk';
 *
 * const activities = defineActivities({
 *   'charge-card': activity<{ amount: number }, { receipt: string }>(),
 * });
 * const client = createClient({ baseUrl: 'http://127.0.0.1:5001', activities });
 * const work = await client.activities.pull('charge-card');
 * // `work.parameters.amount` is a number, and a result without a `receipt` does not compile.
 * if (work !== null) await client.activities.succeed(work, { receipt: `r-${work.parameters.amount}` });
 * ```
 */
export function activity<TParameters, TResult = unknown>(
  // For the compiler alone: nobody gives it, so nobody reads it.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  ..._types: JsonTypes<TParameters, TResult>
): TypedActivity<TParameters, TResult> {
  return {};
}

/** No argument where both types are JSON; otherwise one that nobody can give. */
type JsonTypes<TParameters, TResult> = [TParameters] extends [Json<TParameters>]
  ? [TResult] extends [JsonResult<TResult>]
    ? []
    : [theResultMustBeJson: JsonResult<TResult>]
  : [theParametersMustBeJson: Json<TParameters>];

/**
 * Declares activities by name, for `createClient` and for workers. It returns what it was given, with exact types.
 *
 * @example
 * ```ts
 * import { activity, defineActivities } from '@stepwright/sdk';
 *
 * export const activities = defineActivities({
 *   'charge-card': activity<{ amount: number }, { receipt: string }>(),
 *   // A schema (here one of zod's would do as well) is checked when the work runs.
 *   'send-mail': { parameters: addressSchema() },
 * });
 *
 * function addressSchema() {
 *   return {
 *     '~standard': {
 *       version: 1 as const,
 *       vendor: 'example',
 *       validate: (value: unknown) =>
 *         typeof value === 'string' ? { value } : { issues: [{ message: 'an address is text' }] },
 *     },
 *   };
 * }
 * ```
 */
export function defineActivities<const D extends ActivityDeclarations>(declarations: D): D {
  return declarations;
}
