/**
 * The right of a caller while a request is in progress: it ends when the token expires, when the API key is removed or expires,
 * and when the scopes of the key change.
 *
 *  AD1 Every authenticated request is watched from its authentication until its response is sent, whatever its endpoint does. So
 *      no endpoint can forget that the right may end.
 *  AD2 When the right ends, what waits for the caller ends (`ended`), and the call is answered with 401. A response that is being
 *      sent is cut off.
 *  AD3 Nodes ask the store for a key twice a second (AK1), so all of this happens within a second of its removal on every node;
 *      when a token expires, it happens at once.
 *  AD4 If the store does not respond, a call in progress goes on, but it is not answered: whether the key still exists is unknown.
 */
import type { Request, Response } from 'express';
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { VerifiedToken } from './token-verifier.js';

/** Why a right ended: `revoked` if the API key was removed or its scopes changed. */
export type AuthorizationEnd = 'expired' | 'revoked';

export interface AdmissionsOptions {
  /** The token as it is now, if it is an API key that is accepted; otherwise null. @throws StoreUnavailableError */
  readonly lookUp: LookUp;
  /** Answers a request. */
  readonly refuse: (error: AppError, request: Request, response: Response) => void;
  readonly ended: (reason: AuthorizationEnd) => void;
  /** Looking up failed for an unknown reason. */
  readonly failed: (error: unknown) => void;
}

export interface AdmittedToken extends VerifiedToken {
  /** The text of an API key, which can be removed at any time. Null: the token is a JWT, which only expires. */
  readonly apiKey: string | null;
}

type LookUp = (apiKey: string) => Promise<Pick<VerifiedToken, 'scopes'> | null>;

/** Together with `KNOWN_MS` of the verifier, and the time to answer, less than a second. */
const LOOK_MS = 250;
/** For this long, the authentication of a request needs no confirmation. */
const FRESH_MS = 250;
/**
 * A call that changes something was made with the right, and its caller must learn of the effect: otherwise, callers who repeat
 * what was answered with 401 would do everything twice that was in progress when their token expired.
 */
const FINISH_MS = 1000;
/** How much the clocks of this process and of the store may differ. */
const EXPIRES_MS = 2000;
/** How long a call that changes something has to end by itself, so that the answer can say what it has done. */
const LEAVE_MS = 200;

export class Admission {
  readonly #token: AdmittedToken;
  readonly #options: AdmissionsOptions;
  readonly #request: Request;
  readonly #response: Response;
  readonly #controller = new AbortController();
  readonly #admittedAt = performance.now();
  #finishMs: number;

  constructor(
    token: AdmittedToken,
    options: AdmissionsOptions,
    sent: { readonly request: Request; readonly response: Response },
  ) {
    this.#token = token;
    this.#options = options;
    this.#request = sent.request;
    this.#response = sent.response;
    this.#finishMs = this.#onlyReads ? 0 : FINISH_MS;
  }

  /** Aborted when the right has ended. */
  get ended(): AbortSignal {
    return this.#controller.signal;
  }

  /** The call waits for what others do, so it ends exactly with the right, also if it has changed something before. */
  waits(): void {
    this.#finishMs = 0;
  }

  /** Milliseconds until the right expires; at most 0: it has expired. */
  get leftMs(): number {
    const { expiresAt } = this.#token;
    return expiresAt === null ? Infinity : expiresAt + this.#finishMs - Date.now();
  }

  /**
   * Null: the caller still has its right. Otherwise, the promise resolves if it has.
   * @throws AppError `authorization_ended`; StoreUnavailableError
   */
  confirm(lookUp: LookUp = this.#options.lookUp): Promise<void> | null {
    if (this.leftMs <= 0) this.#end('expired');
    if (this.ended.aborted) throw authorizationEnded();
    const { apiKey } = this.#token;
    const isFresh = performance.now() - this.#admittedAt < FRESH_MS;
    return apiKey === null || isFresh ? null : this.#look(apiKey, lookUp);
  }

  /** Whether the caller still has its right. False also if the store does not respond. */
  async isValid(lookUp?: LookUp): Promise<boolean> {
    try {
      await this.confirm(lookUp);
      return true;
    } catch (error) {
      if (error instanceof AppError || error instanceof StoreUnavailableError) return false;
      throw error;
    }
  }

  async #look(apiKey: string, lookUp: LookUp): Promise<void> {
    const known = await lookUp(apiKey);
    // The verifier may know that the key has expired before the clock of this process does.
    if (known === null) this.#end(this.leftMs <= EXPIRES_MS ? 'expired' : 'revoked');
    else if (!areSame(known.scopes, this.#token.scopes)) this.#end('revoked');
    if (this.ended.aborted) throw authorizationEnded();
  }

  /** The call cannot be answered: what it has taken for its caller is given back. */
  abandon(): void {
    this.#controller.abort();
  }

  #end(reason: AuthorizationEnd): void {
    if (this.ended.aborted) return;
    this.#options.ended(reason);
    this.#controller.abort();
    if (this.#response.headersSent) this.#cutOff();
    else if (this.#onlyReads) this.#refuse();
    else setTimeout(() => this.#refuse(), LEAVE_MS).unref();
  }

  get #onlyReads(): boolean {
    return this.#request.method === 'GET' || this.#request.method === 'HEAD';
  }

  #refuse(): void {
    if (this.#response.headersSent) this.#cutOff();
    else this.#options.refuse(authorizationEnded(), this.#request, this.#response);
  }

  /** Streams end by themselves, in this turn. */
  #cutOff(): void {
    const response = this.#response;
    if (!this.#onlyReads && response.writableEnded) return;
    if (response.writableEnded) response.destroy();
    else {
      setImmediate(() => {
        if (!response.writableEnded) response.destroy();
      });
    }
  }
}

/** The requests in progress whose callers are authenticated (AD1). */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #open = new Set<Admission>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  /** Watches the right of the caller until the response is sent. */
  admit(token: AdmittedToken, request: Request, response: Response): Admission {
    const admission = new Admission(token, this.#options, { request, response });
    if (response.closed) return admission;
    this.#open.add(admission);
    response.once('close', () => this.#open.delete(admission));
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    this.#endInTime(admission);
    return admission;
  }

  #look(): void {
    if (this.#open.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    // Thousands of calls may wait with one key.
    const looked = new Map<string, ReturnType<LookUp>>();
    const lookUp: LookUp = (apiKey) => {
      const known = looked.get(apiKey) ?? this.#options.lookUp(apiKey);
      looked.set(apiKey, known);
      return known;
    };
    for (const admission of this.#open) {
      this.#endInTime(admission);
      // If the store does not respond, the next look finds out what this one does not.
      admission.isValid(lookUp).catch((error: unknown) => this.#options.failed(error));
    }
  }

  /** The next look may be too late. */
  #endInTime(admission: Admission): void {
    const { leftMs } = admission;
    if (leftMs <= 0 || leftMs > LOOK_MS) return;
    setTimeout(() => void admission.isValid(), leftMs).unref();
  }
}

function areSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((scope) => right.has(scope));
}

/** Not `unauthenticated`: a call that is answered with this may have had an effect. */
export function authorizationEnded(fields: Readonly<Record<string, string>> = {}): AppError {
  const message =
    'The right to make this call ended while it was in progress: the token expired, or the API key was removed. What the call has changed stays changed';
  return new AppError('authorization_ended', message, {
    fields: { error: 'invalid_token', ...fields },
  });
}
