/**
 * Checks that a caller stays authorized while a request is in progress. Authorization ends when the token expires, when the API
 * key is removed or expires, or when the key's scopes change.
 *
 *  AD1 Every authenticated request is watched from authentication until its response is sent, so individual endpoints don't have
 *      to handle expiry.
 *  AD2 When authorization ends, any wait on the caller's behalf ends (`ended`), and the call gets a 401. A response that is being
 *      sent is cut off.
 *  AD3 Nodes look up keys in the store twice per second (AK1), so every node reacts within a second of a key's removal. Token
 *      expiry takes effect immediately.
 *  AD4 If the store doesn't respond, a call in progress continues but gets no response, because the key may no longer exist.
 */
import type { Request, Response } from 'express';
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { VerifiedToken } from './token-verifier.js';

/** Why authorization ended: `revoked` if the API key was removed or its scopes changed. */
export type AuthorizationEnd = 'expired' | 'revoked';

export interface AdmissionsOptions {
  /** The current state of the token if it is a valid API key; otherwise null. @throws StoreUnavailableError */
  readonly lookUp: LookUp;
  /** Answers a request. */
  readonly refuse: (error: AppError, request: Request, response: Response) => void;
  readonly ended: (reason: AuthorizationEnd) => void;
  /** The lookup failed for an unknown reason. */
  readonly failed: (error: unknown) => void;
}

export interface AdmittedToken extends VerifiedToken {
  /** The API key, which can be removed at any time. Null for a JWT, which can only expire. */
  readonly apiKey: string | null;
}

type LookUp = (apiKey: string) => Promise<Pick<VerifiedToken, 'scopes'> | null>;

/** Together with the verifier's `KNOWN_MS` and the response time, this is less than a second. */
const LOOK_MS = 250;
/** How long an authentication is valid without being confirmed again. */
const FRESH_MS = 250;
/**
 * A call that changes something was authorized when it was made, so its caller must learn the result. Otherwise, a caller who
 * retries after a 401 would repeat every change that was in progress when the token expired.
 */
const FINISH_MS = 1000;
/** Maximum clock difference between this process and the store. */
const EXPIRES_MS = 2000;
/** How long a call that changes something has to finish on its own, so the response can report the result. */
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

  /** Aborted when authorization ends. */
  get ended(): AbortSignal {
    return this.#controller.signal;
  }

  /** The call waits for others, so it ends exactly when its authorization does, even if it has already changed something. */
  waits(): void {
    this.#finishMs = 0;
  }

  /** Milliseconds until authorization expires; 0 or less if it has expired. */
  get leftMs(): number {
    const { expiresAt } = this.#token;
    return expiresAt === null ? Infinity : expiresAt + this.#finishMs - Date.now();
  }

  /**
   * Null if the caller is still authorized. Otherwise, a promise that resolves if the caller turns out to be authorized.
   * @throws AppError `authorization_ended`; StoreUnavailableError
   */
  confirm(lookUp: LookUp = this.#options.lookUp): Promise<void> | null {
    if (this.leftMs <= 0) this.#end('expired');
    if (this.ended.aborted) throw authorizationEnded();
    const { apiKey } = this.#token;
    const isFresh = performance.now() - this.#admittedAt < FRESH_MS;
    return apiKey === null || isFresh ? null : this.#look(apiKey, lookUp);
  }

  /** Whether the caller is still authorized. Also false if the store doesn't respond. */
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
    // The verifier may notice that the key has expired before this process's clock does.
    if (known === null) this.#end(this.leftMs <= EXPIRES_MS ? 'expired' : 'revoked');
    else if (!areSame(known.scopes, this.#token.scopes)) this.#end('revoked');
    if (this.ended.aborted) throw authorizationEnded();
  }

  /** The call can't be answered, so anything it claimed for its caller is released. */
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

  /** Streams end on their own in this tick. */
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

/** The authenticated requests in progress (AD1). */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #open = new Set<Admission>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  /** Watches the caller's authorization until the response is sent. */
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
    // Thousands of calls with the same key may be waiting.
    const looked = new Map<string, ReturnType<LookUp>>();
    const lookUp: LookUp = (apiKey) => {
      const known = looked.get(apiKey) ?? this.#options.lookUp(apiKey);
      looked.set(apiKey, known);
      return known;
    };
    for (const admission of this.#open) {
      this.#endInTime(admission);
      // If the store doesn't respond, the next check tries again.
      admission.isValid(lookUp).catch((error: unknown) => this.#options.failed(error));
    }
  }

  /** The next check may be too late. */
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
    'Authorization ended while this call was in progress: the token expired, or the API key was removed. Any changes the call has made remain in effect';
  return new AppError('authorization_ended', message, {
    fields: { error: 'invalid_token', ...fields },
  });
}
