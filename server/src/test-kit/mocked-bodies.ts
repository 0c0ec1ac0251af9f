/** The bodies of HttpRequest and custom steps in a test: mocks answer in their place. Unmocked scripts run for real. */
import type { Clock } from '../base/clock.js';
import type { ExternalBodies } from '../compose-host.js';
import type { EffectResult } from '../engine/flow/messages.js';
import { InputError } from '../engine/primitives/primitive.js';
import { isJsonObject, type JsonObject } from '../engine/values/json.js';
import { nameOfCall, readHttpCall } from '../step-bodies/http-request/http-call.js';
import { failureOf } from '../step-bodies/http-request/check-status.js';
import type { StepBodyContext } from '../step-bodies/step-body.js';
import {
  messageOfFailure,
  typeOfFailure,
  untilDue,
  type Answer,
  type Answers,
  type MockResponse,
} from './answers.js';
import type { Quiescence } from './quiescence.js';

export function mockedBodies(
  real: ExternalBodies,
  answers: Answers,
  quiescence: Quiescence,
  clock: Clock,
): ExternalBodies {
  return {
    httpRequest: {
      run: async (inputs, context) => {
        const { answer, result } = await quiescence.during(() =>
          answerHttp({ answers, now: clock.now() }, inputs, context),
        );
        await untilDue(clock, answer);
        return quiescence.during(() => result);
      },
    },
    customStep: (find) => {
      const body = real.customStep(find);
      return {
        run: async (type, inputs, context) => {
          const { stepId } = context;
          if (!answers.has(stepId, type)) {
            return quiescence.during(() => body.run(type, inputs, context));
          }
          const answer = answers.next(`the custom step ${type} of step ${stepId}`, stepId, type);
          await untilDue(clock, answer);
          return quiescence.during(() => resultOf(answer, 'values'));
        },
      };
    },
  };
}

function answerHttp(
  { answers, now }: { readonly answers: Answers; readonly now: number },
  inputs: JsonObject,
  context: StepBodyContext,
): { readonly answer: Answer | null; readonly result: EffectResult } {
  const { idempotencyKey, mask = (text) => text, stepId } = context;
  try {
    const call = readHttpCall(inputs, { idempotencyKey, timeoutMs: 1, timeoutMsMax: 1 });
    const what = mask(`the HTTP call ${call.method} ${call.url.href} of step ${stepId}`);
    const answer = answers.next(what, stepId);
    if (answer === null || !('response' in answer)) {
      return { answer, result: resultOf(answer, 'response') };
    }
    const { body = null, headers = {}, status = 200 } = answer.response;
    if (call.succeedOn !== null) {
      const retryAfter = fieldsOf(headers, 'retry-after');
      const judged = { statusCode: status, body, problem: null, retryAfter, now, mask };
      const failed = failureOf(call.succeedOn, nameOfCall(call, mask), judged);
      if (failed !== null) return { answer, result: failed };
    }
    return { answer, result: { ok: true, values: variablesOf(answer.response) } };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const failure = { type: 'InputError', message: error.message };
    return { answer: null, result: { ok: false, failure } };
  }
}

function variablesOf({ body = null, headers = {}, status = 200 }: MockResponse): JsonObject {
  const named = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return {
    ResponseCode: status,
    ResponseBody: body,
    IsSuccessful: status >= 200 && status <= 299,
    ErrorMessage: null,
    ResponseHeaders: Object.fromEntries(named),
  };
}

function fieldsOf(headers: JsonObject, wanted: string): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.toLowerCase() === wanted && (typeof value === 'string' || typeof value === 'number')
      ? [String(value)]
      : [],
  );
}

function resultOf(answer: Answer | null, wanted: 'values' | 'response'): EffectResult {
  if (answer === null) return failed('UnmockedCall', 'the test has no answer for this call', false);
  if ('fail' in answer) {
    const { fail, retryable = true } = answer;
    return failed(typeOfFailure(fail), messageOfFailure(fail), retryable);
  }
  if (wanted === 'values' && 'result' in answer && isJsonObject(answer.result)) {
    return { ok: true, values: answer.result };
  }
  const needed = wanted === 'values' ? 'a Result with the variables' : 'a Response';
  return failed('InvalidMock', `the mock needs ${needed}, or a Fail`, false);
}

function failed(type: string, message: string, retryable: boolean): EffectResult {
  return { ok: false, failure: { type, message, retryable } };
}
