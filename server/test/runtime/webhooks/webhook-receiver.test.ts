/**
 * WI7: neither the time nor the kind of an answer tells which webhooks exist.
 * Method: a receiver with a clock that stands still, asked for webhooks of every scheme and for one that does not exist.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { systemIds } from '../../../src/base/ids.js';
import { createPrivateSeal, type Seal } from '../../../src/base/seal.js';
import type { Logger, LogFields } from '../../../src/base/logger.js';
import { secretPlace, writeWebhook } from '../../../src/runtime/webhooks/webhook-codec.js';
import { WebhookReceiver } from '../../../src/runtime/webhooks/webhook-receiver.js';
import type { WebhookScheme } from '../../../src/runtime/webhooks/webhook-types.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import { ManualClock } from '../support/manual-clock.js';

const SCHEMES: readonly WebhookScheme[] = [
  { scheme: 'github' },
  { scheme: 'standard' },
  {
    scheme: 'hmac',
    header: 'X-Sig',
    algorithm: 'sha512',
    encoding: 'hex',
    prefix: '',
    idHeader: null,
  },
];
const never = (): never => {
  throw new Error('a rejected call has no effect');
};

let store: Store;
let seal: Seal;
let warnings: LogFields[];
const logger = {
  info: () => undefined,
  warn: (fields: LogFields) => void warnings.push(fields),
  error: () => undefined,
} as unknown as Logger;

beforeEach(() => {
  store = createMemoryStore();
  seal = createPrivateSeal();
  warnings = [];
});

async function put(signing: WebhookScheme, secret: string): Promise<string> {
  const name = signing.scheme;
  const body = writeWebhook({
    signing,
    effect: { publish: { name: "'a'", key: `'${'x'.repeat(10_000)}'` } },
    sealedSecret: seal.seal(secret, secretPlace(name)),
    changedBy: '',
    changedAt: 0,
  });
  await store.saveResource({ kind: 'webhook', name, revision: 1, expiresAt: null, body }, null);
  return name;
}

function receiverWith(others: Partial<Seal> = {}): {
  clock: ManualClock;
  call: (name: string) => Promise<unknown>;
} {
  const clock = new ManualClock();
  const receiver = new WebhookReceiver({
    store,
    clock,
    logger,
    seal: { ...seal, ...others },
    scripts: { evaluate: never },
    metrics: { webhookCalled: () => undefined },
    publisher: { publish: never },
    starts: { start: never },
    webhookCallsPerMinuteMax: 100,
  });
  const bytes = Buffer.alloc(100_000);
  const call = (name: string): Promise<unknown> =>
    receiver.receive(name, { bytes, headers: {}, query: {}, body: never });
  return { clock, call };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

describe('a rejected call', () => {
  it('is answered at the same time for each scheme, and if there is no webhook', async () => {
    const names = ['none'];
    for (const signing of SCHEMES) {
      names.push(await put(signing, `whsec_${systemIds.newSecret()}`));
    }
    const { call, clock } = receiverWith();
    const answers: string[] = [];
    const done = names.map((name) =>
      call(name).catch((error: unknown) =>
        answers.push(error instanceof AppError ? error.message : String(error)),
      ),
    );
    await turns();
    clock.advance(99);
    await turns();
    expect(answers).toEqual([]);
    clock.advance(1);
    await turns();
    await Promise.all(done);
    expect(answers).toHaveLength(4);
    expect(new Set(answers).size).toBe(1);
  });

  it('says the same for all names while the key is missing', async () => {
    const name = await put({ scheme: 'github' }, 'a secret of enough letters');
    const unavailable = (): never => {
      throw new AppError('sealing_key_unavailable', 'The key file is missing');
    };
    const { call } = receiverWith({ open: unavailable, problem: () => 'The key file is missing' });
    for (const each of [name, 'none']) {
      await expect(call(each)).rejects.toMatchObject({ code: 'sealing_key_unavailable' });
    }
  });
});

it('warns once of a short secret from an earlier version, and continues with it', async () => {
  const name = await put({ scheme: 'github' }, 'a');
  const { call, clock } = receiverWith();
  for (let n = 0; n < 2; n += 1) {
    const rejected = expect(call(name)).rejects.toMatchObject({ code: 'unauthenticated' });
    await turns();
    clock.advance(100);
    await turns();
    await rejected;
  }
  expect(warnings).toEqual([{ webhook: 'github' }]);
});
