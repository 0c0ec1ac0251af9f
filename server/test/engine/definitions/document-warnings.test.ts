/** Documents that are accepted with warnings, and the messages of problems. */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import {
  documentWith,
  documentWithInputs,
  documentWithStep,
  errorsOf,
  NO_OP,
  warningsOf,
  type DocumentCase,
} from './documents.js';

const WARNED: readonly DocumentCase[] = [
  {
    title: 'unknown members',
    document: { ...documentWithStep({ NextStep: 'b' }), Author: 'me' },
    found: ['unknown_member /Author', 'unknown_member /Steps/0/NextStep'],
  },
  {
    title: 'unreachable steps',
    document: documentWith(
      {
        Id: 'a',
        StepType: 'Sequence',
        Do: [[NO_OP, NO_OP].map((s, i) => ({ ...s, Id: `n${i}` }))],
      },
      { Id: 'b', StepType: 'NoOp', NextStepId: 'c' },
      { Id: 'c', StepType: 'NoOp', NextStepId: 'b' },
    ),
    found: [
      'unreachable_step /Steps/0/Do/0/1',
      'unreachable_step /Steps/1',
      'unreachable_step /Steps/2',
    ],
  },
  {
    title: 'no step that SelectNextStep, Do, CompensateWith or a backward jump reaches',
    document: documentWith(
      {
        Id: 'a',
        StepType: 'If',
        Inputs: { Condition: 'data.x' },
        SelectNextStep: { d: 'data.y' },
        Do: [[{ Id: 'b', StepType: 'NoOp', NextStepId: 'e' }]],
        CompensateWith: [{ Id: 'c', StepType: 'NoOp' }],
      },
      { Id: 'd', StepType: 'NoOp' },
      { Id: 'e', StepType: 'NoOp' },
    ),
    found: [],
  },
  {
    title: 'empty containers',
    document: documentWith(
      { Id: 'a', StepType: 'Sequence', NextStepId: 'b' },
      { Id: 'b', StepType: 'Parallel', Do: [[], []] },
    ),
    found: ['empty_do /Steps/0', 'empty_do /Steps/1/Do'],
  },
  {
    title: 'Do on a step whose type ignores it',
    document: documentWithStep({ Do: [{ Id: 'b', StepType: 'NoOp' }] }),
    found: ['unused_do /Steps/0/Do', 'unreachable_step /Steps/0/Do/0'],
  },
  {
    title: 'bare names that are neither variables nor constants',
    document: documentWithInputs('custom', {
      a: 'data',
      b: 'context',
      c: 'environment',
      d: 'True',
      e: 'None',
    }),
    found: [],
  },
  {
    title: 'inputs that a script cannot read',
    document: documentWithInputs('custom', { 'first name': 1, naïve_2: 1, '2nd': 1 }),
    found: [
      'unusable_input_name /Steps/0/Inputs/first name',
      'unusable_input_name /Steps/0/Inputs/2nd',
    ],
  },
  {
    title: 'constants that are probably mistakes',
    document: documentWith(
      { Id: 'a', StepType: 'EmitLog', Inputs: { Message: 1, Level: "'Loud'" }, NextStepId: 'b' },
      {
        Id: 'b',
        StepType: 'While',
        Inputs: { Condition: "'False'" },
        Do: [{ Id: 'c', StepType: 'NoOp' }],
      },
    ),
    found: ['doubtful_value /Steps/0/Inputs/Level', 'doubtful_value /Steps/1/Inputs/Condition'],
  },
  {
    title: 'lists under a key that starts with @',
    document: documentWithInputs('custom', { g: { '@list': ['data.a'] } }),
    found: ['not_evaluated /Steps/0/Inputs/g/@list'],
  },
];

describe('parseDefinition', () => {
  it.each(WARNED)('warns about $title', ({ document, options, found }) => {
    const parsed = parseDefinition(document, options);
    expect(errorsOf(parsed)).toEqual([]);
    expect(warningsOf(parsed)).toEqual(found);
    expect(parsed.definition).not.toBeNull();
  });
});

describe('a problem message of parseDefinition', () => {
  function messageOf(document: unknown): string | undefined {
    const { errors, warnings } = parseDefinition(document);
    return [...errors, ...warnings][0]?.message;
  }

  it.each([
    [
      documentWithInputs('EmitLog', { Message: '1', Lvel: '1' }),
      'EmitLog has no input "Lvel"; its inputs are Message, Level. Did you mean "Level"?',
    ],
    [documentWithInputs('NoOp', { Message: '1' }), 'NoOp has no input "Message"; it has none.'],
    [documentWithStep({ NextStepId: 'A' }), 'There is no step with the id "A". Did you mean "a"?'],
    [
      documentWithStep({ NextStep: 'b' }),
      '"NextStep" is not a known member and was ignored. Did you mean "NextStepId"?',
    ],
    [documentWithStep({ Zzz: 'b' }), '"Zzz" is not a known member and was ignored.'],
    [
      documentWith(NO_OP, NO_OP),
      'The step id "a" is already used by /Steps/0; step ids must be unique in the whole definition, including nested steps.',
    ],
    [
      documentWithInputs('Delay', { Period: "'soon'" }),
      'Period: expected a duration (a number of seconds, "90s", "15m", "1h", "2d", "hh:mm:ss", "d.hh:mm:ss" or an ISO 8601 duration such as "PT5S"; up to 100 years), but got the string "soon".',
    ],
    [
      documentWithInputs('Foreach', { Collection: 'data.x', RunParallel: false, MaxParallel: 3 }),
      'MaxParallel has no meaning with RunParallel false. Remove it, or set RunParallel to true.',
    ],
    [
      documentWithInputs('Foreach', { Collection: 'data.x', MaxParallel: 0 }),
      'MaxParallel: expected a whole number from 1, but got 0.',
    ],
  ])('says how to fix the problem (%#)', (document, message) => {
    expect(messageOf(document)).toBe(message);
  });

  it.each([
    { MaxParallel: 3 },
    { MaxParallel: 3, RunParallel: true },
    { MaxParallel: 3, RunParallel: 'data.together' },
    { MaxParallel: 'data.max', RunParallel: false },
    { MaxParallel: null, RunParallel: false },
  ])('accepts %j, which a run may use', (inputs) => {
    const { errors } = parseDefinition(
      documentWithInputs('Foreach', { Collection: 'data.x', ...inputs }),
    );
    expect(errors).toEqual([]);
  });
});
