/**
 * The body of HttpRequest steps: makes one HTTP call, including its redirects, and returns the variables of `step`.
 *
 * Owns: the order of a call: inputs, address policy, sending, redirects, response. Must not
 * know: workflows, stores, who started it. The parts are in `http-request/`.
 *
 *  HR1 Any response of a callee is a result, including a status of 500, garbage or an incomplete response. Without a
 *      response, `ResponseCode` is 0. With SucceedOn, statuses that it does not name, incomplete and missing responses are
 *      failures.
 *  HR2 Other failures can be corrected by the author: invalid inputs (`InputError`), refused addresses (`AddressRefused`).
 *  HR3 Every connection goes to an address that the policy has allowed, even after redirects and when names change.
 *  HR4 A call ends within its time limit, and holds at most `responseBytesMax` of a response. All responses being read
 *      together hold at most what `CallMemory` admits.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import type { Json, JsonObject } from '../engine/values/json.js';
import type { EffectResult } from '../engine/flow/messages.js';
import { InputError } from '../engine/primitives/primitive.js';
import { systemClock, type Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { memoryCost } from '../engine/values/memory-cost.js';
import { createAddressPolicy, type AddressPolicy } from './http-request/address-policy.js';
import type { AddressPolicyOptions } from './http-request/address-policy.js';
import { AnswerBodyError, decodeBody, readBytes, tooLarge } from './http-request/answer-body.js';
import { field, fieldsOf, toJsonHeaders } from './http-request/answer-fields.js';
import { CallSlots } from './http-request/call-slots.js';
import { Connections } from './http-request/connections.js';
import { Deadline } from './http-request/deadline.js';
import {
  nameOfCall,
  readHttpCall,
  type CallSettings,
  type CallTerms,
  type HttpCall,
} from './http-request/http-call.js';
import { explainNetworkError } from './http-request/network-error.js';
import {
  AddressRefusedError,
  createPinnedConnector,
  systemLookup,
  type AddressLookup,
} from './http-request/pinned-connector.js';
import { followRedirect, REDIRECTS_MAX } from './http-request/redirect.js';
import { failureOf } from './http-request/check-status.js';
import { CallMemory, type AnswerShare } from './call-memory.js';
import type { StepBody, StepBodyContext } from './step-body.js';

export interface HttpRequestOptions extends AddressPolicyOptions {
  /** For steps without the input Timeout. */
  readonly timeoutMs: number;
  /** The maximum of the input Timeout; longer ones are reduced to it. */
  readonly timeoutMsMax: number;
  /** After decompression. */
  readonly responseBytesMax: number;
  /** Maximum number of concurrent calls to one host and port; further calls wait. */
  readonly connectionsPerHost: number;
  /** Maximum number of concurrent calls, and of open connections, in total; further calls wait. */
  readonly connectionsMax: number;
  /** For responses that are being read or saved. @default without a limit */
  readonly memory?: CallMemory;
  readonly logger?: Logger;
  /** @default the machine's clock */
  readonly clock?: Pick<Clock, 'now'>;
  /** @default the operating system's resolution */
  readonly lookup?: AddressLookup;
}

export interface HttpRequestBody extends StepBody {
  /** Ends running calls (they fail with `Aborted`) and idle connections. */
  close(): Promise<void>;
}

const NOTHING = (): void => undefined;

/** @throws Error naming an invalid entry of a host list */
export function createHttpRequestBody(options: HttpRequestOptions): HttpRequestBody {
  const { allowLoopback, allowPrivate, logger } = options;
  if (allowLoopback || allowPrivate) {
    logger?.info(
      { allowLoopback, allowPrivate },
      'HttpRequest steps may call loopback addresses or private networks',
    );
  }
  return new Caller(options);
}

/** A response as far as it is known. `problem` is set if its body is incomplete. */
interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  readonly problem: string | null;
}

interface Bounds {
  readonly deadline: Deadline;
  readonly share: AnswerShare;
}

