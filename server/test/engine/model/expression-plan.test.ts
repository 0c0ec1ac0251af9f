/** The expressions that inputs consist of, and how their values are inserted. */
import { describe, expect, it } from 'vitest';
import type { InputValue } from '../../../src/engine/model/input-value.js';
import { planInputs, requestOf } from '../../../src/engine/model/expression-plan.js';

const expression = (source: string): InputValue => ({ kind: 'expression', source });
const constant = (value: number | string): InputValue => ({ kind: 'constant', value });

describe('planInputs', () => {
  it('lists the expressions in document order, at every depth, and inserts their values', () => {
    const plan = planInputs([
      { name: 'first', value: expression('a') },
      { name: 'plain', value: constant(5) },
      {
        name: 'graph',
        value: {
          kind: 'graph',
          fields: [
            ['x', expression('b')],
            ['text', constant('c')],
            ['items', { kind: 'list', items: [constant(1), expression('d')] }],
          ],
        },
      },
      { name: 'last', value: expression('e') },
    ]);
    expect(plan.sources).toEqual(['a', 'b', 'd', 'e']);
    expect(plan.build(['A', 'B', 'D', null])).toEqual({
      first: 'A',
      plain: 5,
      graph: { x: 'B', text: 'c', items: [1, 'D'] },
      last: null,
    });
  });

  it('makes the plan of a step once, and new values each time', () => {
    const inputs = [{ name: 'x', value: expression('a') }];
    expect(planInputs(inputs)).toBe(planInputs(inputs));
    const plan = planInputs(inputs);
    expect(plan.build([1])).toEqual({ x: 1 });
    expect(plan.build([2])).toEqual({ x: 2 });
  });

  it('treats names with a special meaning in JavaScript like any other name', () => {
    const fields = [['__proto__', expression('a')]] as const;
    const built = planInputs([
      { name: '__proto__', value: constant(1) },
      { name: 'graph', value: { kind: 'graph', fields } },
    ]).build(['A']);
    expect(JSON.stringify(built)).toBe('{"__proto__":1,"graph":{"__proto__":"A"}}');
  });
});

describe('requestOf', () => {
  it('is the expression, or the unchanged constant', () => {
    expect(requestOf(expression('a'))).toEqual({ source: 'a' });
    expect(requestOf(constant(5))).toEqual({ constant: 5 });
    const graph: InputValue = { kind: 'graph', fields: [['x', constant(1)]] };
    expect(requestOf(graph)).toEqual({ constant: { x: 1 } });
  });
});
