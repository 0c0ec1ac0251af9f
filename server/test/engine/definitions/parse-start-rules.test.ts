/** Reference, OnConflict, ConflictScope and Priority: which values a definition may have, and what becomes of them. */
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