class Caller implements HttpRequestBody {
  readonly #policy: AddressPolicy;
  readonly #connections: Connections;
  readonly #slots: CallSlots;
  readonly #memory: CallMemory;
  readonly #timeoutMs: number;
  readonly #timeoutMsMax: number;
  readonly #responseBytesMax: number;
  readonly #logger: Logger | null;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(options: HttpRequestOptions) {
    this.#policy = createAddressPolicy(options);
    const { connectionsPerHost: perHostMax, connectionsMax: totalMax } = options;
    this.#slots = new CallSlots({ perHostMax, totalMax });
    this.#memory = options.memory ?? new CallMemory(Infinity);
    this.#timeoutMs = options.timeoutMs;
    this.#timeoutMsMax = options.timeoutMsMax;
    this.#responseBytesMax = options.responseBytesMax;
    this.#logger = options.logger ?? null;
    this.#clock = options.clock ?? systemClock;
    this.#connections = new Connections({
      perHostMax,
      totalMax,
      connect: createPinnedConnector(this.#policy, options.lookup ?? systemLookup),
    });
  }

  async run(inputs: JsonObject, context: StepBodyContext): Promise<EffectResult> {
    const { idempotencyKey, trace } = context;
    const limits = { timeoutMs: this.#timeoutMs, timeoutMsMax: this.#timeoutMsMax };
    const settings = { idempotencyKey, trace, ...limits };
    let call: ReturnType<typeof readHttpCall>;
    try {
      call = readHttpCall(inputs, settings);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return failure('InputError', shownProblem(error, context.shownInputs, settings));
    }
    if (context.signal.aborted) return aborted();
    const deadline = new Deadline(call.timeoutMs, context.signal);
    const definitionId = context.definitionId ?? '';
    const share = this.#memory.begin(definitionId, deadline.signal);
    let { release } = share;
    try {
      const answer = await this.#send(call, definitionId, { deadline, share });
      this.#log(call, context, answer.statusCode);
      const { retain } = context;
      if (retain !== undefined) {
        share.complete();
        retain(share.release);
        release = NOTHING;
      }
      return judged(call, answer, { now: this.#clock.now(), mask: context.mask });
    } catch (error) {
      return this.#withoutAnswer(error, { call, context, deadline });
    } finally {
      deadline.clear();
      release();
    }
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #send(first: HttpCall, definitionId: string, bounds: Bounds): Promise<Answer> {
    const { signal } = bounds.deadline;
    let call = first;
    for (let redirects = 0; ; redirects += 1) {
      const release = await this.#slots.take(call.url.origin, definitionId, signal);
      try {
        const sent = await this.#sendOnce(call, redirects, bounds);
        if ('answer' in sent) return sent.answer;
        call = sent.next;
      } finally {
        release();
      }
    }
  }

  /** The response, or the next call if it is a redirect. */
  async #sendOnce(
    call: HttpCall,
    redirects: number,
    bounds: Bounds,
  ): Promise<{ readonly answer: Answer } | { readonly next: HttpCall }> {
    const response = await this.#request(call, bounds.deadline.signal);
    const { statusCode, headers } = response;
    const next = this.#nextCall(call, response);
    if (next === null) return { answer: await this.#readAnswer(call, response, bounds) };
    discard(response.body);
    if (redirects < REDIRECTS_MAX) return { next };
    const problem = `more than ${REDIRECTS_MAX} redirects`;
    return { answer: { statusCode, headers, body: null, problem } };
  }

  async #request(call: HttpCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const refusal = this.#policy.refuseHost(call.url.hostname);
    if (refusal !== null) throw new AddressRefusedError(refusal);
    return this.#connections.send(call, signal);
  }

  #nextCall(call: HttpCall, response: Dispatcher.ResponseData): HttpCall | null {
    try {
      return followRedirect(call, response.statusCode, fieldsOf(response.headers, 'location'));
    } catch (error) {
      discard(response.body);
      throw error;
    }
  }

  async #readAnswer(
    call: HttpCall,
    response: Dispatcher.ResponseData,
    { deadline, share }: Bounds,
  ): Promise<Answer> {
    const { statusCode, headers } = response;
    try {
      const bytes = await this.#readBody(call, response, share);
      await share.grow(memoryCost(bytes.toString('latin1')));
      const body = decodeBody(bytes, field(headers, 'content-type') ?? '');
      return { statusCode, headers, body, problem: null };
    } catch (error) {
      discard(response.body);
      if (deadline.signal.aborted && !deadline.isOver) throw error;
      return { statusCode, headers, body: null, problem: bodyProblem(error, deadline) };
    }
  }

  async #readBody(
    call: HttpCall,
    response: Dispatcher.ResponseData,
    { grow }: AnswerShare,
  ): Promise<Buffer> {
    const { statusCode, headers, body } = response;
    if (call.method === 'HEAD' || statusCode === 204 || statusCode === 304) {
      // There is none. To destroy it would count as an abortion, with an error that nobody reads.
      body.on('error', NOTHING).resume();
      return Buffer.alloc(0);
    }
    const bytesMax = this.#responseBytesMax;
    // The body of a response that will be rejected need not be read.
    if (Number(field(headers, 'content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
    const contentEncoding = field(headers, 'content-encoding') ?? '';
    const transferEncoding = field(headers, 'transfer-encoding') ?? '';
    return readBytes(body, { contentEncoding, transferEncoding }, bytesMax, grow);
  }

  #withoutAnswer(
    error: unknown,
    at: {
      readonly call: HttpCall & CallTerms;
      readonly context: StepBodyContext;
      readonly deadline: Deadline;
    },
  ): EffectResult {
    if (at.context.signal.aborted || error instanceof errors.ClientDestroyedError) {
      return aborted();
    }
    if (error instanceof AddressRefusedError) return failure('AddressRefused', error.message);
    // Accepted by the checks of the inputs, but rejected by the HTTP client.
    if (error instanceof errors.InvalidArgumentError) return failure('InputError', error.message);
    const reason = at.deadline.isOver ? timedOut(at.deadline) : explainNetworkError(error);
    this.#log(at.call, at.context, 0);
    const message = `${nameOfCall(at.call, at.context.mask)}: ${reason}`;
    if (at.call.succeedOn !== null) return failure('HttpNoAnswer', message);
    return {
      ok: true,
      values: {
        ResponseCode: 0,
        ResponseBody: null,
        IsSuccessful: false,
        ErrorMessage: message,
        ResponseHeaders: {},
      },
    };
  }

  /** Without path and query: they may contain confidential data. */
  #log(call: HttpCall, context: StepBodyContext, statusCode: number): void {
    const { workflowId, stepId, attempt, mask, trace } = context;
    const { method, url } = call;
    const origin = mask?.(url.origin) ?? url.origin;
    trace?.sent?.({ method, origin, statusCode });
    this.#logger?.debug(
      { workflowId, stepId, attempt, method, origin, statusCode },
      'an HttpRequest step made a call',
    );
  }
}

