/**
 * Goal: no schema and no data blocks the event loop, whatever they are; each is validated or rejected in limited time
 * (VD1, VD2, VL1 to VL3, VT1, VT2).
 * Method: hostile schemas and data on the real threads; measures the processor time of the main thread. What can be validated
 * has no time limit here, and what never ends has: so no result depends on the speed of the machine.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { parseDefinition } from '../../src/engine/definitions/parse-definition.js';
import type { InputSchema, WorkflowDefinition } from '../../src/engine/model/definition.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { AppError } from '../../src/base/errors.js';
import { InputSchemas } from '../../src/schemas/input-schemas.js';
import type { ValidationLimits } from '../../src/schemas/validation-pool.js';

const BLOCKED_MS_MAX = 200;
/** The time limit of these tests: without limits, the hostile schemas would take hours. */
const TEST_MS = 60_000;

const NO_LIMIT = { compilationMs: 10 * TEST_MS, validationMs: 10 * TEST_MS };
const UNLIMITED: ValidationLimits = {
  checkingMs: 10 * TEST_MS,
  quick: NO_LIMIT,
  large: NO_LIMIT,
  slow: NO_LIMIT,
  stuckMs: 20 * TEST_MS,
};

const limited = new InputSchemas();
const unlimited = new InputSchemas(UNLIMITED);
afterAll(() => Promise.all([limited.stop(), unlimited.stop()]));

function definitionWith(Input: InputSchema): WorkflowDefinition {
  const document = { Id: 'w', Input, Steps: [{ Id: 'a', StepType: 'NoOp' }] };
  const { definition, errors } = parseDefinition(document);
  expect(errors).toEqual([]);
  return definition!;
}

type Verdict = 'accepted' | 'rejected' | 'given up';

async function validate(
  definition: WorkflowDefinition,
  data: JsonObject,
  by = unlimited,
): Promise<Verdict> {
  try {
    await by.admit(definition, data);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    return error.problems.length > 0 ? 'rejected' : 'given up';
  }
}

/**
 * Milliseconds that this thread computed during the work. It cannot have blocked others for longer, and unlike the time that
 * passed, this does not depend on what else the machine does.
 */
async function computedDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { system, user } = process.threadCpuUsage(before);
  return (system + user) / 1000;
}

/** Each level refers twice to the next one. */
function bomb(levels: number, keyword: 'allOf' | 'anyOf' | 'oneOf'): JsonObject {
  const $defs: JsonObject = { [`n${levels}`]: { required: ['no'] } };
  for (let level = 0; level < levels; level += 1) {
    const $ref = `#/$defs/n${level + 1}`;
    $defs[`n${level}`] = { [keyword]: [{ $ref }, { $ref }] };
  }
  return { properties: { a: { $ref: '#/$defs/n0' } }, $defs };
}

const LONG = 'a'.repeat(100_000);
const LIST: Json = Array.from({ length: 20_000 }, (_, n) => ({ n: `${n}`, list: [n] }));

