/**
 * Goal: everything that is wrong with a document is reported, with a stable code and the place in the document as it was
 * posted.
 * Method: one table of documents and their errors.
 */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import {
  documentWith,
  documentWithInputs,
  documentWithStep,
  errorsOf,
  NO_OP,
  type DocumentCase,
} from './documents.js';

const REFUSED: readonly DocumentCase[] = [
  { title: 'a document that is not an object', document: [1], found: ['wrong_type '] },
  { title: 'null', document: null, found: ['wrong_type '] },
  { title: 'an empty document', document: {}, found: ['missing_id ', 'no_steps '] },
  { title: 'a missing Id', document: { Steps: [NO_OP] }, found: ['missing_id '] },
  { title: 'a null Id', document: { ID: null, Steps: [NO_OP] }, found: ['missing_id /ID'] },
  { title: 'a blank Id', document: { Id: ' ', Steps: [NO_OP] }, found: ['missing_id /Id'] },
  {
    title: 'an Id that is a list',
    document: { Id: [], Steps: [NO_OP] },
    found: ['wrong_type /Id'],
  },
  { title: 'a flag as Id', document: { Id: true, Steps: [NO_OP] }, found: ['wrong_type /Id'] },
  {
    title: 'an Id that is too long',
    document: { Id: 'x'.repeat(201), Steps: [NO_OP] },
    found: ['name_too_long /Id'],
  },
  {
    title: 'control characters in an Id',
    document: { Id: 'a\u0000b', Steps: [NO_OP] },
    found: ['invalid_value /Id'],
  },
  {
    title: 'a lone surrogate in an Id',
    document: { Id: 'a\ud800', Steps: [NO_OP] },
    found: ['invalid_value /Id'],
  },
  {
    title: 'an Id that cannot be used in a URL',
    document: { Id: '..', Steps: [NO_OP] },
    found: ['invalid_value /Id'],
  },
  { title: 'missing Steps', document: { Id: 'w' }, found: ['no_steps '] },
  { title: 'empty Steps', document: { Id: 'w', steps: [] }, found: ['no_steps /steps'] },
  { title: 'Steps that are a map', document: { Id: 'w', Steps: {} }, found: ['wrong_type /Steps'] },
  {
    title: 'steps that are not maps',
    document: { Id: 'w', Steps: [null, 'NoOp', [NO_OP]] },
    found: ['wrong_type /Steps/0', 'wrong_type /Steps/1', 'wrong_type /Steps/2'],
  },
  {
    title: 'a Description that is a map',
    document: { ...documentWithStep({}), Description: {} },
    found: ['wrong_type /Description'],
  },
  {
    title: 'invalid defaults of the definition',
    document: {
      ...documentWithStep({}),
      DefaultErrorBehavior: 'Ignore',
      DefaultErrorRetryInterval: true,
    },
    found: ['invalid_value /DefaultErrorBehavior', 'wrong_type /DefaultErrorRetryInterval'],
  },
  {
    title: 'a member given in two spellings',
    document: { Id: 'w', id: 'w', ID: null, Steps: [{ ...NO_OP, stepType: 'NoOp' }] },
    found: ['duplicate_member /id', 'duplicate_member /ID', 'duplicate_member /Steps/0/stepType'],
  },
  {
    title: 'a step without Id and step type',
    document: documentWith(NO_OP, {}),
    found: ['missing_step_id /Steps/1', 'missing_step_type /Steps/1'],
  },
  {
    title: 'a step with blank Id and step type',
    document: documentWith({ Id: '', StepType: '\t' }),
    found: ['missing_step_id /Steps/0/Id', 'missing_step_type /Steps/0/StepType'],
  },
  {
    title: 'a step whose Id and step type are maps',
    document: documentWith({ Id: {}, StepType: {} }),
    found: ['wrong_type /Steps/0/Id', 'wrong_type /Steps/0/StepType'],
  },
  {
    title: 'duplicate step ids, including those of nested and compensation steps',
    document: documentWith(
      {
        ...NO_OP,
        StepType: 'Sequence',
        Do: [[{ Id: 'b', StepType: 'NoOp' }]],
        CompensateWith: [NO_OP],
      },
      { Id: 'b', StepType: 'NoOp' },
    ),
    found: ['duplicate_step_id /Steps/0/CompensateWith/0/Id', 'duplicate_step_id /Steps/1/Id'],
  },
  {
    title: 'a step id that is too long, with one error although other steps refer to it',
    document: documentWith(
      { ...NO_OP, NextStepId: 'x'.repeat(201) },
      { Id: 'x'.repeat(201), StepType: 'NoOp' },
    ),
    found: ['name_too_long /Steps/0/NextStepId', 'name_too_long /Steps/1/Id'],
  },
  {
    title: 'an invalid name of a custom step',
    document: documentWith(
      { Id: 'a', StepType: 'x'.repeat(201), NextStepId: 'b' },
      { Id: 'b', StepType: 'x\u001by' },
    ),
    found: ['name_too_long /Steps/0/StepType', 'invalid_value /Steps/1/StepType'],
  },
  {
    title: 'next steps that do not exist',
    document: documentWithStep({
      NextStepId: 'b',
      SelectNextStep: { 'c/d': 'True', a: 'False', A: 'True' },
    }),
    found: [
      'unknown_next_step /Steps/0/NextStepId',
      'unknown_next_step /Steps/0/SelectNextStep/c~1d',
      'unknown_next_step /Steps/0/SelectNextStep/A',
    ],
  },
  {
    title: 'a NextStepId that is a map',
    document: documentWithStep({ NextStepId: {} }),
    found: ['wrong_type /Steps/0/NextStepId'],
  },
  {
    title: 'an unknown input of a built-in step and a missing one',
    document: documentWithInputs('EmitLog', { Mesage: '1', 'x~y': '1' }),
    found: [
      'unknown_input /Steps/0/Inputs/Mesage',
      'unknown_input /Steps/0/Inputs/x~0y',
      'missing_input /Steps/0/Inputs',
    ],
  },
  {
    title: 'an input given in two spellings',
    document: documentWithInputs('EmitLog', { Message: '1', message: '2' }),
    found: ['duplicate_member /Steps/0/Inputs/message'],
  },
  {
    title: 'required inputs that are absent or null',
    document: documentWith(
      { Id: 'a', StepType: 'WaitFor', NextStepId: 'b' },
      { Id: 'b', StepType: 'Delay', Inputs: { Period: null } },
    ),
    found: [
      'missing_input /Steps/0',
      'missing_input /Steps/0',
      'missing_input /Steps/1/Inputs/Period',
    ],
  },
  {
    title: 'any input of a step type without inputs',
    document: documentWithInputs('NoOp', { Message: '1' }),
    found: ['unknown_input /Steps/0/Inputs/Message'],
  },
  {
    title: 'other values where maps are expected',
    document: documentWithStep({ Inputs: [], Outputs: 'x', SelectNextStep: 5 }),
    found: [
      'wrong_type /Steps/0/SelectNextStep',
      'wrong_type /Steps/0/Inputs',
      'wrong_type /Steps/0/Outputs',
    ],
  },
  {
    title: 'conditions that are maps or lists',
    document: documentWithStep({ SelectNextStep: { a: {} }, CancelCondition: ['data.x'] }),
    found: ['wrong_type /Steps/0/SelectNextStep/a', 'wrong_type /Steps/0/CancelCondition'],
  },
  {
    title: 'an output with evaluated parts, which only inputs may have',
    document: documentWithStep({ Outputs: { o: { '@x': 'step.y' }, p: [{ '@x': 'step.y' }] } }),
    found: ['wrong_type /Steps/0/Outputs/o', 'wrong_type /Steps/0/Outputs/p'],
  },
  {
    title: 'numbers that are not finite',
    document: documentWithInputs('custom', { a: Number.NaN, b: { c: [Number.POSITIVE_INFINITY] } }),
    found: ['invalid_value /Steps/0/Inputs/a', 'invalid_value /Steps/0/Inputs/b/c/0'],
  },
  {
    title: 'values that JSON cannot represent',
    document: documentWithInputs('custom', { a: Symbol('a'), b: [undefined], c: () => 1 }),
    found: [
      'wrong_type /Steps/0/Inputs/a',
      'wrong_type /Steps/0/Inputs/b/0',
      'wrong_type /Steps/0/Inputs/c',
    ],
  },
  {
    title: 'keys of a map that collide or are empty after the @',
    document: documentWithInputs('custom', { g: { x: 1, '@x': 'data.x', '@': 'data.y' } }),
    found: ['duplicate_member /Steps/0/Inputs/g/@x', 'invalid_value /Steps/0/Inputs/g/@'],
  },
  {
    title: 'constants that are invalid for a built-in input',
    document: documentWith(
      { Id: 'a', StepType: 'Delay', Inputs: { Period: true }, NextStepId: 'b' },
      { Id: 'b', StepType: 'Delay', Inputs: { Period: '"soon"' }, NextStepId: 'c' },
      { Id: 'c', StepType: 'Foreach', Inputs: { Collection: 5 }, NextStepId: 'd' },
      { Id: 'd', StepType: 'Delay', Inputs: { Period: { '@a': '1' } }, NextStepId: 'e' },
      {
        Id: 'e',
        StepType: 'WaitFor',
        Inputs: { EventName: ['x'], EventKey: 5, EffectiveDate: "'yesterday'", Timeout: 1e12 },
      },
    ),
    found: [
      'wrong_type /Steps/0/Inputs/Period',
      'invalid_value /Steps/1/Inputs/Period',
      'wrong_type /Steps/2/Inputs/Collection',
      'wrong_type /Steps/3/Inputs/Period',
      'wrong_type /Steps/4/Inputs/EventName',
      'invalid_value /Steps/4/Inputs/EffectiveDate',
      'invalid_value /Steps/4/Inputs/Timeout',
    ],
  },
  {
    title: 'a count that is no whole number from 1',
    document: documentWith(
      ...['"many"', 0, 1.5, 1e300, true, [3], { a: 3 }].map((MaxParallel, index) => ({
        Id: `s${index}`,
        StepType: 'Foreach',
        Inputs: { Collection: 'data.items', MaxParallel },
        NextStepId: index === 6 ? null : `s${index + 1}`,
      })),
    ),
    found: [
      'invalid_value /Steps/0/Inputs/MaxParallel',
      'invalid_value /Steps/1/Inputs/MaxParallel',
      'invalid_value /Steps/2/Inputs/MaxParallel',
      'invalid_value /Steps/3/Inputs/MaxParallel',
      'wrong_type /Steps/4/Inputs/MaxParallel',
      'wrong_type /Steps/5/Inputs/MaxParallel',
      'wrong_type /Steps/6/Inputs/MaxParallel',
    ],
  },
  ...[false, 0, 'False'].flatMap((RunParallel) =>
    [3, '3'].map((MaxParallel) => ({
      title: `MaxParallel ${JSON.stringify(MaxParallel)} with RunParallel ${JSON.stringify(RunParallel)}`,
      document: documentWithInputs('Foreach', {
        Collection: 'data.x',
        maxparallel: MaxParallel,
        RunParallel,
      }),
      found: ['invalid_value /Steps/0/Inputs/maxparallel'],
    })),
  ),
  {
    title: 'flags, numbers and durations of the wrong type',
    document: documentWithStep({
      ProceedOnCancel: 1,
      ErrorBehavior: true,
      RetryInterval: {},
      MaxRetries: '3',
      RetryBackoff: [],
      OnRetriesExhausted: {},
      NonRetryable: 'ValueError',
      Timeout: true,
      Saga: 'yes',
    }),
    found: [
      'wrong_type /Steps/0/ProceedOnCancel',
      'wrong_type /Steps/0/ErrorBehavior',
      'wrong_type /Steps/0/RetryInterval',
      'wrong_type /Steps/0/MaxRetries',
      'wrong_type /Steps/0/RetryBackoff',
      'wrong_type /Steps/0/OnRetriesExhausted',
      'wrong_type /Steps/0/NonRetryable',
      'wrong_type /Steps/0/Timeout',
      'wrong_type /Steps/0/Saga',
    ],
  },
  {
    title: 'values out of range',
    document: documentWithStep({
      ErrorBehavior: 4,
      RetryInterval: 1e12,
      MaxRetries: 1.5,
      RetryBackoff: 0.5,
      OnRetriesExhausted: 'Retry',
      NonRetryable: ['ok', 5, ' '],
      Timeout: 0,
    }),
    found: [
      'invalid_value /Steps/0/ErrorBehavior',
      'invalid_value /Steps/0/RetryInterval',
      'invalid_value /Steps/0/MaxRetries',
      'invalid_value /Steps/0/RetryBackoff',
      'invalid_value /Steps/0/OnRetriesExhausted',
      'wrong_type /Steps/0/NonRetryable/1',
      'wrong_type /Steps/0/NonRetryable/2',
      'invalid_value /Steps/0/Timeout',
    ],
  },
  {
    title: 'more values out of range',
    document: documentWithStep({
      ErrorBehavior: 'Explode',
      RetryInterval: 'P1Y',
      MaxRetries: -1,
      RetryBackoff: Number.POSITIVE_INFINITY,
      OnRetriesExhausted: 0,
      Timeout: '1000 years',
    }),
    found: [
      'invalid_value /Steps/0/ErrorBehavior',
      'invalid_value /Steps/0/RetryInterval',
      'invalid_value /Steps/0/MaxRetries',
      'invalid_value /Steps/0/RetryBackoff',
      'invalid_value /Steps/0/OnRetriesExhausted',
      'invalid_value /Steps/0/Timeout',
    ],
  },
  {
    title: 'Do and CompensateWith that are not lists',
    document: documentWithStep({ StepType: 'Sequence', Do: NO_OP, CompensateWith: 'b' }),
    found: ['wrong_type /Steps/0/Do', 'wrong_type /Steps/0/CompensateWith'],
  },
  {
    title: 'Do that mixes steps and sequences',
    document: documentWithStep({
      StepType: 'Sequence',
      Do: [[{ ...NO_OP, Id: 'b' }], NO_OP, null],
    }),
    found: ['wrong_type /Steps/0/Do/1', 'wrong_type /Steps/0/Do/2'],
  },
  {
    title: 'too many steps',
    document: documentWith(
      { ...NO_OP, StepType: 'Sequence', Do: [[{ ...NO_OP, Id: 'b' }]], NextStepId: 'c' },
      { ...NO_OP, Id: 'c' },
      { ...NO_OP, Id: 'd' },
    ),
    options: { maxSteps: 2 },
    found: ['too_many_steps /Steps/1', 'unknown_next_step /Steps/0/NextStepId'],
  },
  {
    title: 'containers that are nested too deeply in Do or CompensateWith',
    document: documentWithStep({
      StepType: 'Sequence',
      Do: [
        [
          {
            Id: 'b',
            StepType: 'Sequence',
            Do: [[{ Id: 'c', StepType: 'NoOp' }]],
            CompensateWith: [{ Id: 'd', StepType: 'NoOp' }],
          },
        ],
      ],
    }),
    options: { maxDepth: 1 },
    found: ['too_deep /Steps/0/Do/0/0/Do', 'too_deep /Steps/0/Do/0/0/CompensateWith'],
  },
  {
    title: 'too many values',
    document: documentWithInputs('custom', { a: [1, 2, 3, 4, 5, 6, 7, 8, 9] }),
    options: { maxValues: 12 },
    found: ['too_large /Steps/0/Inputs/a/3'],
  },
  {
    title: 'too many members, before reading any of them',
    document: documentWithInputs('custom', { a: { '@b': '1', '@': '1', c: Infinity, d: 4, e: 5 } }),
    options: { maxValues: 12 },
    found: ['too_large /Steps/0/Inputs/a/d'],
  },
];

describe('parseDefinition', () => {
  it.each(REFUSED)('rejects $title', ({ document, options, found }) => {
    const parsed = parseDefinition(document, options);
    expect(errorsOf(parsed)).toEqual(found);
    expect(parsed.definition).toBeNull();
    expect(parsed.canonical).toBeNull();
  });

  it('reports at most a hundred errors in detail', () => {
    const steps = Array.from({ length: 150 }, () => ({ StepType: 'NoOp' }));
    const { errors } = parseDefinition(documentWith(...steps));
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({
      code: 'too_many_problems',
      message: '50 more are not listed.',
      pointer: '',
    });
  });
});
