import { describe, expect, it } from 'vitest';
import { byScheme } from '../../src/base/by-scheme.js';

const CHOICES = [{ schemes: ['one', 'one+srv'] }, { schemes: ['two'] }];

describe('byScheme', () => {
  it.each([
    ['one://host', 0],
    ['one+srv://host/path', 0],
    ['two://user@host', 1],
  ])('finds the entry for %s', (address, index) => {
    expect(byScheme(CHOICES, address)).toBe(CHOICES[index]);
  });

  it.each(['three://host', 'onehost', 'x+two://host', ''])('rejects "%s"', (address) => {
    expect(() => byScheme(CHOICES, address)).toThrow('The scheme of the address is unknown');
  });
});