/** What is wrong, without the start of a secret: messages quote the start of a value. */
function shownProblem(
  problem: InputError,
  shown: JsonObject | undefined,
  settings: CallSettings,
): string {
  if (shown === undefined) return problem.message;
  try {
    readHttpCall(shown, settings);
  } catch (error) {
    if (error instanceof InputError) return error.message;
  }
  // Only the value of a secret is wrong: such messages name the input and do not quote it.
  return problem.message;
}

function judged(
  call: HttpCall & CallTerms,
  answer: Answer,
  { mask, now }: { readonly now: number; readonly mask: StepBodyContext['mask'] },
): EffectResult {
  if (call.succeedOn === null) return answered(answer);
  const retryAfter = fieldsOf(answer.headers, 'retry-after');
  const judged = { ...answer, retryAfter, now, ...(mask !== undefined && { mask }) };
  return failureOf(call.succeedOn, nameOfCall(call, mask), judged) ?? answered(answer);
}

function answered(answer: Answer): EffectResult {
  const { statusCode, problem } = answer;
  return {
    ok: true,
    values: {
      ResponseCode: statusCode,
      ResponseBody: answer.body,
      IsSuccessful: problem === null && statusCode >= 200 && statusCode <= 299,
      ErrorMessage: problem === null ? null : `the response arrived, but ${problem}`,
      ResponseHeaders: toJsonHeaders(answer.headers),
    },
  };
}

/** Closes the connection of a body that is not needed; the resulting error is irrelevant. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy();
}

function bodyProblem(error: unknown, deadline: Deadline): string {
  if (deadline.isOver) return timedOut(deadline);
  return error instanceof AnswerBodyError ? error.message : explainNetworkError(error);
}

function timedOut(deadline: Deadline): string {
  return `it took longer than ${deadline.timeoutMs} ms`;
}

function aborted(): EffectResult {
  return failure('Aborted', 'the call was canceled, because its result is no longer needed');
}

function failure(type: string, message: string): EffectResult {
  return { ok: false, failure: { type, message } };
}
