/** One question to an interpreter, between what the server means and the bytes that travel. */
import type { JsonObject } from '../../engine/json.js';
import type { CallResult, InterpreterPool } from './interpreter-pool.js';
import type { RuntimeSettings } from './runtime-options.js';

export interface InterpreterCall<Answer> {
  /** What runner.py is asked to do. */
  readonly request: JsonObject & { readonly kind: 'expressions' | 'script' | 'syntax' };
  readonly variables: JsonObject;
  readonly pure: boolean;
  /** @throws MalformedAnswer */
  readonly read: (answer: Buffer) => Answer;
  readonly signal?: AbortSignal;
}

export type AskInterpreter = <Answer>(call: InterpreterCall<Answer>) => Promise<CallResult<Answer>>;

/** More than this could not be held by an interpreter's memory and is not even sent. */
const MAX_INPUT_BYTES = 48 * (1 << 20);

export function createAskInterpreter(
  pool: InterpreterPool,
  settings: Pick<RuntimeSettings, 'expressionTimeoutMs' | 'scriptTimeoutMs'>,
): AskInterpreter {
  return ({ request, variables, ...call }) => {
    const encodedRequest = Buffer.from(JSON.stringify(request));
    const encodedVariables = Buffer.from(JSON.stringify(variables));
    if (encodedRequest.length + encodedVariables.length > MAX_INPUT_BYTES) {
      const message = `the code and its data are larger than ${MAX_INPUT_BYTES} bytes`;
      const error = { type: 'MemoryLimit', message };
      return Promise.resolve({ ok: false, error, progress: 0, output: '' });
    }
    const isExpression = request.kind === 'expressions';
    return pool.run({
      ...call,
      lane: isExpression ? 'expressions' : 'scripts',
      timeoutMs: isExpression ? settings.expressionTimeoutMs : settings.scriptTimeoutMs,
      request: encodedRequest,
      variables: encodedVariables,
    });
  };
}
