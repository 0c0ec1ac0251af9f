/**
 * The data of one request besides Express's own objects: the application's services and the parsed body.
 *
 * tsoa creates controllers from the request alone, so a controller gets the services of *its* application here. This
 * allows
 * several applications in one process, which tests of a fleet need.
 */
import type { Request, RequestHandler, Response } from 'express';
import type { Json } from '../../engine/values/json.js';
import { runForCaller, type Caller } from '../../base/limits/current-caller.js';
import { HeldMemory } from '../../base/limits/held-memory.js';
import type { Permit } from '../../base/limits/weighted-queue.js';
import type { Logger } from '../../base/logger.js';
import { CanceledError } from '../../base/slices.js';
import { ANONYMOUS } from '../../runtime/model/control-types.js';
import type { Host } from '../../runtime/host.js';
import type {
  WorkTokenFailureLimit,
  BearerTokenFailureLimit,
  SignatureLimit,
  WaitingLimit,
} from './address-limits.js';
import type { ApiLimits } from './api-limits.js';
import type { RequestQueue } from './request-queue.js';
import type { AccessControl } from '../access/access-control.js';
import type { Admission, Admissions } from '../access/admission.js';
import type { VerifiedToken } from '../access/token-verifier.js';
import type { RouteMemory } from './route-memory.js';
import type { LongAnswers } from './long-answers.js';
import type { BodyTurns } from './body-turns.js';
import type { BodyMemory, RequestMemory } from './request-memory.js';
import {
  writeTraceHeaders,
  type TraceContext,
  type TraceHeaders,
} from '../../tracing/trace-context.js';

export interface ApiServices {
  readonly host: Host;
  readonly limits: ApiLimits;
  readonly logger: Logger;
  /** Null: everything is allowed. */
  readonly access: AccessControl | null;
  readonly admissions: Admissions;
  readonly bearerTokenFailures: BearerTokenFailureLimit;
  readonly wrongSignatures: SignatureLimit;
  readonly workTokenFailures: WorkTokenFailureLimit;
  readonly waiting: WaitingLimit;
  readonly requests: RequestQueue;
  readonly bodyTurns: BodyTurns;
  readonly memory: RequestMemory;
  readonly routeMemory: RouteMemory;
  readonly longAnswers: LongAnswers;
  /** Where users see a trace; null: nowhere. */
  readonly traceUrl: string | null;
}

/** A position in a body, from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** How the number at a JSON pointer is written, such as `1.10`; null: there is no number. */
export type WrittenNumbers = (pointer: string) => string | null;

export interface ParsedBody {
  readonly value: Json;
  readonly text: string;
  /** Creates the function that finds the positions of JSON pointers in the text; null if the text is empty. */
  readonly locator: () => (pointer: string) => TextPosition | null;
  /** Creates the function that finds how numbers are written. */
  readonly numbers: () => WrittenNumbers;
}

interface RequestContext {
  readonly services: ApiServices;
  /** Who is charged for the request. */
  readonly caller: Caller;
  /** Cached, because it is computed from headers. Null: not computed yet. */
  address: string | null;
  body: ParsedBody | null;
  /** The method that answers it; null: none has been called. */
  route: string | null;
  /** The memory that its answer was expected to need. */
  routeMemory: Permit | null;
  /** The memory that the body takes until the response is sent. */
  bodyMemory: BodyMemory | null;
  /** Cached, because a route that accepts several scopes needs it several times. */
  verifiedToken: Promise<VerifiedToken> | null;
  /** The subject of the verified token; null: there is none, or it has not been verified yet. */
  subject: string | null;
  /** The right of the caller while the request is in progress; null: there is no access control, or no token yet. */
  admission: Admission | null;
  /** Its turn in the request queue; null: its caller is not known yet. */
  begun: Promise<void> | null;
  /** It was answered because the right of its caller has ended; what comes of it after that is dropped. */
  isRefused: boolean;
  /** Its controller has answered; a long answer is sent later. */
  isAnswered: boolean;
  /** The span of the request; null: it belongs to no trace. */
  trace: TraceContext | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Gives every request its context; runs before everything else. */
export function attachContext(services: ApiServices): RequestHandler {
  return (request, _response, next) => {
    const caller = new RequestCaller(request, services.memory);
    contexts.set(request, {
      services,
      caller,
      address: null,
      body: null,
      route: null,
      routeMemory: null,
      bodyMemory: null,
      verifiedToken: null,
      subject: null,
      admission: null,
      begun: null,
      isRefused: false,
      isAnswered: false,
      trace: null,
    });
    runForCaller(caller, next);
  };
}

/** Computed when asked for: most requests are not limited by their caller. */
class RequestCaller implements Caller {
  readonly #request: Request;
  readonly #account: RequestMemory;
  #gone: AbortSignal | null = null;
  #memory: HeldMemory | null = null;

  constructor(request: Request, account: RequestMemory) {
    this.#request = request;
    this.#account = account;
  }

  get key(): string {
    const { subject } = contextOf(this.#request);
    return subject === null ? `address:${addressOf(this.#request)}` : `subject:${subject}`;
  }

  get address(): string {
    return addressOf(this.#request);
  }

  get gone(): AbortSignal {
    this.#gone ??= isCallerDisconnected(this.#request);
    return this.#gone;
  }

  get memory(): HeldMemory {
    this.#memory ??= this.#newMemory();
    return this.#memory;
  }

  #newMemory(): HeldMemory {
    const memory = new HeldMemory(this.#account.answers, this);
    const response = responseOf(this.#request);
    const release = memory.hold();
    if (response.closed) release();
    else response.once('close', release);
    return memory;
  }
}

export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('attachContext has not run for this request');
  return context;
}

/** Waits for the turn of the call, once. @throws CanceledError if the caller has gone meanwhile */
export function beginRequest(request: Request): Promise<void> {
  const context = contextOf(request);
  context.begun ??= waitForTurn(request);
  return context.begun;
}

async function waitForTurn(request: Request): Promise<void> {
  const { caller, services } = contextOf(request);
  const turn = services.requests.enter(caller.key);
  if (turn === null) return;
  await turn;
  if (responseOf(request).closed) throw new CanceledError();
}

/** The response that belongs to the request; Express links the two. */
export function responseOf(request: Request): Response {
  if (request.res === undefined) throw new Error('The request has no response');
  return request.res;
}

/** To be spread into what the request causes. */
export function traceOf(request: Request): TraceHeaders {
  const { trace } = contextOf(request);
  return trace === null ? {} : writeTraceHeaders(trace);
}

const ACTOR_LENGTH_MAX = 200;

/** The actor as recorded with control actions: what the token says about itself. */
export async function actorOf(request: Request): Promise<string> {
  const token = await contextOf(request).verifiedToken;
  return token?.subject?.slice(0, ACTOR_LENGTH_MAX) ?? ANONYMOUS;
}

/** The address by which limits distinguish callers. */
export function addressOf(request: Request): string {
  const context = contextOf(request);
  context.address ??= request.ip ?? '';
  return context.address;
}

/** Aborted when the caller disconnects before the response was sent, or its right to make the call ends. */
export function isCallerDisconnected(request: Request): AbortSignal {
  const controller = new AbortController();
  const gone = (): void => controller.abort();
  const response = responseOf(request);
  response.once('close', () => {
    if (!response.writableFinished) gone();
  });
  const ended = contextOf(request).admission?.ended;
  ended?.addEventListener('abort', gone, { once: true });
  if (response.destroyed || ended?.aborted === true) gone();
  return controller.signal;
}
