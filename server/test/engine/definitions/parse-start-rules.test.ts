/** Reference, OnConflict, ConflictScope, Priority, Fairness and Concurrency: which values a definition may have, and what becomes of them. */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { parseValid } from './documents.js';

const STEPS = { Steps: [{ Id: 'a', StepType: 'NoOp' }] };

describe('parseDefinition — the rules of starts', () => {
  it.each(['EXISTING', ' existing ', 'Existing'])('reads OnConflict %j in any casing', (text) => {
    const document = { Id: 'w', ONCONFLICT: text, ...STEPS };
    expect(parseValid(document).onConflict).toBe('existing');
    expect(parseDefinition(document).canonical).toMatchObject({ onConflict: 'existing' });
  });

  it.each(['KEPT', 'kept', 'Kept'])('reads ConflictScope %j in any casing', (text) => {
    const document = { Id: 'w', conflictscope: text, ...STEPS };
    expect(parseValid(document).conflictScope).toBe('kept');
    expect(parseDefinition(document).canonical).toMatchObject({ conflictScope: 'Kept' });
  });

  it('reads Priority, and has none by default', () => {
    expect(parseValid({ Id: 'w', priority: 2, ...STEPS }).priority).toBe(2);
    expect(parseValid({ Id: 'w', Priority: null, ...STEPS }).priority).toBeNull();
  });

  it('reads Concurrency in any casing, with its defaults', () => {
    const document = {
      Id: 'w',
      Concurrency: { LIMIT: 2, key: 'data.c', onfull: 'REJECT' },
      ...STEPS,
    };
    const parsed = parseDefinition(document);
    const key = { kind: 'expression', source: 'data.c' };
    expect(parsed.definition?.concurrency).toEqual({
      limit: 2,
      key,
      onFull: 'Reject',
      maxQueued: null,
    });
    const canonical = { limit: 2, key: 'data.c', onFull: 'Reject' };
    expect(parsed.canonical).toMatchObject({ concurrency: canonical });
    expect(parsed.expressions).toMatchObject([{ source: 'data.c', pointer: '/Concurrency/key' }]);
    const plain = parseValid({ Id: 'w', concurrency: { limit: 1, maxQueued: 0 }, ...STEPS });
    expect(plain.concurrency).toEqual({ limit: 1, key: null, onFull: 'Queue', maxQueued: 0 });
    expect(parseValid({ Id: 'w', Concurrency: null, ...STEPS }).concurrency).toBeNull();
  });

  it.each([
    [7, '', 'wrong_type', 'an object such as {"Limit": 5}'],
    [[{ Limit: 1 }], '', 'wrong_type', 'an object such as {"Limit": 5}'],
    [{}, '', 'invalid_value', 'requires a Limit'],
    [{ Limit: 0 }, '/Limit', 'invalid_value', 'a whole number from 1 to 10000'],
    [{ Limit: 10_001 }, '/Limit', 'invalid_value', 'a whole number from 1 to 10000'],
    [{ Limit: 1.5 }, '/Limit', 'invalid_value', 'a whole number from 1 to 10000'],
    [{ Limit: '1' }, '/Limit', 'wrong_type', 'a whole number'],
    [{ Limit: 1, Key: ['data.c'] }, '/Key', 'wrong_type', 'an expression such as "data.customer"'],
    [{ Limit: 1, Key: { '@a': '1' } }, '/Key', 'wrong_type', 'an expression'],
    [{ Limit: 1, OnFull: 'Wait' }, '/OnFull', 'invalid_value', 'one of Queue, Reject'],
    [{ Limit: 1, OnFull: 1 }, '/OnFull', 'wrong_type', 'one of Queue, Reject'],
    [{ Limit: 1, MaxQueued: -1 }, '/MaxQueued', 'invalid_value', 'from 0 to 1000000'],
  ])('refuses Concurrency: %j', (value, pointer, code, expected) => {
    const document = { Id: 'w', Concurrency: value, ...STEPS };
    const [problem, ...others] = parseDefinition(document).errors;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code, pointer: `/Concurrency${pointer}` });
    expect(problem?.message).toContain(expected);
  });

  it('suggests a name for an unknown member of Concurrency', () => {
    const document = { Id: 'w', Concurrency: { Limit: 1, MaxQueue: 2 }, ...STEPS };
    const [warning] = parseDefinition(document).warnings;
    expect(warning).toMatchObject({ code: 'unknown_member', pointer: '/Concurrency/MaxQueue' });
    expect(warning?.message).toContain('MaxQueued');
  });

  it('reads Fairness in any casing, with its defaults', () => {
    const document = { Id: 'w', FAIRNESS: { KEY: 'data.tenant', weight: 'data.plan' }, ...STEPS };
    const parsed = parseDefinition(document);
    expect(parsed.definition?.fairness).toEqual({
      key: { kind: 'expression', source: 'data.tenant' },
      weight: { kind: 'expression', source: 'data.plan' },
    });
    const canonical = { key: 'data.tenant', weight: 'data.plan' };
    expect(parsed.canonical).toMatchObject({ fairness: canonical });
    expect(parsed.expressions).toMatchObject([
      { source: 'data.tenant', pointer: '/FAIRNESS/KEY' },
      { source: 'data.plan', pointer: '/FAIRNESS/weight' },
    ]);
    const constant = parseValid({ Id: 'w', Fairness: { Key: 7, Weight: 0.01 }, ...STEPS });
    expect(constant.fairness).toEqual({
      key: { kind: 'constant', value: 7 },
      weight: { kind: 'constant', value: 0.01 },
    });
    const plain = parseValid({ Id: 'w', Fairness: { Key: '"all"', Weight: null }, ...STEPS });
    expect(plain.fairness).toMatchObject({ weight: null });
    expect(parseValid({ Id: 'w', Fairness: null, ...STEPS }).fairness).toBeNull();
  });

  it.each([
    ['data.tenant', '', 'wrong_type', 'an object such as {"Key": "data.tenant"}'],
    [[{ Key: 'data.tenant' }], '', 'wrong_type', 'an object such as'],
    [{}, '', 'invalid_value', 'requires a Key'],
    [{ Weight: 2 }, '', 'invalid_value', 'requires a Key'],
    [{ Key: ['data.t'] }, '/Key', 'wrong_type', 'an expression such as "data.customer"'],
    [{ Key: `"${'k'.repeat(257)}"` }, '/Key', 'invalid_value', 'at most 256'],
    [{ Key: '".."' }, '/Key', 'invalid_value', 'Key of Fairness: the string is ..'],
    [{ Key: 'data.t', Weight: 0 }, '/Weight', 'invalid_value', 'a number from 0.01 to 100'],
    [{ Key: 'data.t', Weight: 100.1 }, '/Weight', 'invalid_value', 'a number from 0.01 to 100'],
    [{ Key: 'data.t', Weight: '-1' }, '/Weight', 'invalid_value', 'but got -1'],
    [{ Key: 'data.t', Weight: '"2"' }, '/Weight', 'invalid_value', 'but got the string "2"'],
    [{ Key: 'data.t', Weight: true }, '/Weight', 'wrong_type', 'a number or an expression'],
    [{ Key: 'data.t', Weight: { '@a': '1' } }, '/Weight', 'wrong_type', 'a number or an'],
  ])('refuses Fairness: %j', (value, pointer, code, expected) => {
    const document = { Id: 'w', Fairness: value, ...STEPS };
    const [problem, ...others] = parseDefinition(document).errors;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code, pointer: `/Fairness${pointer}` });
    expect(problem?.message).toContain(expected);
  });

  it('suggests a name for an unknown member of Fairness', () => {
    const document = { Id: 'w', Fairness: { Key: 'data.t', Wieght: 2 }, ...STEPS };
    const [warning] = parseDefinition(document).warnings;
    expect(warning).toMatchObject({ code: 'unknown_member', pointer: '/Fairness/Wieght' });
    expect(warning?.message).toContain('Weight');
  });

  describe('a child that needs the place of its parent', () => {
    const problems = (concurrency: object, inputs: object = {}, id = "'w'") => {
      const Inputs = { DefinitionId: id, ...inputs };
      const Steps = [{ Id: 'a', StepType: 'SubWorkflow', Inputs }];
      return parseDefinition({ Id: 'w', Concurrency: concurrency, Steps }).errors;
    };
    const endless = [{ code: 'endless_wait', pointer: '/Steps/0/Inputs' }];

    it('is refused if it would certainly wait forever', () => {
      expect(problems({ Limit: 1 })).toMatchObject(endless);
      expect(problems({ Limit: 1, Key: '"all"' })).toMatchObject(endless);
      expect(problems({ Limit: 1, Key: 7 }, { Wait: 'True' })).toMatchObject(endless);
    });

    it('is accepted if it may go on', () => {
      expect(problems({ Limit: 2 })).toEqual([]);
      expect(problems({ Limit: 1, Key: 'data.c' })).toEqual([]);
      expect(problems({ Limit: 1, OnFull: 'Reject' })).toEqual([]);
      expect(problems({ Limit: 1 }, { Wait: 'False' })).toEqual([]);
      expect(problems({ Limit: 1 }, {}, "'other'")).toEqual([]);
      expect(problems({ Limit: 1 }, {}, 'data.id')).toEqual([]);
    });
  });

  it('reads an expression as Reference, and keeps a number', () => {
    const named = parseDefinition({ Id: 'w', Reference: 'data.order', ...STEPS });
    expect(named.definition?.reference).toEqual({ kind: 'expression', source: 'data.order' });
    expect(named.canonical).toMatchObject({ reference: 'data.order' });
    expect(named.expressions).toMatchObject([{ source: 'data.order', pointer: '/Reference' }]);
    const constant = parseValid({ Id: 'w', Reference: 7, ...STEPS });
    expect(constant.reference).toEqual({ kind: 'constant', value: 7 });
    expect(parseValid({ Id: 'w', Reference: null, ...STEPS }).reference).toBeNull();
  });

  it.each([
    ['Reference', ['data.order'], 'wrong_type', 'an expression such as "data.order"'],
    ['Reference', { order: 1 }, 'wrong_type', 'an expression such as "data.order"'],
    ['Reference', true, 'wrong_type', 'an expression such as "data.order"'],
    ['OnConflict', 'join', 'invalid_value', 'one of allow, fail, existing, terminate, queue'],
    ['OnConflict', 1, 'wrong_type', 'one of allow, fail, existing, terminate, queue'],
    ['ConflictScope', 'all', 'invalid_value', 'one of Open, Kept'],
    ['ConflictScope', true, 'wrong_type', 'one of Open, Kept'],
    ['Priority', 0, 'invalid_value', 'a whole number from 1 to 5'],
    ['Priority', 6, 'invalid_value', 'a whole number from 1 to 5'],
    ['Priority', 2.5, 'invalid_value', 'a whole number from 1 to 5'],
    ['Priority', 1e300, 'invalid_value', 'a whole number from 1 to 5'],
    ['Priority', '1', 'wrong_type', 'a whole number'],
  ])('refuses %s: %j', (member, value, code, expected) => {
    const [problem, ...others] = parseDefinition({ Id: 'w', [member]: value, ...STEPS }).errors;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code, pointer: `/${member}` });
    expect(problem?.message).toContain(expected);
  });
});
