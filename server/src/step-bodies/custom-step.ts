/**
 * The body of custom steps: runs the latest script of the step's type, with the inputs as its variables.
 *
 * Owns: the selection of the script, and the handling of its result. Must not know: how Python runs, where scripts are
 * kept.
 *
 *  CS1 The script is looked up when the step runs, so that a corrected script helps instances that wait for a retry.
 *  CS2 The output of a script goes to the log, even if the script fails.
 *  CS3 A result counts towards `CallMemory` until its run has saved it. If there is no room for it, it is dropped, and the
 *      script runs again once there is: a script changes nothing but its result.
 */
import { failureHint } from '../engine/definitions/foreign/failure-hint.js';
import type { JsonObject } from '../engine/values/json.js';
import type { EffectResult } from '../engine/flow/messages.js';
import type { Logger } from '../base/logger.js';
import type { ScriptError, ScriptResult, ScriptRuntime } from '../scripts/script-runtime.js';
import type { StepScriptRecord } from '../store/records/definitions.js';
import { CallMemory, type AnswerShare } from './call-memory.js';
import type { StepBodyContext } from './step-body.js';

/** The exception that a script raises if another attempt cannot succeed. */
const NON_RETRYABLE = 'NonRetryableError';

const NOTHING = (): void => undefined;

export interface CustomStepOptions {
  readonly scripts: Pick<ScriptRuntime, 'runScript'>;
  /** The latest script of a step type. */
  readonly find: (name: string) => Promise<StepScriptRecord | null>;
  /** @default without a limit */
  readonly memory?: CallMemory;
  readonly logger?: Logger;
}

export interface CustomStepBody {
  /** Like `StepBody.run`, for a step of this type. */
  run(stepType: string, inputs: JsonObject, context: StepBodyContext): Promise<EffectResult>;
}

export function createCustomStepBody(options: CustomStepOptions): CustomStepBody {
  const { memory = new CallMemory(Infinity) } = options;
  return {
    async run(stepType, inputs, context) {
      let script: StepScriptRecord | null;
      try {
        script = await options.find(stepType);
      } catch (error) {
        log(options, context)?.error({ stepType, err: error }, 'a script could not be read');
        return failure('Unavailable', `the script of ${stepType} could not be read`);
      }
      if (script === null) {
        return failure('StepNotFound', `there is no step type or custom step named ${stepType}`);
      }
      const share = memory.begin(context.definitionId ?? '', context.signal);
      let { release } = share;
      try {
        const result = await runWithin(share, () =>
          options.scripts.runScript(script.source, inputs, {
            signal: context.signal,
            ...(context.definitionId === undefined ? {} : { definitionId: context.definitionId }),
          }),
        );
        if (result === null) return failure('Aborted', 'the step was canceled');
        logResult(log(options, context), script, result);
        if (context.retain !== undefined) {
          share.complete();
          context.retain(share.release);
          release = NOTHING;
        }
        return toEffectResult(result, script.source);
      } finally {
        release();
      }
    },
  };
}

/** Null: the signal fired while the script was waiting for memory. */
async function runWithin(
  share: AnswerShare,
  run: () => Promise<ScriptResult>,
): Promise<ScriptResult | null> {
  /** The result, or the bytes of one that was dropped. */
  const attempt = async (): Promise<ScriptResult | number> => {
    const result = await run();
    return result.ok && !share.become(result.memoryBytes) ? result.memoryBytes : result;
  };
  for (let reserved = 0; ;) {
    const outcome = await attempt();
    if (typeof outcome !== 'number') return outcome;
    try {
      await share.grow(outcome - reserved);
    } catch {
      return null;
    }
    reserved = outcome;
  }
}

function toEffectResult(result: ScriptResult, script: string): EffectResult {
  if (result.ok) return { ok: true, values: result.variables };
  const { type, traceback } = result.error;
  const message = result.error.message + hintFor(result.error, script);
  const retryable = type !== NON_RETRYABLE;
  return { ok: false, failure: { type, message, traceback: traceback ?? null, retryable } };
}

function hintFor({ type, message, line }: ScriptError, script: string): string {
  const source = line === undefined ? undefined : script.split('\n', line)[line - 1];
  return source === undefined ? '' : failureHint({ type, message, source, isScript: true });
}

function log(options: CustomStepOptions, context: StepBodyContext): Logger | null {
  const { workflowId, stepId, attempt } = context;
  return options.logger?.child({ workflowId, stepId, attempt }) ?? null;
}

function logResult(logger: Logger | null, script: StepScriptRecord, result: ScriptResult): void {
  const fields = { stepType: script.name, version: script.version };
  if (result.output !== '') logger?.info({ ...fields, output: result.output }, 'a script printed');
}

function failure(type: string, message: string): EffectResult {
  return { ok: false, failure: { type, message } };
}
