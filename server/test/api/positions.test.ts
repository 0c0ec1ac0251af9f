/** Positions of JSON pointers in posted documents, found by both readers. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_API_LIMITS } from '../support/default-limits.js';
import { jsonLocator, jsonNumbers } from '../../src/api/http/json-position.js';
import { positionAt, positionsIn } from '../../src/api/http/text-position.js';
import { parseYaml } from '../../src/api/http/yaml-format.js';

const JSON_TEXT = `
{ "Id": "d\\"{", "empty": {}, "Steps": [
    {"Id": "a", "Inputs": {"a/b~c": [1, [2, "x"], {"é": null}]}} , {
      "Id" :
        "b" } ] }
`;

const YAML_TEXT = `Id: d
shared: &s
  first: 1
  "a/b~c":
    - x
    - deep: y
Steps:
  - Id: a
    Inputs: *s
  - {Id: b, Inputs: {z: *s}}
`;

describe('a position in JSON', () => {
  it.each([
    ['', 2, 1],
    ['/Id', 2, 9],
    ['/empty', 2, 17],
    ['/empty/x', 2, 17],
    ['/Steps', 2, 30],
    ['/Steps/0', 3, 5],
    ['/Steps/0/Id', 3, 12],
    ['/Steps/0/Inputs/a~1b~0c', 3, 28],
    ['/Steps/0/Inputs/a~1b~0c/0', 3, 38],
    ['/Steps/0/Inputs/a~1b~0c/1/1', 3, 45],
    ['/Steps/0/Inputs/a~1b~0c/2/é', 3, 57],
    ['/Steps/1', 3, 68],
    ['/Steps/1/Id', 5, 9],
    ['/Steps/1/NextStepId', 3, 68],
    ['/Steps/7', 2, 30],
  ])('points for %j to line %i, column %i', (pointer, line, column) => {
    expect(jsonLocator(JSON_TEXT)(pointer)).toEqual({ line, column });
  });

  it('is found in linear time, whatever the depth and width of the text', () => {
    const depth = 90;
    const text = `${'[1,'.repeat(depth)}${'[],'.repeat(250_000)}0${']'.repeat(depth)}`;
    const before = process.cpuUsage();
    const locate = jsonLocator(text);
    for (let index = 0; index < 100; index += 1) {
      const pointer = `${'/1'.repeat(depth - 1)}/${250_000 - index}`;
      expect(locate(pointer)?.column).toBeGreaterThan(700_000);
    }
    // A new search for each level or pointer would take about ten seconds.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
  });
});

describe('a position in YAML', () => {
  it.each([
    ['/Steps/0', 8, 5],
    ['/Steps/0/Inputs/first', 3, 10],
    ['/Steps/0/Inputs/a~1b~0c', 4, 3],
    ['/Steps/0/Inputs/a~1b~0c/1/deep', 6, 13],
    ['/Steps/1/Inputs/z/first', 3, 10],
    ['/Steps/1/NextStepId', 10, 5],
    ['/Nothing', 1, 1],
  ])('points for %j to line %i, column %i', (pointer, line, column) => {
    const locate = parseYaml(YAML_TEXT, DEFAULT_API_LIMITS)?.locator();
    expect(locate?.(pointer)).toEqual({ line, column });
  });
});

describe('a position of a merged member', () => {
  const text = `base: &b {x: 1, y: 2}
other: &o
  <<: *b
  z: 3
a: {<<: *o, x: 4}
l: {<<: [{q: 1}, *b]}
loop: &l {<<: {r: 1}}
`;

  it.each([
    ['/other/x', 1, 14],
    ['/a/y', 1, 20],
    ['/a/z', 4, 6],
    ['/a/x', 5, 16],
    ['/l/q', 6, 14],
    ['/l/y', 1, 20],
    ['/loop/r', 7, 19],
    ['/loop/s', 7, 1],
  ])('points for %j to line %i, column %i', (pointer, line, column) => {
    const locate = parseYaml(text, DEFAULT_API_LIMITS)?.locator();
    expect(locate?.(pointer)).toEqual({ line, column });
  });
});

describe('a number as it is written', () => {
  const json = '{ "a": 1.10, "b": [ 1e3, "1.10" ], "c": {"d" :-0.50} }';
  const yaml = 'a: &n 1.10\nb: [0x10, "1.10"]\nc: {d: *n}\ne: {<<: {f: 010}}\n';

  it.each([
    ['/a', '1.10'],
    ['/b/0', '1e3'],
    ['/b/1', null],
    ['/c/d', '-0.50'],
    ['/c', null],
  ])('is found in JSON at %j', (pointer, written) => {
    expect(jsonNumbers(json)(pointer)).toBe(written);
  });

  it.each([
    ['/a', '1.10'],
    ['/b/0', '0x10'],
    ['/b/1', null],
    ['/c/d', '1.10'],
    ['/e/f', '010'],
    ['/nothing', null],
  ])('is found in YAML at %j', (pointer, written) => {
    expect(parseYaml(yaml, DEFAULT_API_LIMITS)?.numbers()(pointer)).toBe(written);
  });
});

describe('the line and column of an offset', () => {
  it('has the same values whether computed together or for each offset', () => {
    const text = '\nab\n\nc\r\n\u2028d';
    const locate = positionsIn(text);
    for (let offset = 0; offset <= text.length; offset += 1) {
      expect(locate(offset)).toEqual(positionAt(text, offset));
    }
  });
});
