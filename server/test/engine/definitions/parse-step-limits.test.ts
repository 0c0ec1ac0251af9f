/**
 * Goal: a step names limits in a short and in a long form, and mistakes in them are reported with their place.
 * Method: tables of steps with their limits or their problems.
 */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { BUILT_IN_STEP_TYPES } from '../../../src/engine/model/step-type-names.js';
import { documentWithStep, errorsOf, parseStepA, warningsOf } from './documents.js';

function withLimits(limits: unknown, stepType = 'pay'): Record<string, unknown> {
  return documentWithStep({ StepType: stepType, Limits: limits });
}

describe('Limits of a step', () => {
  it('reads names, keys and units', () => {
    const document = withLimits([
      'shop',
      { Name: 'tenant', Key: ' data.tenant ', Units: 3 },
      { NAME: 'fixed', key: 7, units: null },
    ]);
    const parsed = parseDefinition(document);
    expect(parseStepA(document).limits).toEqual([
      { name: 'shop', key: null, units: 1 },
      { name: 'tenant', key: { kind: 'expression', source: 'data.tenant' }, units: 3 },
      { name: 'fixed', key: { kind: 'constant', value: 7 }, units: 1 },
    ]);
    expect(parsed.expressions).toMatchObject([
      { source: 'data.tenant', pointer: '/Steps/0/Limits/1/Key' },
    ]);
    expect(parsed.limits).toEqual([
      {
        name: 'shop',
        units: 1,
        pointer: '/Steps/0/Limits/0',
        unitsPointer: '/Steps/0/Limits/0',
      },
      {
        name: 'tenant',
        units: 3,
        pointer: '/Steps/0/Limits/1/Name',
        unitsPointer: '/Steps/0/Limits/1/Units',
      },
      {
        name: 'fixed',
        units: 1,
        pointer: '/Steps/0/Limits/2/NAME',
        unitsPointer: '/Steps/0/Limits/2/units',
      },
    ]);
  });

  it('writes each entry of the canonical form as an object, which means the same', () => {
    const document = withLimits(['shop', { Name: 'tenant', Key: 'data.tenant', Units: 3 }]);
    const { canonical } = parseDefinition(document);
    expect(canonical).toMatchObject({
      steps: [{ limits: [{ name: 'shop' }, { name: 'tenant', key: 'data.tenant', units: 3 }] }],
    });
    expect(parseStepA(canonical)).toEqual(parseStepA(document));
  });

  it.each([null, []])('takes %j as no limits, for any step type', (limits) => {
    for (const type of ['pay', 'NoOp']) {
      const { canonical } = parseDefinition(withLimits(limits, type));
      expect(parseStepA(withLimits(limits, type)).limits).toEqual([]);
      expect(canonical).not.toHaveProperty(['steps', 0, 'limits']);
    }
  });

  it('is possible only for steps that work outside of the run', () => {
    const possible = BUILT_IN_STEP_TYPES.filter((type) => {
      const { errors } = parseDefinition(withLimits(['shop'], type));
      return errors.every(({ code }) => code !== 'limits_not_possible');
    });
    expect(possible).toEqual(['Activity', 'HttpRequest', 'SubWorkflow']);
    const [problem] = parseDefinition(withLimits(['shop'], 'NoOp')).errors;
    expect(problem).toMatchObject({
      pointer: '/Steps/0/Limits',
      message:
        'NoOp can have no Limits: only Activity, HttpRequest, SubWorkflow and custom steps can.',
    });
  });

  it.each<[unknown, readonly string[]]>([
    ['shop', ['wrong_type ']],
    [{ Name: 'shop' }, ['wrong_type ']],
    [
      [5, null, ['shop']],
      ['wrong_type /0', 'wrong_type /1', 'wrong_type /2'],
    ],
    [
      ['', {}, { Name: ' ' }],
      ['invalid_value /0', 'invalid_value /1', 'invalid_value /2/Name'],
    ],
    [[{ Name: [] }], ['wrong_type /0/Name']],
    [
      ['.', 'a\u0000b'],
      ['invalid_value /0', 'invalid_value /1'],
    ],
    [['x'.repeat(201)], ['name_too_long /0']],
    [['shop', { Name: 'shop', Key: 'data.x' }], ['duplicate_limit /1/Name']],
    [['shop', 'shop'], ['duplicate_limit /1']],
    [[{ Name: 'shop', NAME: 'shop' }], ['duplicate_member /0/NAME']],
    [[{ Name: 'shop', Key: ['data.x'] }], ['wrong_type /0/Key']],
    [[{ Name: 'shop', Units: 0 }], ['invalid_value /0/Units']],
    [[{ Name: 'shop', Units: 1.5 }], ['invalid_value /0/Units']],
    [[{ Name: 'shop', Units: 1_000_001 }], ['invalid_value /0/Units']],
    [[{ Name: 'shop', Units: 'data.n' }], ['wrong_type /0/Units']],
    [Array.from({ length: 12 }, (_, at) => `l${at}`), ['too_many_entries /10']],
  ])('refuses %j', (limits, problems) => {
    const expected = problems.map((problem) => problem.replace(' ', ' /Steps/0/Limits'));
    expect(errorsOf(parseDefinition(withLimits(limits)))).toEqual(expected);
  });

  it('accepts ten limits', () => {
    const names = Array.from({ length: 10 }, (_, at) => `l${at}`);
    expect(parseStepA(withLimits(names)).limits.map(({ name }) => name)).toEqual(names);
  });

  it('suggests a name for an unknown member', () => {
    const parsed = parseDefinition(withLimits([{ Name: 'shop', Unit: 2 }]));
    expect(warningsOf(parsed)).toEqual(['unknown_member /Steps/0/Limits/0/Unit']);
    expect(parsed.warnings[0]?.message).toContain('Did you mean "Units"?');
  });
});
