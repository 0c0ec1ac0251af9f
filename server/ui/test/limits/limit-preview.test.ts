/** Goal: the preview of a change says exactly whom it lets go. */
import type { Limit } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { previewOf } from '../../src/pages/limits/limit-preview.js';
import { fieldsOf, requestOf, settingsInWords } from '../../src/pages/limits/limit-settings.js';

const TIME = '2026-05-04T10:20:30.123Z';
const key = (name: string | null, held: number, waiting: number) => ({
  key: name,
  held,
  waiting,
  oldestWaitSince: waiting === 0 ? null : TIME,
});

function limit(keys: Limit['keys'], settings: Partial<Limit> = {}): Limit {
  return {
    name: 'api',
    description: null,
    concurrency: 5,
    rate: null,
    held: keys.reduce((sum, { held }) => sum + held, 0),
    waiting: keys.reduce((sum, { waiting }) => sum + waiting, 0),
    keys,
    createdBy: 'ada',
    updatedAt: TIME,
    ...settings,
  };
}

describe('the preview of a change', () => {
  test('counts for each key the steps that find a free slot', () => {
    const before = limit([key('a', 5, 9), key('b', 5, 1), key(null, 2, 0)]);
    expect(previewOf(before, { concurrency: 8 })).toMatchObject({
      released: [
        { key: 'a', count: 3 },
        { key: 'b', count: 1 },
      ],
      exceeded: [],
      stillWaiting: 6,
    });
  });

  test('lets all waiting steps go when nothing limits how many work at a time', () => {
    const before = limit([key(null, 5, 7)]);
    const rate = { count: 10, per: '1s' };
    expect(previewOf(before, { rate })).toMatchObject({
      released: [{ key: null, count: 7 }],
      stillWaiting: 0,
      hasRate: true,
      changesRate: true,
    });
  });

  test('says what is held beyond a lower concurrency', () => {
    const before = limit([key('a', 5, 2), key('b', 3, 0)]);
    expect(previewOf(before, { concurrency: 3 })).toMatchObject({
      released: [],
      exceeded: [{ key: 'a', count: 2 }],
      stillWaiting: 2,
    });
  });

  test('counts no steps that wait for the rate although slots are free', () => {
    const rate = { count: 60, per: '1m', burst: 1 };
    const before = limit([key(null, 1, 4)], { rate });
    expect(previewOf(before, { concurrency: 10, rate: { ...rate, per: '1m' } })).toMatchObject({
      released: [],
      stillWaiting: 4,
      changesRate: false,
    });
  });
});

describe('the form of a limit', () => {
  test('keeps the settings that it was opened with', () => {
    const rate = { count: 100, per: 90, burst: 10 };
    const settings = { concurrency: 1000, rate, description: 'of all' };
    const written = limit([], settings);
    expect(requestOf(fieldsOf(written))).toEqual({ ...settings, rate: { ...rate, per: '90s' } });
    expect(settingsInWords(written)).toBe('1,000 at a time, 100 per 90s (10 at once)');
    expect(previewOf(written, requestOf(fieldsOf(written)) ?? {}).changesRate).toBe(false);
  });

  test.each([{ concurrency: '' }, { concurrency: '1.5' }, { concurrency: '-1' }, { count: 'x' }])(
    'sends nothing for %o',
    (change) => {
      expect(requestOf({ ...fieldsOf(limit([])), ...change })).toBeNull();
    },
  );
});
