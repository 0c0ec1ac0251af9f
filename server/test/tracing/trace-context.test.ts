import { describe, expect, it } from 'vitest';
import { readTraceparent, spanIdOf, writeTraceparent } from '../../src/tracing/trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('the header traceparent', () => {
  it('is read as it was written', () => {
    for (const sampled of [true, false]) {
      const context = { traceId: TRACE, spanId: SPAN, sampled };
      expect(readTraceparent(writeTraceparent(context))).toEqual(context);
    }
  });

  it('may have a later version with more parts, and other flags', () => {
    const expected = { traceId: TRACE, spanId: SPAN, sampled: true };
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-03-more`)).toEqual(expected);
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

  it('has ids that follow from what the span shows', () => {
    expect(spanIdOf('step', 'a', 1)).toBe(spanIdOf('step', 'a', 1));
    const others = [spanIdOf('step', 'a', 1), spanIdOf('step', 'a', 2), spanIdOf('held', 'a', 1)];
    expect(new Set([...others, spanIdOf('step', 'a1')]).size).toBe(4);
    for (const id of others) expect(id).toMatch(/^[\da-f]{16}$/);
  });
});
