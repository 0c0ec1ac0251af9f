/** How handlers are given to a worker: the types that check them, and the form in which the worker keeps them. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ActivityDeclarations, HandlerParameters, HandlerResult } from '@stepwright/sdk';
import type { ActivityContext } from './activity-context.js';

/** Does the work. What it returns is the result (any JSON value); what it throws fails the activity. */
export type ActivityHandler<TParameters = unknown, TResult = unknown> = (
  parameters: TParameters,
  context: ActivityContext,
) => TResult | Promise<TResult>;

/** A handler with settings of its own. */
export interface ActivityOptions<TParameters = unknown, TResult = unknown> {
  readonly handler: ActivityHandler<TParameters, TResult>;
  /**
   * How many of this activity may run at a time, within the worker's own `concurrency`.
   *
   * @default the worker's `concurrency`
   */
  readonly concurrency?: number;
  /**
   * How long the server waits for a sign of life before it gives the work to another worker. Heartbeats are sent three
   * times as often.
   *
   * @default the worker's `leaseSeconds`
   */
  readonly leaseSeconds?: number;
  /** Checks the parameters before the handler sees them; the handler gets what the schema makes of them. */
  readonly parameters?: StandardSchemaV1<unknown, TParameters>;
}

type HandlerEntry<TParameters, TResult> =
  ActivityHandler<TParameters, TResult> | ActivityOptions<TParameters, TResult>;

/** Handlers of declared activities, by name; a worker need not have all of them. */
export type DeclaredHandlers<D extends ActivityDeclarations> = {
  readonly [K in keyof D]?: HandlerEntry<HandlerParameters<D[K]>, HandlerResult<D[K]>>;
};

/** Handlers of activities that were not declared: each says itself what its parameters are. */
export type UndeclaredHandlers<P> = {
  readonly [K in keyof P]: HandlerEntry<P[K], unknown>;
};

/** An activity as the worker keeps it. */
export interface RegisteredActivity {
  readonly name: string;
  readonly handler: ActivityHandler;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly parametersSchema: StandardSchemaV1 | undefined;
  readonly resultSchema: StandardSchemaV1 | undefined;
}

/** What activities get that say nothing of their own. */
export interface ActivityDefaults {
  readonly concurrency: number;
  readonly leaseSeconds: number;
}

/** @throws TypeError, RangeError for handlers and settings that cannot be used */
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
  throw new RangeError(`${what} must be a whole number from 1, not ${number}`);
}

function readEntry(name: string, entry: unknown): ActivityOptions {
  // What is called with parameters of any type finds out itself whether they fit; the types of the options guard the rest.
  if (typeof entry === 'function') return { handler: entry as ActivityHandler };
  if (typeof entry === 'object' && entry !== null && 'handler' in entry) {
    if (typeof entry.handler === 'function') return entry as ActivityOptions;
  }
  throw new TypeError(`'${name}' needs a handler: a function, or an object with one`);
}
