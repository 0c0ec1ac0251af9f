/** One attempt of a delivery: signs and sends the message, and saves the outcome. */
import type { KeyObject } from 'node:crypto';
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Seal } from '../../base/seal.js';
import type { StepBody } from '../../step-bodies/step-body.js';
import type { DeliveryAttempt, DeliveryRecord } from '../../store/records/notifications.js';
import { StoreRefusedError, type Store } from '../../store/store.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { writeAnswer, type KnownNotification } from './notification-codec.js';
import type { DeliveryAnswer } from './notification-types.js';
import { pauseAfter, TRIED_MS } from './retry-pauses.js';
import { signingKey, webhookHeaders } from './standard-webhook.js';

export interface DeliveryAttemptsOptions {
  readonly store: Pick<Store, 'saveDelivery' | 'pauseNotification'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<RuntimeMetrics, 'deliveryTried'>;
  readonly seal: Seal;
  /** Applies the outbound HTTP policy: addresses, redirects, limits. */
  readonly http: StepBody;
  /** Called when a notification was paused. */
  readonly paused: () => Promise<void>;
}

export interface Attempted {
  readonly succeeded: boolean;
  /** When the next attempt is due; null: never. */
  readonly retryAt: number | null;
  readonly answer: DeliveryAnswer;
}

/** Time limit of an attempt. */
const ATTEMPT_SECONDS = 10;
/** How long a node may work on a delivery before another node may claim it. */
export const DELIVERY_LEASE_MS = 12_000;
const SHOWN_BODY_MAX = 500;
const SHOWN_ERROR_MAX = 500;
const GONE = 410;

export class DeliveryAttempts {
  readonly #options: DeliveryAttemptsOptions;
  readonly #keys = new WeakMap<KnownNotification, KeyObject>();

  constructor(options: DeliveryAttemptsOptions) {
    this.#options = options;
  }

  /** @param isOnly true if there is no further attempt, whatever the outcome */
  async make(
    notification: KnownNotification,
    delivery: DeliveryRecord,
    signal: AbortSignal,
    isOnly = false,
  ): Promise<Attempted> {
    const { clock, metrics } = this.#options;
    const answer = await this.#send(notification, delivery, signal);
    const succeeded = answer.status !== null && answer.status >= 200 && answer.status < 300;
    const now = clock.now();
    const isLeft = signal.aborted && answer.status === null;
    const pauseMs = isLeft ? 0 : pauseAfter(delivery.attempts, delivery.id);
    const isLast = isOnly || now + pauseMs > delivery.since + TRIED_MS || answer.status === GONE;
    const state = succeeded ? 'delivered' : isLast ? 'failed' : 'waiting';
    const retryAt = state === 'waiting' ? now + pauseMs : null;
    const saved = {
      id: delivery.id,
      attempts: delivery.attempts,
      state,
      dueAt: retryAt ?? now,
      endedAt: retryAt === null ? now : null,
    } as const;
    await this.#save(saved, answer);
    metrics.deliveryTried(state === 'waiting' ? 'retried' : state);
    this.#log(notification, delivery, { answer, retryAt, succeeded });
    if (answer.status === GONE) await this.#pause(notification);
    return { succeeded, retryAt, answer };
  }

  /** An answer that the store refuses is omitted; otherwise, the message would be sent again and again. */
  async #save(saved: Omit<DeliveryAttempt, 'answer'>, answer: DeliveryAnswer): Promise<void> {
    const { store } = this.#options;
    try {
      await store.saveDelivery({ ...saved, answer: writeAnswer(answer) });
    } catch (error) {
      if (!(error instanceof StoreRefusedError)) throw error;
      const plain = { ...answer, body: null, error: error.message };
      await store.saveDelivery({ ...saved, answer: writeAnswer(plain) });
    }
  }

  async #send(
    notification: KnownNotification,
    { attempts, body, id, workflowId }: DeliveryRecord,
    signal: AbortSignal,
  ): Promise<DeliveryAnswer> {
    const { clock, http } = this.#options;
    const { name, url } = notification;
    const time = clock.now();
    const answered = (values: Partial<DeliveryAnswer>): DeliveryAnswer => ({
      time,
      status: null,
      error: null,
      body: null,
      durationMs: clock.now() - time,
      ...values,
    });
    let headers: Readonly<Record<string, string>>;
    try {
      headers = webhookHeaders(this.#keyOf(notification), { id, sentAt: time, body });
    } catch (error) {
      return answered({ error: error instanceof Error ? error.message : String(error) });
    }
    const inputs = { BaseUrl: url, Method: 'POST', Body: body, Timeout: ATTEMPT_SECONDS };
    const result = await http.run(
      { ...inputs, Headers: headers },
      {
        workflowId: workflowId ?? '',
        definitionId: name,
        stepId: '',
        attempt: attempts,
        idempotencyKey: id,
        signal,
        mask: withoutPathOf(url),
      },
    );
    if (!result.ok) return answered({ error: cut(result.failure.message, SHOWN_ERROR_MAX) });
    const { ErrorMessage, ResponseBody = null, ResponseCode } = result.values;
    const status = typeof ResponseCode === 'number' && ResponseCode > 0 ? ResponseCode : null;
    const error = typeof ErrorMessage === 'string' ? cut(ErrorMessage, SHOWN_ERROR_MAX) : null;
    return answered({ status, error, body: shownBody(ResponseBody) });
  }

  /** Notifications are new objects after a change. */
  #keyOf(notification: KnownNotification): KeyObject {
    const known = this.#keys.get(notification);
    if (known !== undefined) return known;
    const { name, sealedSecret } = notification;
    const key = signingKey(this.#options.seal.open(sealedSecret, secretPlace(name)));
    this.#keys.set(notification, key);
    return key;
  }

  async #pause({ name }: KnownNotification): Promise<void> {
    const { logger, paused, store } = this.#options;
    logger.warn({ notification: name }, 'paused a notification: its target answered 410 Gone');
    await store.pauseNotification(name, 'the target answered 410 Gone');
    await paused();
  }

  /** Omits the target's path, which may contain confidential data. */
  #log(
    { name, url }: KnownNotification,
    { attempts, id, type }: DeliveryRecord,
    { answer, retryAt, succeeded }: Attempted,
  ): void {
    const { logger } = this.#options;
    const { error, status } = answer;
    const { origin } = new URL(url);
    const fields = { notification: name, delivery: id, attempt: attempts, origin, status, error };
    if (succeeded) logger.debug(fields, 'delivered a notification');
    else if (retryAt !== null) logger.debug(fields, 'a delivery failed, and will be tried again');
    else logger.warn({ ...fields, type }, 'gave up a delivery');
  }
}

/** Target URLs often contain tokens, which must not appear in logs and answers. */
function withoutPathOf(url: string): (text: string) => string {
  const { origin, pathname } = new URL(url);
  return (text) => text.replaceAll(`${origin}${pathname}`, origin);
}

export function secretPlace(name: string): string {
  return `notification/${name}`;
}

function shownBody(body: Json): string | null {
  if (body === null) return null;
  return cut(typeof body === 'string' ? body : writeJson(body), SHOWN_BODY_MAX);
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}
