import { describe, expect, it } from 'vitest';
import {
  readTraceHeaders,
  readTraceparent,
  readTracestate,
  spanIdOf,
  writeTraceHeaders,
  writeTraceparent,
} from '../../src/tracing/trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('the header traceparent', () => {
  it('is read as it was written', () => {
    for (const sampled of [true, false]) {
      const context = { traceId: TRACE, spanId: SPAN, sampled };
      expect(readTraceparent(writeTraceparent(context))).toEqual(context);
    }
  });

  it('accepts a later version with more parts, and other flags', () => {
    const expected = { traceId: TRACE, spanId: SPAN, sampled: true, random: true };
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-03-more`)).toEqual(expected);
  });

  it.each(['00', '01', '02', '03'])('keeps the flags %s', (flags) => {
    const text = `00-${TRACE}-${SPAN}-${flags}`;
    const context = readTraceparent(text);
    expect(context === null ? null : writeTraceparent(context)).toBe(text);
  });

  it('passes on only the flags that are known', () => {
    const context = readTraceparent(`00-${TRACE}-${SPAN}-ff`);
    expect(context === null ? null : writeTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-03`);
  });

  it.each([
    undefined,
    '',
    'garbage',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-0g`,
  ])('is ignored if it is %s', (text) => {
    expect(readTraceparent(text)).toBeNull();
  });

  it('has ids that follow from the content of the span', () => {
    expect(spanIdOf('step', 'a', 1)).toBe(spanIdOf('step', 'a', 1));
    const others = [spanIdOf('step', 'a', 1), spanIdOf('step', 'a', 2), spanIdOf('held', 'a', 1)];
    expect(new Set([...others, spanIdOf('step', 'a1')]).size).toBe(4);
    for (const id of others) expect(id).toMatch(/^[\da-f]{16}$/);
  });
});

describe('the header tracestate', () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;

  it('is passed on with a valid traceparent only', () => {
    const context = readTraceHeaders({ traceparent, tracestate: 'foo=1,bar=2' });
    expect(context === null ? null : writeTraceHeaders(context)).toEqual({
      traceparent,
      tracestate: 'foo=1,bar=2',
    });
    expect(readTraceHeaders({ traceparent: 'x', tracestate: 'foo=1' })).toBeNull();
    expect(readTraceHeaders({ tracestate: 'foo=1' })).toBeNull();
  });

  it.each([
    ['foo=1', 'foo=1'],
    // Node joins repeated fields.
    ['foo=1, bar=2', 'foo=1,bar=2'],
    [' \t foo=1 \t , \t bar=2,,', 'foo=1,bar=2'],
    ['foo=1,foo=2', 'foo=1,foo=2'],
    ['a@b@=v w', 'a@b@=v w'],
    ['0k=!"#$~', '0k=!"#$~'],
    [`${'z'.repeat(256)}=${'v'.repeat(256)}`, `${'z'.repeat(256)}=${'v'.repeat(256)}`],
  ])('is read: %j', (text, expected) => {
    expect(readTracestate(text)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    ' , ',
    'foo',
    'foo=',
    'foo =1',
    'FOO=1',
    'foo.bar=1',
    '@foo=1',
    '=1',
    'foo=a=b',
    'foo=\u0001',
    'foo=ü',
    `${'z'.repeat(257)}=1`,
    `a=${'v'.repeat(257)}`,
    'foo=1,bar',
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(','),
  ])('is ignored if it is %j', (text) => {
    expect(readTracestate(text)).toBeNull();
  });

  it('loses long members first, then the last ones, if it is longer than 1,024 characters', () => {
    const member = (name: string, length: number) => `${name}=${'v'.repeat(length - 2)}`;
    const short = Array.from('abcdefghij').map((name) => member(name, 120));
    const kept = readTracestate([member('x', 200), ...short].join(','));
    expect(kept).toBe(short.slice(0, 8).join(','));
    expect(readTracestate([member('x', 200), ...short.slice(0, 6)].join(','))).toContain('x=');
  });
});
