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

  const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
  const asciiJson = (text: string): string =>
    inJson(text).replaceAll(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const inHtml = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');

  it.each([
    ['in JSON in JSON', inJson(inJson(VALUE))],
    ['in JSON in JSON in JSON', inJson(inJson(inJson(VALUE)))],
    ['in ASCII JSON', asciiJson(VALUE)],
    ['in ASCII JSON in JSON', inJson(asciiJson(VALUE))],
    ['in JSON that escapes slashes', inJson(VALUE).replaceAll('/', '\\/')],
    ['in JSON in a URL', encodeURIComponent(inJson(VALUE))],
    ['in HTML', inHtml(VALUE)],
    ['in JSON in HTML', inHtml(inJson(VALUE))],
    ['in Python bytes', 'p@ss w\\xc3\\xb6rd/47"+x'],
    ['in a Python text with other letters', 'p@ss w\\xf6rd/47\\"+x'],
  ])('hides a value %s', (_form, text) => {
    expect(maskWith({ A: VALUE }).text(`before ${text} after`)).toBe('before ***A*** after');
  });

  it.each([
    ['Token7', 'https://Token7.example/'],
    ['S3cretHost-15ch', 'https://S3cretHost-15ch/'],
    ['Geheim-Ünd', 'https://Geheim-Ünd.example/'],
    ['GEHEIM.Straße', 'https://GEHEIM.Straße:8443/x'],
    ['Ｔｏｋｅｎ７', 'https://Ｔｏｋｅｎ７/'],
    ['0x7f00ab01', 'https://0x7f00ab01/'],
  ])('hides %s where it is the host of a URL', (value, url) => {
    const mask = maskWith({ A: value });
    const { host, href } = new URL(url);
    for (const text of [href, `getaddrinfo ENOTFOUND ${host}`, encodeURIComponent(href)]) {
      expect(mask.text(text)).toContain('***A***');
    }
    const written = new URL(`http://${value}`).hostname;
    expect(mask.text(href)).not.toContain(written);
  });

  it('hides letters beyond 16 bits and long values in names of hosts', () => {
    expect(maskWith({ A: 'key 😀 of ours' }).text('a key \\U0001f600 of ours b')).toBe(
      'a ***A*** b',
    );
    expect(maskWith({ A: 'key 😀 of ours' }).text('a key \\ud83d\\ude00 of ours b')).toBe(
      'a ***A*** b',
    );
    expect(maskWith({ A: 'Qv71MarkedPlaceX' }).text('http://qv71markedplacex.example')).toBe(
      'http://***A***.example',
    );
  });

  it('leaves escapes that hide nothing as they are', () => {
    const mask = maskWith({ A: VALUE });
    for (const text of [
      '100% \\n of %zz',
      '\\',
      'a\\',
      '%c3',
      '&lt;p&gt; &#9999999; \\Uffffffff',
    ]) {
      expect(mask.text(text)).toBe(text);
    }
  });

  it('does not help to guess a value letter by letter (SK2)', () => {
    const mask = maskWith({ A: 'sk_live_abcdefghijklmnop' });
    for (const guess of ['sk_live_', 'sk_live_abcdefgh', 'sk_live_abcdefghijklmno']) {
      for (const text of [guess, `${guess}…`, `${guess}...`, `${guess}\nx`, `x${guess}"…`]) {
        expect(mask.text(text)).toBe(text);
      }
    }
  });

  it('says how long the part of a secret can be that a cut text ends with', () => {
    const key = '-----BEGIN-----\nline-of-a-private-key\nshort\n';
    const mask = maskWith({ A: 'a-long-value-of-a-secret', KEY: key });
    expect(mask.longestIn({ a: ['nothing', 12345678] })).toBe(0);
    const written = encodeURIComponent('ü'.repeat(10)).length;
    expect(maskWith({ A: 'ü'.repeat(10) }).longestIn('ü'.repeat(10))).toBeGreaterThanOrEqual(
      written,
    );
    expect(mask.longestIn(['x a-long-value-of-a-secret'])).toBeGreaterThanOrEqual(3 * 24);
    expect(mask.longestIn({ key })).toBeLessThan(200);
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