const HOSTILE: readonly (readonly [string, JsonObject, JsonObject, readonly Verdict[]])[] = [
  ['(a+)+$ on 100 kB', { properties: { a: { pattern: '(a+)+$' } } }, { a: LONG }, ['accepted']],
  [
    '(a+)+$ in vain',
    { properties: { a: { pattern: '^(a+)+$' } } },
    { a: `${LONG}!` },
    ['rejected'],
  ],
  [
    '(x+x+)+y',
    { properties: { a: { pattern: '(x+x+)+y' } } },
    { a: 'x'.repeat(100_000) },
    ['rejected'],
  ],
  [
    'a pattern for names',
    { patternProperties: { '^(([a-z])+.)+[A-Z]([a-z])+$': false } },
    { [LONG]: 1 },
    ['accepted'],
  ],
  ['unique items', { properties: { a: { uniqueItems: true } } }, { a: LIST }, ['accepted']],
  ['a bomb of allOf', bomb(40, 'allOf'), { a: {} }, ['given up']],
  ['a bomb of anyOf', bomb(40, 'anyOf'), { a: {} }, ['given up']],
  ['a bomb of oneOf', bomb(40, 'oneOf'), { a: {} }, ['given up']],
  [
    'a circle of references',
    { properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: { anyOf: [{ $ref: '#/$defs/x' }] } } },
    { a: 1 },
    ['given up'],
  ],
  [
    'a hundred violations in each of 20,000 items',
    {
      properties: {
        a: { items: { allOf: Array.from({ length: 100 }, () => ({ type: 'null' })) } },
      },
    },
    { a: LIST },
    ['rejected'],
  ],
  [
    'defaults that multiply the data',
    { properties: { a: { items: { properties: { x: { default: 'x'.repeat(60_000) } } } } } },
    { a: LIST },
    ['given up'],
  ],
  [
    'contains in each of 20,000 items',
    { properties: { a: { items: { properties: { list: { contains: { const: -1 } } } } } } },
    { a: LIST },
    ['rejected'],
  ],
  [
    'names of the prototype',
    {
      properties: { ['__proto__']: { type: 'string' }, constructor: { type: 'number' } },
      required: ['constructor', 'toString'],
      additionalProperties: false,
    },
    { constructor: 'x' },
    ['rejected'],
  ],
];

describe('InputSchemas', () => {
  it.each(HOSTILE)(
    'validates or rejects %s in limited time',
    async (_, schema, data, verdicts) => {
      const definition = definitionWith(schema);
      const by = verdicts.includes('given up') ? limited : unlimited;
      let verdict: Verdict | null = null;
      const computed = await computedDuring(
        async () => (verdict = await validate(definition, data, by)),
      );
      expect(verdicts).toContain(verdict);
      expect(computed).toBeLessThan(BLOCKED_MS_MAX);
    },
    TEST_MS,
  );

  it(
    'rejects hostile schemas when they are posted',
    async () => {
      const problemsOf = async (schema: InputSchema, isEndless = false): Promise<string> => {
        const by = isEndless ? limited : unlimited;
        const problems = await by.check(schema);
        return problems.map(({ message }) => message).join(' ');
      };
      const endless = { properties: { a: { $ref: '#', default: {} } } };
      expect(await problemsOf(endless)).toContain('its defaults contain themselves');
      expect(await problemsOf({ $ref: '#' })).toContain('refers to itself without end');
      const bombs = bomb(40, 'allOf');
      expect(await problemsOf({ ...bombs, $ref: '#/$defs/n0' }, true)).toContain('takes too long');
      const patterns = '(x{1,900})?'.repeat(5000);
      expect(await problemsOf({ pattern: patterns })).toMatch(/too large|too long/);
      expect(await problemsOf({ type: 'object', 'x-a': { pattern: '(' } })).toBe('');
    },
    TEST_MS,
  );

  it("keeps schemas and data away from the server's prototypes", async () => {
    const schema = JSON.parse(
      '{"properties":{"a":{"default":{"__proto__":{"polluted":1}}},"__proto__":{"default":{"polluted":1}}}}',
    ) as JsonObject;
    const filled = await unlimited.admit(definitionWith(schema), {});
    expect(JSON.stringify(filled)).toBe(
      '{"a":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}',
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const quotes = { properties: { ['"];throw 1;//`${1}']: { enum: ['\u2028"`);//'] } } };
    expect(await validate(definitionWith(quotes), { ['"];throw 1;//`${1}']: 1 })).toBe('rejected');
  });

  it('returns the same object if nothing is filled in, and asks no thread without a schema', async () => {
    const data = { a: 1 };
    expect(await unlimited.admit(definitionWith({ required: ['a'] }), data)).toBe(data);
    const idle = new InputSchemas();
    expect(await idle.admit(definitionWith(true), data)).toBe(data);
    await idle.stop();
    await expect(idle.admit(definitionWith(false), data)).rejects.toMatchObject({
      code: 'stopping',
    });
  });
});
