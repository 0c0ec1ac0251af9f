/** Converts between calls to an interpreter and the bytes that are sent. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { JsonObject } from '../../engine/values/json.js';
import type { CallOptions, ScriptError } from '../script-runtime.js';
import type { InterpreterPool } from './interpreter-pool.js';
import type { CallResult } from './pool-call.js';
import type { RuntimeSettings } from './runtime-options.js';

export interface InterpreterCall<Answer> {
  /** The request to runner.py. */
  readonly request: JsonObject & { readonly kind: 'expressions' | 'script' | 'syntax' };
  readonly variables: JsonObject;
  readonly pure: boolean;
  /** Owners take turns. @default the source */
  readonly owner?: string;
  /** Overrides the usual limit for the kind of request. */
  readonly timeoutMs?: number;
  /** @throws MalformedAnswer */
  readonly read: (answer: Buffer) => Answer;
  readonly signal?: AbortSignal;
}

export type AskInterpreter = <Answer>(call: InterpreterCall<Answer>) => Promise<CallResult<Answer>>;

/** Larger inputs would not fit into an interpreter's memory and are not sent. */
const MAX_INPUT_BYTES = 48 * (1 << 20);

/** For an expression whose definition is not known. */
const MAX_OWNER_LENGTH = 500;

export function createAskInterpreter(
  pool: InterpreterPool,
  settings: Pick<RuntimeSettings, 'expressionTimeoutMs' | 'scriptTimeoutMs' | 'nextMoment'>,
): AskInterpreter {
  return async ({ request, variables, timeoutMs, owner, ...call }) => {
    const encoded = encode(request, variables);
    if ('type' in encoded) {
      return { ok: false, error: encoded, progress: 0, output: '' };
    }
    const isExpression = request.kind === 'expressions';
    const { text, ...bytes } = encoded;
    // Compiling reads no clock: whether it happens must not change the numbers of other calls.
    const moment = request.kind === 'syntax' ? undefined : settings.nextMoment?.();
    return pool.run({
      ...call,
      ...bytes,
      ...(moment && { moment }),
      isRisky: !call.pure && request.kind !== 'syntax',
      lane: isExpression ? 'expressions' : 'scripts',
      owner: owner ?? text.slice(0, MAX_OWNER_LENGTH),
      timeoutMs:
        timeoutMs ?? (isExpression ? settings.expressionTimeoutMs : settings.scriptTimeoutMs),
    });
  };
}

export function queueOptions({
  definitionId,
  signal,
}: CallOptions): Pick<InterpreterCall<unknown>, 'owner' | 'signal'> {
  return {
    ...(definitionId === undefined ? {} : { owner: `definition ${definitionId}` }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function encode(
  request: JsonObject,
  variables: JsonObject,
): { text: string; request: Buffer; variables: Buffer } | ScriptError {
  try {
    const text = writeJson(request);
    const encoded = {
      text,
      request: Buffer.from(text),
      variables: Buffer.from(writeJson(variables)),
    };
    const bytes = encoded.request.length + encoded.variables.length;
    if (bytes <= MAX_INPUT_BYTES) return encoded;
    const message = `the code and its data are larger than ${MAX_INPUT_BYTES} bytes`;
    return { type: 'MemoryLimit', message };
  } catch (error) {
    // Writing JSON is recursive, and strings have a maximum length.
    if (!(error instanceof RangeError)) throw error;
    return { type: 'ValueError', message: 'the data is nested too deeply or too large' };
  }
}
