/**
 * Receives webhook calls: verifies them, recognizes repeated deliveries, and publishes an event or starts a run.
 *
 *  WI3 No part of a call is parsed, and nothing about the webhook is revealed, before the signature is verified.
 *  WI7 A rejection is answered a fixed time after the body was read. This hides the work done until then, such as reading a
 *      webhook and hashing with its algorithm, so callers can't measure which webhooks exist.
 *  WI4 A delivery with an id has one effect: the id of its event or run is derived from the webhook and the delivery, so a
 *      repeated call after a crash finds it. The record of its receipt is written afterwards.
 */
import {
  toEventKey,
  toName,
  toObject,
  toReference,
  type Conversion,
} from '../../engine/values/convert-input.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import { sleepUntil, type Clock } from '../../base/clock.js';
import { hashOf } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import { createPrivateSeal, type Seal } from '../../base/seal.js';
import { turnFor } from '../../base/slices.js';
import type { ScriptRuntime } from '../../scripts/script-runtime.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { Store } from '../../store/store.js';
import type { EventPublisher } from '../events/event-publisher.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import type { InstanceStarter } from '../operations/instance-starter.js';
import { DeliveryRates } from './delivery-rates.js';
import { challengeOf } from './webhook-challenge.js';
import { readWebhook, secretPlace, type StoredWebhook, writeWebhook } from './webhook-codec.js';
import { evaluateInputs } from './webhook-inputs.js';
import { webhookSecretProblem } from './webhook-secret.js';
import { deliveryIdOf, isSignatureValid } from './webhook-signature.js';
import type { ChallengeAnswer, IncomingDelivery, ReceivedDelivery } from './webhook-types.js';
import { traceHeadersOf, type TraceHeaders } from '../../tracing/trace-context.js';

/** How long a repeated delivery is recognized by the record of its receipt. */
const REMEMBERED_MS = 24 * 60 * 60_000;

/** Longer than the time to verify the largest body. */
const REJECTED_AFTER_MS = 100;

export interface WebhookReceiverOptions {
  readonly store: Pick<Store, 'getResource' | 'saveResource'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seal: Seal;
  readonly scripts: Pick<ScriptRuntime, 'evaluate'>;
  readonly metrics: Pick<RuntimeMetrics, 'webhookCalled'>;
  readonly publisher: Pick<EventPublisher, 'publish'>;
  readonly starts: Pick<InstanceStarter, 'start'>;
  /** Maximum number of valid calls of a webhook per minute on this node. */
  readonly webhookCallsPerMinuteMax: number;
}

const DECOY_PLACE = secretPlace('');

/**
 * A decoy for nonexistent webhooks: a call to one is verified like any other, so that the response time doesn't reveal which
 * names exist.
 */
function createDecoy(): { readonly record: ResourceRecord; readonly seal: Seal } {
  const seal = createPrivateSeal();
  const body = writeWebhook({
    signing: { scheme: 'github' },
    effect: { publish: { name: '', key: '' } },
    sealedSecret: seal.seal('the secret of no webhook', DECOY_PLACE),
    changedBy: '',
    changedAt: 0,
  });
  return { seal, record: { kind: 'webhook', name: '', revision: 1, expiresAt: null, body } };
}

export class WebhookReceiver {
  readonly #options: WebhookReceiverOptions;
  readonly #rates: DeliveryRates;
  readonly #decoy = createDecoy();
  /** Names of webhooks: at most as many as may be set up. */
  readonly #warned = new Set<string>();

  constructor(options: WebhookReceiverOptions) {
    this.#options = options;
    this.#rates = new DeliveryRates(options.clock, options.webhookCallsPerMinuteMax);
  }

  /**
   * @throws AppError `unauthenticated` if the signature or its time is wrong, or there is no such webhook; with a valid
   * signature `unreadable_body`, `invalid_data`, `too_many_requests`, and the errors of a start
   */
  async receive(
    name: string,
    delivery: IncomingDelivery,
  ): Promise<ChallengeAnswer | ReceivedDelivery> {
    const { clock, metrics, store } = this.#options;
    const began = clock.now();
    const found = await store.getResource('webhook', name);
    if (found === null) this.#assertSealable();
    const webhook = readWebhook(found ?? this.#decoy.record);
    const seal = found === null ? this.#decoy.seal : this.#options.seal;
    await turnFor(delivery.bytes.length);
    const isGenuine = this.#isGenuine(name, webhook, delivery, seal);
    if (found === null || !isGenuine) {
      await sleepUntil(clock, began + REJECTED_AFTER_MS);
      metrics.webhookCalled('rejected');
      throw new AppError('unauthenticated', 'The signature of this call is not valid');
    }
    this.#rates.count(name);
    try {
      const body = await delivery.body();
      const challenge = challengeOf(webhook, body);
      if (challenge !== null) {
        metrics.webhookCalled('accepted');
        return { challenge };
      }
      const received = await this.#accept(name, webhook, delivery, body);
      metrics.webhookCalled(received.isRepeated ? 'repeated' : 'accepted');
      return { id: received.id };
    } catch (error) {
      metrics.webhookCalled('failed');
      throw error;
    }
  }

  /** Without the key, no webhook can be verified, and nonexistent ones respond like the others. */
  #assertSealable(): void {
    const problem = this.#options.seal.problem();
    if (problem !== null) throw new AppError('sealing_key_unavailable', problem);
  }

