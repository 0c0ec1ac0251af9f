/** Goal: text survives databases that store UTF-8, and ids sort the same everywhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packText, unpackText } from '../../src/store/mongo/packed-text.js';
import { decodeText, encodeText } from '../../src/store/text-codec.js';
import { compareText } from '../../src/store/text-order.js';
import { propertyRuns } from '../support/property-runs.js';

/** Any sequence of UTF-16 units, with many lone surrogates and markers among them. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7fe, max: 0xe001 }), fc.nat(3)), {
    maxLength: 12,
  })
  .map((units) => String.fromCharCode(...units));
const wellFormedText = fc.string({ unit: 'grapheme' });

describe('encodeText', () => {
  it('produces text that UTF-8 preserves, and decodeText reverses it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = Buffer.from(encodeText(text), 'utf8').toString('utf8');
        expect(decodeText(stored)).toBe(text);
      }),
      propertyRuns(2000),
    );
  });

  it('does not change ordinary text', () => {
    fc.assert(
      fc.property(wellFormedText, (text) => {
        fc.pre(!text.startsWith('\u0001'));
        expect(encodeText(text)).toBe(text);
      }),
    );
  });

  it('keeps different texts different', () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(encodeText(left) === encodeText(right)).toBe(left === right);
      }),
    );
  });
});

describe('packText', () => {
  it.each([0, 8191, 8192, 8193, 100_000])('preserves a text of %i characters', (length) => {
    const text = '\ud800"é'.repeat(length).slice(0, length);
    expect(unpackText(packText(text)) === text).toBe(true);
  });
});

describe('compareText', () => {
  it('sorts by the bytes of UTF-8', () => {
    const wild = fc.array(fc.constantFrom('a', 'b', '\uffff', '\u{10000}', '\u{1f600}', '\ue000'));
    fc.assert(
      fc.property(wild, wild, (left, right) => {
        const [a, b] = [left.join(''), right.join('')];
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});
