/**
 * Goal: IV1 to IV3 of parse-input-value.ts.
 * Method: a table of posted values and the expected results.
 */
import { describe, expect, it } from 'vitest';
import type { InputValue } from '../../../src/engine/model/input-value.js';
import type { Json } from '../../../src/engine/values/json.js';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { documentWithInputs, errorsOf, parseStepA } from './documents.js';

function check(posted: unknown, expected: InputValue): void {
  const step = parseStepA(documentWithInputs('custom', { x: posted }));
  expect(step.inputs).toEqual([{ name: 'x', value: expected }]);
}

const expression = (source: string): InputValue => ({ kind: 'expression', source });
const constant = (value: Json): InputValue => ({ kind: 'constant', value });

describe('parseInputValue', () => {
  it.each<[unknown, InputValue]>([
    ['data.x + 1', expression('data.x + 1')],
    ["'text'", expression("'text'")],
    ['  data.x\n', expression('data.x')],
    [5, constant(5)],
    [-0.5, constant(-0.5)],
    [true, constant(true)],
    [null, constant(null)],
    [[], constant([])],
    [['data.x', 1, [null]], constant(['data.x', 1, [null]])],
    [{}, constant({})],
    [{ a: 'data.x' }, constant({ a: 'data.x' })],
    [{ a: { b: [{ c: 'text' }] } }, constant({ a: { b: [{ c: 'text' }] } })],
    [{ '@a': 5, b: 6 }, constant({ a: 5, b: 6 })],
  ])('reads %j', (posted, expected) => {
    check(posted, expected);
  });

  it('evaluates strings under keys that start with @ and leaves the others alone', () => {
    check(
      { '@a': 'data.x', b: 'data.y', '@@type': "'t'" },
      {
        kind: 'graph',
        fields: [
          ['a', expression('data.x')],
          ['b', { kind: 'constant', value: 'data.y' }],
          ['@type', expression("'t'")],
        ],
      },
    );
  });

  it('does so at every depth, including maps inside lists', () => {
    check([1, { deep: [{ '@x': 'data.x' }], plain: {} }], {
      kind: 'list',
      items: [
        { kind: 'constant', value: 1 },
        {
          kind: 'graph',
          fields: [
            [
              'deep',
              { kind: 'list', items: [{ kind: 'graph', fields: [['x', expression('data.x')]] }] },
            ],
            ['plain', { kind: 'constant', value: {} }],
          ],
        },
      ],
    });
  });

  it('applies the rule for @ keys inside a map whose own key starts with @', () => {
    check(
      { '@outer': { '@inner': 'data.x', text: 'data.y' } },
      {
        kind: 'graph',
        fields: [
          [
            'outer',
            {
              kind: 'graph',
              fields: [
                ['inner', expression('data.x')],
                ['text', { kind: 'constant', value: 'data.y' }],
              ],
            },
          ],
        ],
      },
    );
  });

  it('copies constants, so that changing the document does not change the definition', () => {
    const list = [1, { a: 1 }];
    const step = parseStepA(documentWithInputs('custom', { x: list }));
    list.push(2);
    expect(step.inputs[0]!.value).toEqual({ kind: 'constant', value: [1, { a: 1 }] });
  });

  it('keeps a field named __proto__', () => {
    const posted: unknown = JSON.parse(
      '{"__proto__": {"polluted": true}, "@__proto__x": "data.x"}',
    );
    const step = parseStepA(documentWithInputs('custom', { x: posted, y: { z: posted } }));
    const { value } = step.inputs[0]!;
    expect(value.kind === 'graph' && value.fields.map(([key]) => key)).toEqual([
      '__proto__',
      '__proto__x',
    ]);
    const literal: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
    check(literal, { kind: 'constant', value: literal as Json });
    expect(
      Object.keys(
        (
          parseStepA(documentWithInputs('custom', { x: literal })).inputs[0]!.value as {
            value: object;
          }
        ).value,
      ),
    ).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('accepts 64 levels and rejects more', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    const deep = (levels: number): string[] =>
      errorsOf(parseDefinition(documentWithInputs('custom', { x: nested(levels) })));
    expect(deep(64)).toEqual([]);
    expect(deep(65)).toEqual([`too_deep /Steps/0/Inputs/x${'/0'.repeat(64)}`]);
  });
});
