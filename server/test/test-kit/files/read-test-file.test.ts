/** Files of tests are read whole, or rejected with every problem at its place. */
import { describe, expect, it } from 'vitest';
import { readTestFile } from '../../../src/test-kit/files/read-test-file.js';
import { TestFileError } from '../../../src/test-kit/files/file.js';

function problemsOf(text: string): readonly string[] {
  try {
    readTestFile(text);
  } catch (error) {
    if (!(error instanceof TestFileError)) throw error;
    return error.problems.map(({ column, line, message }) => `${line}:${column} ${message}`);
  }
  return [];
}

describe('a file of tests', () => {
  it('has cases with mocks, actions and expectations', () => {
    const file = readTestFile(`definition: order.yaml
Cases:
  - name: ships
    START: { order: 12345678901234567890 }
    Mocks:
      charge: [{ Fail: declined, Retryable: false }, { Result: 5 }]
      nobody: []
    Then:
      - Advance: 3d
      - Publish: { Name: shipped, Key: '"4711"' }
    Expect: { Status: complete, Calls: { charge: 2 } }
`);
    expect(file.definition).toBe('order.yaml');
    expect(file.cases).toMatchObject([
      {
        name: 'ships',
        place: { line: 3, column: 5 },
        start: { order: 12345678901234567890n },
        mocks: { charge: [{ fail: 'declined', retryable: false }, { result: 5 }], nobody: [] },
        then: [
          { kind: 'advance', duration: '3d' },
          { kind: 'publish', name: 'shipped', key: '4711', data: null, place: { line: 10 } },
        ],
        expect: { status: 'Complete', calls: { charge: 2 } },
      },
    ]);
    expect(file.cases[0]?.expect?.placeOf('calls')).toMatchObject({ line: 11 });
  });

  it('is rejected with all problems at their places', () => {
    const text = `Definition: order.yaml
Cases:
  - Name: a
    Mock: {}
    Mocks:
      x: { Result: 1, Fail: no }
    Then:
      - Advance: soon
      - { Advance: 1d, Publish: {} }
      - Publish: { Key: k }
    Expect:
      Status: Done
      Calls: { x: often }
  - Name: a
    Start: 5
    Now: today
`;
    expect(problemsOf(text)).toEqual([
      '4:5 Mock is not known here. Did you mean "Mocks"?',
      '6:7 an answer has one of Result, Response and Fail',
      expect.stringMatching(/^8:18 Advance is a duration, not .*soon.*: use 3d, /) as string,
      '9:9 each entry of Then has one of Advance, Publish and Expect',
      '10:9 Name is missing',
      expect.stringMatching(
        /^12:15 Status is one of Runnable, Suspended, Complete, Terminated/,
      ) as string,
      '13:19 x is a number of calls',
      expect.stringMatching(/^16:10 Now is a time/) as string,
      expect.stringMatching(/^15:12 Start is a map/) as string,
      '14:5 two cases have the name a',
    ]);
  });

  it.each([
    ['no text', '', 'a map with Definition'],
    ['a list', '[1]', 'a map with Definition'],
    ['no cases', 'Definition: a.yaml', 'Cases is a list of 1 to'],
    ['broken YAML', 'Definition: [', 'Invalid YAML'],
    ['an unknown member', 'Definition: a.yaml\nCase: []\nCases: []', 'Did you mean "Cases"?'],
  ])('is rejected: %s', (_, text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });
});
