import { describe, expect, it } from 'vitest';
import { ratioSpread } from './ratio-spread.ts';

describe('the spread of ratios', () => {
  it('returns the geometric mean, so that a ratio and its inverse cancel out', () => {
    expect(ratioSpread([2, 0.5, 4, 0.25])?.ratio).toBeCloseTo(1);
  });

  it('returns the 95 % interval of Student’s t distribution', () => {
    // The logarithms are -1, 0, 0, 0, 1: a standard error of 0.3162; t is 2.776 with four degrees of freedom.
    const spread = ratioSpread([Math.exp(-1), 1, 1, 1, Math.E]);
    expect(Math.log(spread?.factor ?? 0)).toBeCloseTo(0.3162 * 2.776, 1);
  });

  it('narrows with more pairs', () => {
    const pairs = [0.9, 1.1, 1, 0.95, 1.05];
    const few = ratioSpread(pairs)?.factor ?? 0;
    const many = ratioSpread([...pairs, ...pairs, ...pairs, ...pairs])?.factor ?? 0;
    expect(many - 1).toBeLessThan((few - 1) / 2);
  });

  it('claims nothing from a single pair or from none', () => {
    expect(ratioSpread([1.3])?.factor).toBe(Infinity);
    expect(ratioSpread([Number.NaN, 0])).toBeNull();
  });
});