  #isGenuine(
    name: string,
    webhook: StoredWebhook,
    delivery: IncomingDelivery,
    seal: Pick<Seal, 'open'>,
  ): boolean {
    const { clock, logger } = this.#options;
    let secret: string;
    try {
      const place = seal === this.#decoy.seal ? DECOY_PLACE : secretPlace(name);
      secret = seal.open(webhook.sealedSecret, place);
    } catch (error) {
      logger.error({ webhook: name, err: error }, 'the secret of a webhook cannot be read');
      throw error;
    }
    this.#warnIfWeak(name, webhook, secret);
    return isSignatureValid(webhook.signing, secret, delivery, clock.now());
  }

  /** An earlier version accepted any secret. Weak ones stay valid, so that an upgrade loses no deliveries. */
  #warnIfWeak(name: string, { signing }: StoredWebhook, secret: string): void {
    const problem = webhookSecretProblem(signing.scheme, secret);
    if (problem === null || this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#options.logger.warn(
      { webhook: name },
      `the secret of the webhook ${name} can be guessed: it ${problem}. Set a new one, here and at the sender`,
    );
  }

  async #accept(
    name: string,
    webhook: StoredWebhook,
    delivery: IncomingDelivery,
    body: Json,
  ): Promise<ReceivedDelivery & { readonly isRepeated: boolean }> {
    const { clock, store } = this.#options;
    const deliveryId = deliveryIdOf(webhook.signing, delivery.headers, body);
    const key = deliveryId === null ? null : hashOf('webhook', name, deliveryId);
    const before = key === null ? null : await store.getResource('webhook-delivery', key);
    if (before !== null) return { id: before.body, isRepeated: true };
    const hook = { body, headers: { ...delivery.headers }, query: queryOf(delivery) };
    const id = await this.#carryOut(name, webhook, hook, { key, ...traceHeadersOf(delivery) });
    if (key !== null) {
      const expiresAt = clock.now() + REMEMBERED_MS;
      const note = { name: key, revision: 1, expiresAt, body: id };
      await store.saveResource({ kind: 'webhook-delivery', ...note }, null);
    }
    return { id, isRepeated: false };
  }

  async #carryOut(
    name: string,
    { effect }: StoredWebhook,
    hook: JsonObject,
    { key, ...trace }: TraceHeaders & { readonly key: string | null },
  ): Promise<string> {
    const { publisher, scripts, starts } = this.#options;
    const values = await evaluateInputs(effect, hook, scripts);
    const idempotency = key === null ? null : { key: `webhook ${key}`, requestHash: key };
    if ('publish' in effect) {
      const published = await publisher.publish({
        name: valueOf('publish.name', toName, values['name']),
        key: valueOf('publish.key', toEventKey, values['key']),
        data: values['data'] ?? null,
        idempotency,
        ...trace,
      });
      return published.id;
    }
    const data = valueOf('start.data', toObject, values['data']);
    const reference = valueOf('start.reference', toReference, values['reference']);
    const { conflictScope, definitionId, onConflict } = effect.start;
    const { instance } = await starts.start({
      definitionId,
      data,
      reference,
      idempotency,
      actor: `webhook ${name}`,
      ...(onConflict !== undefined && { onConflict }),
      ...(conflictScope !== undefined && { conflictScope }),
      ...trace,
    });
    return instance.id;
  }
}

function queryOf({ query }: IncomingDelivery): JsonObject {
  const copied = Object.entries(query).map(([name, value]): [string, Json] => [
    name,
    typeof value === 'string' ? value : [...value],
  ]);
  return Object.fromEntries(copied);
}

/** @throws AppError `invalid_data` that names the member of the webhook */
function valueOf<Value>(
  member: string,
  convert: (value: Json) => Conversion<Value>,
  value: Json = null,
): Value {
  const converted = convert(value);
  if (converted.ok) return converted.value;
  throw new AppError('invalid_data', `${member} of the webhook: ${converted.message}`);
}
