import fc from 'fast-check';
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { jsonLocator } from '../../../src/api/http/json-position.js';
import { positionAt } from '../../../src/api/http/text-position.js';

function pointerOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** Every path in the value. */
function pathsIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  const children: (readonly [string | number, unknown])[] = Array.isArray(value)
    ? [...value.entries()]
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  return [[...path], ...children.flatMap(([key, child]) => pathsIn(child, [...path, key]))];
}

/** Objects and lists are found at their names. */
function expectedOffset(root: Node, path: readonly (string | number)[]): number {
  const node = findNodeAtLocation(root, [...path]);
  if (node === undefined) throw new Error(`nothing at ${path.join('/')}`);
  const isNamed = node.children !== undefined && node.parent?.type === 'property';
  return isNamed ? node.parent.offset : node.offset;
}

describe('a position in a JSON text', () => {
  it('matches that of an independent parser, whatever the layout of the text', () => {
    const text = fc
      .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'))
      .map(([value, indent]) => `\n ${JSON.stringify(value, null, indent)} `);
    fc.assert(
      fc.property(text, (json) => {
        const root = parseTree(json);
        if (root === undefined) throw new Error('not JSON');
        const locate = jsonLocator(json);
        for (const path of pathsIn(JSON.parse(json))) {
          expect(locate(pointerOf(path))).toEqual(positionAt(json, expectedOffset(root, path)));
        }
      }),
    );
  });

  it('is that of the parent for a missing member, and that of the last for a duplicate name', () => {
    const json = '{"a": {"b": [1, {"c": 2}]}, "x": 1, "x" : [0]}';
    const locate = jsonLocator(json);
    const columnOf = (pointer: string): number | undefined => locate(pointer)?.column;
    expect(columnOf('/a/b/1/none/deeper')).toBe(json.indexOf('{"c"') + 1);
    expect(columnOf('/a/b/7')).toBe(json.indexOf('"b"') + 1);
    expect(columnOf('/a/b/1/c')).toBe(json.indexOf('2}') + 1);
    expect(columnOf('/x/0')).toBe(json.indexOf('0]') + 1);
    expect(columnOf('')).toBe(1);
    expect(columnOf('/none')).toBe(1);
  });
});
