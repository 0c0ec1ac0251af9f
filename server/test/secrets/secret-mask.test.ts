/** Values of secrets are hidden in every form in which they usually come back. */
import { describe, expect, it } from 'vitest';
import { SecretMask } from '../../src/secrets/secret-mask.js';

const VALUE = 'p@ss wörd/47"+x';

function maskWith(values: Readonly<Record<string, string>>): SecretMask {
  const mask = new SecretMask();
  for (const [name, value] of Object.entries(values)) mask.add(name, value);
  return mask;
}

describe('a mask', () => {
  it.each([
    ['as it is', VALUE],
    ['in a URL', encodeURIComponent(VALUE)],
    ['in a form', new URLSearchParams({ v: VALUE }).toString().slice(2)],
    ['in JSON', JSON.stringify(VALUE).slice(1, -1)],
    ['in hexadecimal', Buffer.from(VALUE).toString('hex')],
  ])('hides a value %s', (_form, text) => {
    expect(maskWith({ A: VALUE }).text(`before ${text} after`)).toBe('before ***A*** after');
  });

  it.each([0, 1, 2, 3, 4, 5])('hides a value in Base64 after %i other bytes', (count) => {
    const text = Buffer.from(`${'u'.repeat(count)}${VALUE}tail`).toString('base64');
    const masked = maskWith({ A: VALUE }).text(text);
    const left = Buffer.from(masked.replace('***A***', ''), 'base64').toString('latin1');
    expect(masked).toContain('***A***');
    for (let at = 0; at + 3 <= VALUE.length; at += 1) {
      expect(left).not.toContain(VALUE.slice(at, at + 3));
    }
  });

  it('hides the part of a value that a cut text ends with', () => {
    const mask = maskWith({ A: 'abcdefghijklmnop' });
    expect(mask.text('it said abcdefghij')).toBe('it said ***A***');
    expect(mask.text('it said abcdefghij… in step b')).toBe('it said ***A***… in step b');
    expect(mask.text('it said abcdefghij, and more')).toBe('it said abcdefghij, and more');
  });

  it('leaves values of less than 6 characters, and changes nothing else', () => {
    const mask = maskWith({ A: 'short', B: 'longer' });
    expect(mask.text('short and longer')).toBe('short and ***B***');
    const value = { a: [1, 'text'], b: null };
    expect(mask.value(value)).toBe(value);
  });

  it('hides values in keys, and values that a secret had before', () => {
    const mask = maskWith({ A: 'first-value' });
    mask.add('A', 'second-value');
    expect(mask.value({ 'first-value': ['x second-value'] })).toEqual({ '***A***': ['x ***A***'] });
  });

  it('hides lines of a value, as tracebacks show them, and numbers', () => {
    const key = '-----BEGIN-----\nline-of-a-private-key\nshort\n';
    expect(maskWith({ A: key }).text('ValueError: line-of-a-private-key')).toBe(
      'ValueError: ***A***',
    );
    expect(maskWith({ A: '12345678' }).value([12_345_678, 1])).toEqual(['***A***', 1]);
  });

  it('takes hardly longer with hundreds of secrets', () => {
    const text = 'the quick brown fox jumps over '.repeat(20_000);
    const [few = 0, many = 0] = [1, 300].map((count) => {
      const names = Array.from({ length: count }, (_, n) => [`N${n}`, `common-start-${n}-value`]);
      const mask = maskWith(Object.fromEntries(names) as Record<string, string>);
      const times = [1, 2, 3, 4, 5].map(() => {
        const startedAt = performance.now();
        expect(mask.text(text)).toBe(text);
        return performance.now() - startedAt;
      });
      return Math.min(...times);
    });
    expect(many / few).toBeLessThan(20);
  });
});
