/**
 * Declarations of activities, shared by workers and clients.
 *
 * A declaration has either types (`activity<P, R>()`), or schemas that validate the parameters when a work item arrives and the
 * result when it is done. A schema may transform a value, so the value on the wire can differ from the one that the handler
 * sees. That is why each activity has four types.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Json, JsonResult } from './json.js';

/** One activity: schemas for its parameters and result (from any Standard Schema library), or types only. */
export interface ActivityDeclaration {
  /** Validates the parameters before the handler gets them. */
  readonly parameters?: StandardSchemaV1;
  /** Validates the result of the handler before the worker reports it. */
  readonly result?: StandardSchemaV1;
  /** Always undefined at run time: carries the types of `activity<P, R>()`. */
  readonly types?: { readonly parameters: unknown; readonly result: unknown };
}

/** Activities by name. */
export type ActivityDeclarations = Readonly<Record<string, ActivityDeclaration>>;

/** An activity with types but no schemas. */
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

/** The parameters that the handler of a worker gets. */
export type HandlerParameters<A> = A extends {
  readonly parameters: infer S extends StandardSchemaV1;
}
  ? StandardSchemaV1.InferOutput<S>
  : TypesOf<A, 'parameters'>;

/** The value that the handler of a worker returns. */
export type HandlerResult<A> = A extends { readonly result: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferInput<S>
  : TypesOf<A, 'result'>;

/** The parameters on the wire. */
export type SentParameters<A> = A extends { readonly parameters: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferInput<S>
  : TypesOf<A, 'parameters'>;

/** The result on the wire. */
export type SentResult<A> = A extends { readonly result: infer S extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<S>
  : TypesOf<A, 'result'>;

/**
 * Declares an activity by its types only.
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
  // For the compiler only: callers never pass it, so nothing reads it.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  ..._types: JsonTypes<TParameters, TResult>
): TypedActivity<TParameters, TResult> {
  return {};
}

/** No argument if both types are JSON; otherwise, an argument that no caller can pass. */
type JsonTypes<TParameters, TResult> = [TParameters] extends [Json<TParameters>]
  ? [TResult] extends [JsonResult<TResult>]
    ? []
    : [theResultMustBeJson: JsonResult<TResult>]
  : [theParametersMustBeJson: Json<TParameters>];

/**
 * Declares activities by name, for `createClient` and for workers. Returns its argument, with exact types.
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
