/** Results of activities: the stored part is enough to send the same message again. */
import { describe, expect, it } from 'vitest';
import { SecretMasker } from '../../../src/runtime/secrets/secret-masker.js';
import { NO_SECRETS } from '../../../src/secrets/secret-source.js';
import { resentMessage, storedResult } from '../../../src/runtime/activities/activity-results.js';

const ID = 'w1/7/1';
const MASKER = new SecretMasker(NO_SECRETS);

describe('the result of an activity', () => {
  it.each([
    { succeeded: true, data: { paid: true } },
    { succeeded: true, data: null, retryable: false },
    { succeeded: false, data: 'no funds' },
    { succeeded: false, data: 'no funds', retryable: true },
    { succeeded: false, data: 'no funds', retryable: false },
    { succeeded: false, data: null, retryable: false },
    { succeeded: false, data: null, released: true },
  ] as const)('counts as the same if it is repeated: %j', (reported) => {
    const { message, result } = storedResult(ID, reported, MASKER);
    expect(resentMessage(ID, result)).toEqual(message);
    const isFinal = !reported.succeeded && 'retryable' in reported && !reported.retryable;
    const sent = JSON.parse(message.body) as { retryable?: boolean; released?: true };
    expect(sent.released).toBe('released' in reported ? true : undefined);
    expect(sent.retryable).toBe(isFinal ? false : undefined);
  });

  it('counts as a different result with another flag', () => {
    const hash = (retryable: boolean) =>
      storedResult(ID, { succeeded: false, data: 'no', retryable }, MASKER).result.hash;
    expect(hash(false)).not.toBe(hash(true));
    expect(hash(true)).toBe(storedResult(ID, { succeeded: false, data: 'no' }, MASKER).result.hash);
  });
});
