/** The handlers of a worker: the types that check them, and their internal representation. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActivityDeclarations, HandlerParameters, HandlerResult } from '@stepwright/sdk';
import type { ActivityContext } from './activity-context.js';

/** Does the work. Its return value, any JSON value, is the result. An error that it throws fails the activity. */
export type ActivityHandler<TParameters = unknown, TResult = unknown> = (
  parameters: TParameters,
  context: ActivityContext,
) => TResult | Promise<TResult>;

/** A handler with its own settings. */
export interface ActivityOptions<TParameters = unknown, TResult = unknown> {
  readonly handler: ActivityHandler<TParameters, TResult>;
  /**
   * The maximum number of concurrent handlers of this activity, within the `concurrency` of the worker.
   *
   * @default the worker's `concurrency`
   */
  readonly concurrency?: number;
  /**
   * The lease of work items, in whole seconds. The server gives the work to another worker after this time without a heartbeat.
   * The worker sends about three heartbeats per lease, and at least one in ten seconds.
   *
   * @default the worker's `leaseSeconds`
   */
  readonly leaseSeconds?: number;
  /** Validates the parameters before the handler gets them. The handler gets the output of the schema. */
  readonly parameters?: StandardSchemaV1<unknown, TParameters>;
}

type HandlerEntry<TParameters, TResult> =
  ActivityHandler<TParameters, TResult> | ActivityOptions<TParameters, TResult>;

/** Handlers of declared activities, by name. A worker does not need handlers for all of them. */
export type DeclaredHandlers<D extends ActivityDeclarations> = {
  readonly [K in keyof D]?: HandlerEntry<HandlerParameters<D[K]>, HandlerResult<D[K]>>;
};

/** Handlers of undeclared activities. Each handler defines the type of its parameters. */
export type UndeclaredHandlers<P> = {
  readonly [K in keyof P]: HandlerEntry<P[K], unknown>;
};

/** The internal representation of an activity. */
export interface RegisteredActivity {
  readonly name: string;
  readonly handler: ActivityHandler;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly parametersSchema: StandardSchemaV1 | undefined;
  readonly resultSchema: StandardSchemaV1 | undefined;
}

/** The defaults for activities without their own settings. */
export interface ActivityDefaults {
  readonly concurrency: number;
  readonly leaseSeconds: number;
}

/** @throws TypeError for an invalid handler; RangeError for an invalid setting */
export function registerActivities(
  handlers: Readonly<Record<string, unknown>>,
  declared: ActivityDeclarations | undefined,
  defaults: ActivityDefaults,
): readonly RegisteredActivity[] {
  const activities = Object.entries(handlers).map(([name, entry]): RegisteredActivity => {
    const options = readEntry(name, entry);
    return {
      name,
      handler: options.handler,
      concurrency: wholeNumber(
        `concurrency of '${name}'`,
        options.concurrency,
        defaults.concurrency,
      ),
      leaseSeconds: wholeNumber(
        `leaseSeconds of '${name}'`,
        options.leaseSeconds,
        defaults.leaseSeconds,
      ),
      parametersSchema: options.parameters ?? declared?.[name]?.parameters,
      resultSchema: declared?.[name]?.result,
    };
  });
  if (activities.length === 0) throw new TypeError('a worker needs at least one activity');
  return activities;
}

/** @throws RangeError */
export function wholeNumber(what: string, value: number | undefined, fallback: number): number {
  const number = value ?? fallback;
  if (Number.isInteger(number) && number >= 1) return number;
  throw new RangeError(`${what} must be a positive whole number, not ${number}`);
}

function readEntry(name: string, entry: unknown): ActivityOptions {
  // The types of the options check handlers at compile time. At run time, a handler or its schema must check its parameters.
  if (typeof entry === 'function') return { handler: entry as ActivityHandler };
  if (typeof entry === 'object' && entry !== null && 'handler' in entry) {
    if (typeof entry.handler === 'function') return entry as ActivityOptions;
  }
  throw new TypeError(`'${name}' needs a handler: a function, or an object with one`);
}
