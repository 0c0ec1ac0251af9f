/** The consequences of the end of a call, for its caller and for the interpreter that ran it. */
import { MalformedAnswer } from '../expressions/read-answer.js';
import type { ScriptError } from '../script-runtime.js';
import type { ReplyFrame } from './frames.js';
import type { CallEnd } from './interpreter-process.js';
import type { CallResult, PoolCall } from './pool-call.js';
import type { RuntimeLogger } from './runtime-options.js';

export interface EndedCallOptions {
  /** For the error message when the limit is exceeded. */
  readonly resultLimitBytes: number;
  readonly logger: RuntimeLogger;
}

export interface CallConsequences<Answer> {
  readonly result: CallResult<Answer>;
  /** Whether the interpreter can be used again. */
  readonly isSound: boolean;
}

/** After these, the interpreter restores its memory and is as good as new. */
const HARMLESS: ReadonlySet<ReplyFrame['outcome']> = new Set(['timeout', 'too-large', 'overflow']);

export function consequencesOf<Answer>(
  call: PoolCall<Answer>,
  end: CallEnd,
  options: EndedCallOptions,
): CallConsequences<Answer> {
  if (end.kind === 'died') {
    const error = crashed(`the interpreter's process ended: ${end.reason}`);
    return { result: failed(error), isSound: false };
  }
  if (end.kind === 'unresponsive') {
    return { result: failed(timedOut(call.timeoutMs)), isSound: false };
  }
  const { reply } = end;
  if (reply.outcome === 'answered') return judgeAnswer(call, reply, options);
  const isSound = HARMLESS.has(reply.outcome);
  if (!isSound) reportStrange(reply, options);
  const error = describeOutcome(reply, call.timeoutMs, options.resultLimitBytes);
  return { result: failed(error, reply), isSound };
}

export function isTimeout(end: CallEnd): boolean {
  return end.kind === 'unresponsive' || (end.kind === 'reply' && end.reply.outcome === 'timeout');
}

function judgeAnswer<Answer>(
  call: PoolCall<Answer>,
  reply: ReplyFrame,
  { logger }: EndedCallOptions,
): CallConsequences<Answer> {
  try {
    const answer = call.read(reply.result);
    return { result: { ok: true, answer, output: reply.output.toString() }, isSound: true };
  } catch (error) {
    if (error instanceof MalformedAnswer) {
      logger.warn({ reason: error.message }, 'Python returned an unreadable result');
    } else {
      logger.error({ err: error }, 'could not read a result from Python');
    }
    const broken = crashed('the code crashed its interpreter');
    return { result: failed(broken, reply), isSound: false };
  }
}

function failed(
  error: ScriptError,
  reply?: ReplyFrame,
): Extract<CallResult<never>, { readonly ok: false }> {
  const output = reply?.output.toString() ?? '';
  return { ok: false, error, progress: reply?.progress ?? 0, output };
}

function reportStrange(
  { outcome, deniedCalls, result }: ReplyFrame,
  options: EndedCallOptions,
): void {
  const fields = { outcome, deniedCalls, detail: result.toString().slice(0, 300) };
  options.logger.warn(fields, 'stopped Python code that tried to leave its sandbox');
}

function describeOutcome(
  reply: ReplyFrame,
  timeoutMs: number,
  resultLimitBytes: number,
): ScriptError {
  switch (reply.outcome) {
    case 'timeout':
      return timedOut(timeoutMs);
    case 'too-large':
      return {
        type: 'ResultTooLarge',
        message: `the result is larger than ${resultLimitBytes} bytes`,
      };
    case 'denied':
      return {
        type: 'SandboxViolation',
        message: `the code tried to access something outside its sandbox (${reply.result.toString().slice(0, 200)})`,
      };
    case 'overflow':
      return { type: 'RecursionError', message: 'the code or its data is nested too deeply' };
    case 'answered':
    case 'broken':
      return crashed('the code crashed its interpreter');
  }
}

function timedOut(timeoutMs: number): ScriptError {
  return { type: 'Timeout', message: `it took longer than ${timeoutMs} ms` };
}

function crashed(message: string): ScriptError {
  return { type: 'InterpreterCrash', message };
}
