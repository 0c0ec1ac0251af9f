/** Goal: completion knows where it is, even in a half-written document, and offers what the server's schema says. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { placeIn, stepIdsIn } from '../../src/editor/definition-context.js';
import { readSchema } from '../../src/editor/definition-schema.js';
import { placeProblems } from '../../src/editor/problem-places.js';

const SCHEMA = new URL('../../../../docs/definition.schema.json', import.meta.url);

/** What the editor finds at the mark `|` in a text. */
function placeAt(text: string): ReturnType<typeof placeIn> {
  const offset = text.indexOf('|');
  return placeIn(text.replace('|', ''), offset);
}

describe('completion from the JSON Schema of definitions', () => {
  const help = readSchema(JSON.parse(readFileSync(SCHEMA, 'utf8')));

  test('lists the members of definitions and steps with their descriptions and allowed values', () => {
    expect(help.definition.map(({ name }) => name)).toContain('DefaultErrorBehavior');
    expect(help.step.find(({ name }) => name === 'ErrorBehavior')?.values).toEqual([
      'Retry',
      'Suspend',
      'Terminate',
      'Compensate',
    ]);
    expect(help.step.find(({ name }) => name === 'StepType')?.values).toContain('WaitFor');
    expect(help.step.find(({ name }) => name === 'Saga')?.values).toEqual(['true', 'false']);
    expect(help.step.every(({ description }) => description !== '')).toBe(true);
  });

  test('lists the inputs of each step type', () => {
    const waitFor = help.types.get('waitfor');
    expect(waitFor?.inputs.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['EventName', 'EventKey', 'Timeout']),
    );
    expect(waitFor?.description).not.toBe('');
    expect(help.types.size).toBe(16);
  });

  test.each([null, 5, 'x', [], {}, { $defs: { step: { allOf: [null, {}] } } }])(
    'lists nothing for the unexpected schema %o',
    (schema) => {
      expect(readSchema(schema).step).toEqual([]);
    },
  );
});

describe('completion in the text of a definition', () => {
  test.each([
    ['De|', 'definition', null, null, 'De'],
    ['Id: x\nSteps:\n  - Id: a\n    St|', 'step', null, null, 'St'],
    ['Id: x\nSteps:\n  - Id: a\n    StepType: Wa|', 'step', null, 'StepType', 'Wa'],
    [
      'steps:\n  - id: a\n    stepType: WaitFor\n    inputs:\n      Ev|',
      'inputs',
      'WaitFor',
      null,
      'Ev',
    ],
    ['Steps:\n- Id: a\n  StepType: If\n  Do:\n  - - Id: b\n      |', 'step', null, null, ''],
    ['Steps:\n  - Id: a\n    Outputs:\n      x|', 'free', null, null, 'x'],
    [
      '{\n  "Id": "x",\n  "Steps": [\n    {\n      "Id": "a",\n      "St|',
      'step',
      null,
      null,
      'St',
    ],
  ] as const)('knows the position of the cursor in %j', (text, ...place) => {
    const { surroundings, stepType, member, word } = placeAt(text);
    expect([surroundings, stepType, member, word]).toEqual(place);
  });

  test('offers the ids of steps, but not the id of the definition', () => {
    expect(stepIdsIn('Id: x\nSteps:\n  - Id: a\n  - Id: "b c"\n')).toEqual(['a', 'b c']);
  });
});

describe('the text that a problem marks', () => {
  const item = { code: 'c', message: 'm' };
  const marked = (text: string, place: object): string => {
    const [{ from, to } = { from: 0, to: 0 }] = placeProblems(text, [{ ...item, ...place }], false);
    return text.slice(from, to);
  };

  test.each([
    ['a: 1\nb: 2\n', { line: 2, column: 4 }, '2'],
    ['a: 1', { line: 9, column: 9 }, ''],
    ['{"a": {"b": ["x", "y"]}}', { pointer: '/a/b/1' }, '"y"'],
    ['{"a": {"b": 1}}', { pointer: '/a' }, '"a"'],
    ['{"a/b": 1}', { pointer: '/a~1b' }, '1'],
    ['{"a": 1}', { pointer: '/none' }, '{'],
    ['{ broken', { pointer: '/a/b' }, '{'],
  ])('is, in %j at %o, %j', (text, place, expected) => {
    expect(marked(text, place)).toBe(expected);
  });
});
