/**
 * Goal: slow schemas delay others for a short time only, and what was accepted when it was posted can be used (VL1 to VL3).
 * Method: a schema that never ends occupies a lane; others must be answered by another one. The limits of the lanes that
 * answer are longer than any pause of a busy machine, so no result depends on the speed of the machine.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readJson } from '../../src/engine/values/exact-json.js';
import { ValidationPool, type ValidationLimits } from '../../src/schemas/validation-pool.js';
import { CompiledSchema } from '../../src/schemas/validation/compiled-schema.js';
import { answer } from '../../src/schemas/validation/validate.js';

const TEST_MS = 60_000;
const ENDLESS_MS = 10 * TEST_MS;
const NO_LIMIT = { compilationMs: ENDLESS_MS, validationMs: ENDLESS_MS };
const UNLIMITED: ValidationLimits = {
  checkingMs: ENDLESS_MS,
  quick: NO_LIMIT,
  large: NO_LIMIT,
  slow: NO_LIMIT,
  stuckMs: 2 * ENDLESS_MS,
};

/** There are 2^60 paths through it, but only for data with a member `a`. */
const ENDLESS = bomb(60);
const ENDLESS_DATA = '{"a": 1}';
/** Longer than what is expected to be quick. */
const LONG_ENDLESS_DATA = JSON.stringify({ a: 1, long: 'x'.repeat(300_000) });
const QUICK = '{"required": ["a"]}';
/** Compiling it takes much longer than 10 ms, validating with it does not. */
const LARGE = manyProperties(600);

function bomb(levels: number): string {
  const $defs: Record<string, unknown> = { [`n${levels}`]: { required: ['no'] } };
  for (let level = 0; level < levels; level += 1) {
    const $ref = `#/$defs/n${level + 1}`;
    $defs[`n${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return JSON.stringify({ properties: { a: { $ref: '#/$defs/n0' } }, $defs });
}

function manyProperties(count: number): string {
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  // Patterns differ, so that each is compiled.
  const properties = names.map((name) => [name, { pattern: `^(?:${name}){1,90}$` }] as const);
  return JSON.stringify({ properties: Object.fromEntries(properties) });
}

describe('ValidationLanes', () => {
  afterEach(() => void vi.restoreAllMocks());

  it(
    'moves a slow schema out of the way of others, and tries again after a while',
    async () => {
      const quick = { compilationMs: ENDLESS_MS, validationMs: 6000 };
      const lanes = new ValidationPool({ ...UNLIMITED, quick });
      const endless = lanes.validate(ENDLESS, ENDLESS_DATA);
      expect(await lanes.validate(QUICK, '{"a": 1}')).toMatchObject({ kind: 'done' });
      const realNow = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 10 * 60 * 1000);
      // The lane of slow ones is still occupied, so this one is answered only if it is quick again.
      expect(await lanes.validate(ENDLESS, '{}')).toMatchObject({ kind: 'done' });
      await lanes.stop();
      expect(await endless).toMatchObject({ kind: 'out-of-time' });
    },
    TEST_MS,
  );

  it(
    'delays and rejects no schema that takes long to compile',
    async () => {
      const quick = { compilationMs: 10, validationMs: ENDLESS_MS };
      const lanes = new ValidationPool({ ...UNLIMITED, quick });
      const endless = lanes.validate(ENDLESS, LONG_ENDLESS_DATA);
      const starts = Array.from({ length: 150 }, () => lanes.validate(LARGE, '{"p1": 1}'));
      for (const start of await Promise.all(starts)) expect(start).toMatchObject({ kind: 'done' });
      await lanes.stop();
      expect(await endless).toMatchObject({ kind: 'out-of-time' });
    },
    TEST_MS,
  );

  it(
    'limits how many wait for slow schemas',
    async () => {
      const lanes = new ValidationPool(UNLIMITED);
      const starts = Array.from({ length: 101 }, () => lanes.validate(ENDLESS, LONG_ENDLESS_DATA));
      await expect(lanes.validate(ENDLESS, LONG_ENDLESS_DATA)).rejects.toMatchObject({
        code: 'overloaded',
      });
      await lanes.stop();
      for (const start of await Promise.all(starts))
        expect(start).toMatchObject({ kind: 'out-of-time' });
    },
    TEST_MS,
  );
});

describe('answer', () => {
  it(
    'compiles within a limit of its own',
    () => {
      const began = performance.now();
      new CompiledSchema(readJson(LARGE)).validate({});
      const compilationMs = performance.now() - began;
      const request = { kind: 'validate', schema: LARGE, data: '{}' } as const;
      const limitedBy = (limits: Partial<typeof NO_LIMIT>): unknown =>
        answer({ ...request, limits: { ...NO_LIMIT, ...limits } });
      const late = { kind: 'out-of-time', during: 'compilation' };
      expect(limitedBy({ compilationMs: 10 })).toEqual(late);
      const validationMs = Math.ceil(compilationMs / 2);
      expect(limitedBy({ validationMs })).toMatchObject({ kind: 'done' });
    },
    TEST_MS,
  );

  it('says that validation took too long', () => {
    const limits = { ...NO_LIMIT, validationMs: 10 };
    const request = { kind: 'validate', schema: ENDLESS, data: ENDLESS_DATA, limits } as const;
    expect(answer(request)).toEqual({ kind: 'out-of-time', during: 'validation' });
  });
});
