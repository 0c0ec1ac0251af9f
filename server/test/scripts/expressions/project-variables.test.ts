/** Only what is read is sent, and missing values stay missing. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { projectVariables } from '../../../src/scripts/expressions/project-variables.js';

const VARIABLES: JsonObject = {
  data: { a: { b: 1, c: { d: 2 } }, list: [{ x: 1 }], text: 'x', empty: {} },
  context: { Index: 0 },
};

function project(...paths: string[]): JsonObject {
  return projectVariables(
    VARIABLES,
    paths.map((path) => {
      const [variable = '', ...keys] = path.split('.');
      return { variable, keys };
    }),
  );
}

describe('projectVariables', () => {
  it.each<[string[], JsonObject]>([
    [[], {}],
    [['data.a.b'], { data: { a: { b: 1 } } }],
    [['data.a.b', 'data.text'], { data: { a: { b: 1 }, text: 'x' } }],
    [['data.a.b', 'data.a.c.d'], { data: { a: { b: 1, c: { d: 2 } } } }],
    [['data.list.x'], { data: { list: [{ x: 1 }] } }],
    [['data.text.more'], { data: { text: 'x' } }],
    [['data.missing'], { data: {} }],
    [['data.a.missing.more'], { data: { a: {} } }],
    [['data.empty.x'], { data: { empty: {} } }],
    [['context'], { context: { Index: 0 } }],
    [['missing.x'], {}],
    [['data.constructor', 'data.__proto__.x'], { data: {} }],
  ])('copies the paths %j', (paths, expected) => {
    expect(project(...paths)).toEqual(expected);
  });

  it('adds nothing to objects that it has copied as a whole', () => {
    const before = structuredClone(VARIABLES);
    expect(project('data.a', 'data.a.b', 'data.a.c.d')).toEqual({
      data: { a: { b: 1, c: { d: 2 } } },
    });
    expect(project('data', 'data.a.b')).toEqual({ data: VARIABLES['data'] });
    expect(project('data.a.b', 'data.a')).toEqual({ data: { a: { b: 1, c: { d: 2 } } } });
    expect(VARIABLES).toEqual(before);
  });

  it('copies an object as a whole under two names', () => {
    const shared = { x: 1, y: 2 };
    const paths = [
      { variable: 'data', keys: ['a'] },
      { variable: 'data', keys: ['b', 'x'] },
    ];
    const projected = projectVariables({ data: { a: shared, b: shared } }, paths);
    expect(projected).toEqual({ data: { a: shared, b: { x: 1 } } });
  });

  it('copies fields named __proto__', () => {
    const variables = JSON.parse('{"data":{"__proto__":{"x":1}}}') as JsonObject;
    const projected = projectVariables(variables, [{ variable: 'data', keys: ['__proto__', 'x'] }]);
    expect(JSON.stringify(projected)).toBe('{"data":{"__proto__":{"x":1}}}');
  });
});
