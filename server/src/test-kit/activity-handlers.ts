/** The handlers of activities in a test: those of `@stepwright/worker-sdk`, called and judged as its workers do. */
import type { Json } from '../engine/values/json.js';
import { reportOfFailure, reportOfResult, toJson, type FailureReport } from './failure-report.js';

/** The context of a handler, as in `@stepwright/worker-sdk`. */
export interface ActivityContext {
  readonly activityName: string;
  readonly workflowId: string;
  readonly stepId: string;
  readonly executionId: number;
  /** The same in all attempts of an execution. */
  readonly idempotencyKey: string;
  /** From 1. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string) => void>>;
  readonly heartbeat: () => Promise<void>;
}

/** A handler as in `@stepwright/worker-sdk`: it returns the result, and fails the activity if it throws. */
// Handlers declare the type of their parameters themselves, as in the worker SDK.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ActivityHandler = (parameters: any, context: ActivityContext) => unknown;

/** A schema of any library that implements Standard Schema. */
export interface ParametersSchema {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

export interface ActivityOptions {
  readonly handler: ActivityHandler;
  /** Validates the parameters; the handler gets the output. */
  readonly parameters?: ParametersSchema;
}

export type ActivityHandlers = Readonly<Record<string, ActivityHandler | ActivityOptions>>;

export type Report = { readonly succeeded: true; readonly data: Json } | FailureReport;

/** What a schema of Standard Schema answers. */
interface Validated {
  readonly value?: unknown;
  readonly issues?: readonly {
    readonly message: string;
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
  }[];
}

class InvalidDataError extends Error {
  override readonly name = 'InvalidDataError' as const;
  readonly issues: Json;

  constructor(issues: readonly { readonly message: string; readonly path: string }[]) {
    const shown = issues.map(({ path, message }) =>
      path === '' ? message : `${path}: ${message}`,
    );
    super(`invalid parameters: ${shown.join('; ')}`);
    this.issues = issues.map((issue) => ({ ...issue }));
  }
}

/** Never rejects: what the handler throws is the report of a failure. */
export async function runHandler(
  entry: ActivityHandler | ActivityOptions,
  parameters: Json,
  context: ActivityContext,
): Promise<Report> {
  const { handler, parameters: schema } =
    typeof entry === 'function' ? { handler: entry, parameters: undefined } : entry;
  let result: unknown;
  try {
    const checked = schema === undefined ? parameters : await validated(schema, parameters);
    result = await handler(checked, context);
  } catch (error) {
    return reportOfFailure(error);
  }
  try {
    return { succeeded: true, data: toJson(result) };
  } catch (error) {
    return reportOfResult(error);
  }
}

async function validated(schema: ParametersSchema, parameters: Json): Promise<unknown> {
  const outcome = (await schema['~standard'].validate(parameters)) as Validated; // As the standard says.
  if (outcome.issues === undefined) return outcome.value;
  throw new InvalidDataError(
    outcome.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
    })),
  );
}
