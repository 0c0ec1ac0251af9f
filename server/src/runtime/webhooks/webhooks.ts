/** Webhooks for clients: set up, list and remove. */
import { AppError } from '../../base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Seal } from '../../base/seal.js';
import type { ScriptRuntime } from '../../scripts/script-runtime.js';
import type { ResourceRecord } from '../../store/records/resources.js';
import type { Store } from '../../store/store.js';
import { readWebhook, secretPlace, viewWebhook, writeWebhook } from './webhook-codec.js';
import { checkInputs } from './webhook-inputs.js';
import { webhookSecretProblem } from './webhook-secret.js';
import type { WebhookRequest, WebhookView } from './webhook-types.js';

export interface WebhooksOptions {
  readonly store: Pick<Store, 'getResource' | 'listResources' | 'removeResource' | 'saveResource'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seal: Seal;
  readonly scripts: Pick<ScriptRuntime, 'checkSyntax' | 'examine'>;
}

const WEBHOOKS_MAX = 1000;
const ATTEMPTS_MAX = 20;

export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Sets up a webhook, or replaces it. @throws AppError `invalid_request`, `python_unavailable` */
  async put(name: string, request: WebhookRequest): Promise<WebhookView> {
    const { clock, logger, scripts, store } = this.#options;
    await checkInputs(request.effect, scripts);
    const { actor, effect, signing } = request;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const known = await store.getResource('webhook', name);
      if (known === null) await this.#assertRoom();
      const sealedSecret = this.#sealedSecret(name, request, known);
      const changed = { changedBy: actor, changedAt: clock.now() };
      const webhook = { signing, effect, sealedSecret, ...changed };
      const record: ResourceRecord = {
        kind: 'webhook',
        name,
        revision: (known?.revision ?? 0) + 1,
        expiresAt: null,
        body: writeWebhook(webhook),
      };
      if (!(await store.saveResource(record, known?.revision ?? null))) continue;
      logger.info({ webhook: name, actor }, 'set up a webhook');
      return viewWebhook(name, webhook);
    }
    throw new AppError('overloaded', `The webhook '${name}' is being changed by others; try again`);
  }

  /** @throws AppError `webhook_not_found` */
  async get(name: string): Promise<WebhookView> {
    const found = await this.#options.store.getResource('webhook', name);
    if (found === null) throw notFound(name);
    return viewWebhook(name, readWebhook(found));
  }

  /** In order of name. */
  async list(): Promise<readonly WebhookView[]> {
    const found = await this.#options.store.listResources('webhook', null, WEBHOOKS_MAX);
    return found.map((record) => viewWebhook(record.name, readWebhook(record)));
  }

  /** @throws AppError `webhook_not_found` */
  async remove(name: string, actor: string): Promise<void> {
    const { logger, store } = this.#options;
    if (!(await store.removeResource('webhook', name))) throw notFound(name);
    logger.info({ webhook: name, actor }, 'removed a webhook');
  }

  async #assertRoom(): Promise<void> {
    const all = await this.#options.store.listResources('webhook', null, WEBHOOKS_MAX);
    if (all.length < WEBHOOKS_MAX) return;
    const message = `There are ${WEBHOOKS_MAX} webhooks, the maximum: remove one first`;
    throw new AppError('invalid_request', message);
  }

  #sealedSecret(
    name: string,
    { secret, signing }: WebhookRequest,
    known: ResourceRecord | null,
  ): string {
    const old = known === null ? null : readWebhook(known);
    if (secret === null) {
      if (old === null) throw invalid('secret is missing: a new webhook needs one');
      if (old.signing.scheme === signing.scheme) return old.sealedSecret;
      throw invalid(`secret is missing: the one that it has belongs to ${old.signing.scheme}`);
    }
    const problem = webhookSecretProblem(signing.scheme, secret);
    if (problem !== null) throw invalid(`secret ${problem}`);
    return this.#options.seal.seal(secret, secretPlace(name));
  }
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}

function notFound(name: string): AppError {
  return new AppError('webhook_not_found', `There is no webhook with the name '${name}'`);
}
