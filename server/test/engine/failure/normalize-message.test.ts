import { expect, it } from 'vitest';
import {
  truncateText,
  normalizeMessage,
  NORMALIZED_MAX,
  oneLine,
} from '../../../src/engine/failure/normalize-message.js';

it.each([
  ['', ''],
  ['connection refused', 'connection refused'],
  // Numbers.
  ['order 4711 has 3 items', 'order # has # items'],
  ['the total is -12.50 EUR, limit 1,000.00', 'the total is # EUR, limit #'],
  ['waited 12:30:05', 'waited #'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED #'],
  ['order-4711 is unknown', 'order-# is unknown'],
  ['item C17', 'item C#'],
  ['line 12, column 7', 'line #, column #'],
  // Ids.
  ['run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended', 'run <id> ended'],
  ['run 3F2504E0-4F89-11D3-9A0C-0305E82C3301 ended', 'run <id> ended'],
  ['run 01hx5v3x9t6k2m4n8p0q ended', 'run <id> ended'],
  ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8', 'commit <id>'],
  ['at 0x7ffee4c1', 'at <id>'],
  ['customer anna.smith+test@mail.example.com is blocked', 'customer <email> is blocked'],
  // Times.
  ['since 2026-05-04T10:20:30.123Z', 'since <time>'],
  ['since 2026-05-04 10:20:30+02:00', 'since <time>'],
  ['due 2026-05-04', 'due <time>'],
  // What tells causes apart stays.
  ["KeyError: 'total'", "KeyError: 'total'"],
  [
    'POST http://localhost:8080/pay/17 answered 503: busy',
    'POST http://localhost:8080/pay/# answered 503: busy',
  ],
  [
    'POST http://localhost:8080/pay/18 answered 404: gone',
    'POST http://localhost:8080/pay/# answered 404: gone',
  ],
  ['POST http://127.0.0.1:7310 answered 401', 'POST http://127.0.0.1:7310 answered 401'],
  ['GET http://[::1]:7310/a/7: no', 'GET http://[::1]:7310/a/#: no'],
  ['GET https://h1.test/charges: refused', 'GET https://h1.test/charges: refused'],
  ['GET https://h1.test/v2/C17/oauth2.', 'GET https://h1.test/v#/#/oauth#.'],
  ['(https://h.test/caf%C3%A9, x)', '(https://h.test/caf%C3%A9, x)'],
  ['see https://a:b1@h.test/u/a@b.test?id=17#x', 'see https://h.test/u/#?id=##x'],
  ['at https://h.test/9fceb02d-0ae5-98e9-95dc-970b74767f19/x', 'at https://h.test/#/x'],
  ['HTTP/1.1 502 Bad Gateway', 'HTTP/1.1 502 Bad Gateway'],
  ['status code 429', 'status code 429'],
  ['code: 40001', 'code: 40001'],
  ['code: 4000112', 'code: #'],
  ['no step body named processPayment2', 'no step body named processPayment#'],
  ['deadbeefcafe', 'deadbeefcafe'],
  // One line.
  ['first\r\n\tsecond\u0000\u2028third  ', 'first second third'],
  ['Straße 12, 東京 5', 'Straße #, 東京 #'],
])('normalizes %j to %j', (message, normalized) => {
  expect(normalizeMessage(message)).toBe(normalized);
  expect(normalizeMessage(normalized), 'again').toBe(normalized);
});

it('bounds long messages, and never cuts a character into halves', () => {
  for (const text of ['x', '7', '😀', 'a1', "'", '\ud83d', '7.', '-7', '@a.b', 'answered 1']) {
    for (const padding of ['', 'a', 'ab']) {
      const normalized = normalizeMessage(padding + text.repeat(100_000));
      expect(normalized.length).toBeLessThanOrEqual(NORMALIZED_MAX);
      expect(normalized).not.toMatch(/\p{Surrogate}/u);
    }
  }
});

it('puts messages into the same group whatever the length of their numbers', () => {
  const messageOf = (id: number): string => `order ${id}: ${`item ${id} is missing; `.repeat(100)}`;
  const first = normalizeMessage(messageOf(1));
  expect(first).toMatch(/^order #: item # is missing; .*…$/);
  expect(normalizeMessage(messageOf(123_456_789))).toBe(first);
});

it('replaces lone surrogates, and cuts before a pair that does not fit', () => {
  expect(oneLine('a\ud83d')).toBe('a\ufffd');
  expect(truncateText('abc😀def', 5)).toBe('abc…');
  expect(truncateText('abc😀', 5)).toBe('abc😀');
});
