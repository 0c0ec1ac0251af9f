/** If, While, Foreach, Parallel, Sequence, and the steps inside them. */
import { describe, expect, it } from 'vitest';
import { itFails, itRuns } from './support/cases.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const seen = (Id: string, what: string) =>
  compute(Id, { seen: `data.get("seen", []) + [${what}]` });

everyStore('containers', (at) => {
  describe('If', () => {
    itRuns(at, [
      {
        does: 'runs all sequences of Do if the condition is true, then its next steps',
        steps: chain(
          step(
            'if',
            'If',
            { Condition: 'data.n > 1' },
            { Do: [[mark('a', { NextStepId: 'a2' }), mark('a2')], [mark('b')]] },
          ),
          mark('after'),
        ),
        data: { n: 2 },
        gives: { n: 2, trail: ['a', 'b', 'a2', 'after'] },
      },
      {
        does: 'continues at once if the condition is false',
        steps: chain(
          step('if', 'If', { Condition: 'data.n > 1' }, { Do: [[mark('a')]] }),
          mark('after'),
        ),
        data: { n: 1 },
        gives: { n: 1, trail: ['after'] },
      },
      ...(
        [
          ['"false"', true],
          ['""', false],
          ['[]', false],
          ['[0]', true],
          ['0', false],
          ['None', false],
          ['{}', false],
          ['0.5', true],
        ] as const
      ).map(([condition, holds]) => ({
        does: `takes ${condition} as ${holds}, as Python does`,
        steps: [step('if', 'If', { Condition: condition }, { Do: [[mark('in')]] })],
        gives: holds ? { trail: ['in'] } : {},
      })),
      {
        does: 'accepts a constant condition',
        steps: [step('if', 'If', { Condition: true }, { Do: [[mark('in')]] })],
        gives: { trail: ['in'] },
      },
      {
        does: 'accepts a plain list of steps as one sequence',
        steps: [
          step(
            'if',
            'If',
            { Condition: 'True' },
            { Do: [mark('a', { NextStepId: 'b' }), mark('b')] },
          ),
        ],
        gives: { trail: ['a', 'b'] },
      },
    ]);
  });

  describe('While', () => {
    itRuns(at, [
      {
        does: 'runs Do repeatedly while the condition is true',
        steps: chain(
          step(
            'while',
            'While',
            { Condition: 'data.n < 3' },
            { Do: [[compute('more', { n: 'data.n + 1' })]] },
          ),
          mark('after'),
        ),
        data: { n: 0 },
        gives: { n: 3, trail: ['after'] },
      },
      {
        does: 'runs nothing if the condition is false at the start',
        steps: chain(
          step('while', 'While', { Condition: 'False' }, { Do: [[mark('never')]] }),
          mark('after'),
        ),
        gives: { trail: ['after'] },
      },
      {
        does: 'waits for all sequences of an iteration before the next one',
        steps: [
          step(
            'while',
            'While',
            { Condition: 'len(data.trail) < 4' },
            {
              Do: [
                [step('wait', 'Delay', { Period: 0.02 }, { NextStepId: 'slow' }), mark('slow')],
                [mark('quick')],
              ],
            },
          ),
        ],
        data: { trail: [] },
        gives: { trail: ['quick', 'slow', 'quick', 'slow'] },
      },
      {
        does: 'evaluates its condition once per iteration',
        steps: chain(
          step(
            'while',
            'While',
            { Condition: 'data.n < 2' },
            {
              // During the iteration the condition is false for a moment, which must not be evaluated.
              Do: [
                chain(compute('up', { n: 'data.n + 10' }), compute('down', { n: 'data.n - 9' })),
              ],
            },
          ),
          mark('after'),
        ),
        data: { n: 0 },
        gives: { n: 2, trail: ['after'] },
      },
    ]);
  });

  describe('Foreach', () => {
    itRuns(at, [
      {
        does: 'runs Do once for each item, which context.Item returns, then continues',
        steps: chain(
          step(
            'each',
            'Foreach',
            { Collection: 'data.items', RunParallel: false },
            { Do: [[seen('see', '[context.Item, context.Index]')]] },
          ),
          mark('after'),
        ),
        data: { items: ['a', { k: 1 }, null] },
        gives: {
          items: ['a', { k: 1 }, null],
          seen: [
            ['a', 0],
            [{ k: 1 }, 1],
            [null, 2],
          ],
          trail: ['after'],
        },
      },
      {
        does: 'continues if the collection is empty',
        steps: chain(
          step('each', 'Foreach', { Collection: '[]' }, { Do: [[mark('never')]] }),
          mark('after'),
        ),
        gives: { trail: ['after'] },
      },
      {
        does: 'accepts constant lists, tuples, sets, ranges and the keys of objects',
        steps: chain(
          step(
            'constant',
            'Foreach',
            { Collection: [1, 'data.x'] },
            { Do: [[seen('s1', 'context.Item')]] },
          ),
          step(
            'tuple',
            'Foreach',
            { Collection: '(2, 3)' },
            { Do: [[seen('s2', 'context.Item')]] },
          ),
          step('set', 'Foreach', { Collection: '{4}' }, { Do: [[seen('s3', 'context.Item')]] }),
          step(
            'keys',
            'Foreach',
            { Collection: '{"k": 5}' },
            { Do: [[seen('s4', 'context.Item')]] },
          ),
        ),
        gives: { seen: [1, 'data.x', 2, 3, 4, 'k'] },
      },
      {
        does: 'runs all items in parallel by default',
        steps: [
          step(
            'each',
            'Foreach',
            { Collection: '[0.2, 0.1, 0]' },
            {
              Do: [
                chain(
                  step('wait', 'Delay', { Period: 'context.Item' }),
                  seen('see', 'context.Index'),
                ),
              ],
            },
          ),
        ],
        gives: { seen: [2, 1, 0] },
      },
      {
        does: 'runs one item after the other with RunParallel false',
        steps: [
          step(
            'each',
            'Foreach',
            { Collection: '[0.1, 0.05, 0]', RunParallel: 'False' },
            {
              Do: [
                chain(
                  step('wait', 'Delay', { Period: 'context.Item' }),
                  seen('see', 'context.Index'),
                ),
              ],
            },
          ),
        ],
        gives: { seen: [0, 1, 2] },
      },
      {
        does: 'exposes the innermost item, also inside a nested If, and the outer one again after the inner loop',
        steps: [
          step(
            'outer',
            'Foreach',
            { Collection: '["a", "b"]', RunParallel: false },
            {
              Do: [
                chain(
                  step(
                    'if',
                    'If',
                    { Condition: 'context.Item == "a"' },
                    {
                      Do: [
                        chain(
                          seen('outerItem', 'context.Item'),
                          step(
                            'inner',
                            'Foreach',
                            { Collection: '[1, 2]', RunParallel: false },
                            { Do: [[seen('innerItem', '[context.Item, context.Index]')]] },
                          ),
                        ),
                      ],
                    },
                  ),
                  seen('behind', 'context.Item'),
                ),
              ],
            },
          ),
        ],
        gives: { seen: ['a', [1, 0], [2, 1], 'a', 'b'] },
      },
    ]);

    it('records item and index of each execution in the steps', async () => {
      const { client } = at;
      const id = await client.defineAndStart([
        step(
          'each',
          'Foreach',
          { Collection: '["x", "y"]', RunParallel: false },
          { Do: [[step('in', 'NoOp')]] },
        ),
      ]);
      await client.ended(id);
      const executions = (await client.steps(id)).filter(({ stepId }) => stepId === 'in');
      expect(executions).toMatchObject([
        { item: 'x', index: 0 },
        { item: 'y', index: 1 },
      ]);
    });

    itFails(at, [
      {
        does: 'a value that is not a list',
        step: step('each', 'Foreach', { Collection: 'data.n' }, { Do: [[mark('x')]] }),
        data: { n: 5 },
        message: /Collection/,
      },
    ]);
  });

  describe('Parallel and Sequence', () => {
    itRuns(
      at,
      ['Parallel', 'Sequence'].map((type) => ({
        does: `${type} runs every sequence of Do as a branch and continues when all have ended`,
        steps: chain(
          step(
            'both',
            type,
            {},
            {
              Do: [
                chain(mark('a1'), step('wait', 'Delay', { Period: 0.1 }), mark('a2')),
                chain(mark('b1'), mark('b2')),
              ],
            },
          ),
          mark('after'),
        ),
        gives: { trail: ['a1', 'b1', 'b2', 'a2', 'after'] },
      })),
    );

    itRuns(at, [
      {
        does: 'continues if it is empty',
        steps: chain({ Id: 'empty', StepType: 'Parallel', Do: [] }, mark('after')),
        gives: { trail: ['after'] },
      },
      {
        does: 'can have a branch that ends at a false selector, and one that splits into two',
        steps: chain(
          step(
            'both',
            'Parallel',
            {},
            {
              Do: [
                [mark('ends', { SelectNextStep: { never: 'False' } }), mark('never')],
                [
                  mark('splits', { SelectNextStep: { x: 'True', y: 'True' } }),
                  mark('x'),
                  mark('y'),
                ],
              ],
            },
          ),
          mark('after'),
        ),
        gives: { trail: ['ends', 'splits', 'x', 'y', 'after'] },
      },
    ]);

    it('waits for scripts and HTTP responses at the same time', async () => {
      const { client } = at;
      const first = fresh('work');
      const second = fresh('work');
      const id = await client.defineAndStart(
        chain(
          step(
            'both',
            'Parallel',
            {},
            {
              Do: [
                [
                  step(
                    'one',
                    'Activity',
                    { ActivityName: `"${first}"` },
                    { Outputs: { one: 'step.Result' } },
                  ),
                ],
                [
                  step(
                    'two',
                    'Activity',
                    { ActivityName: `"${second}"` },
                    { Outputs: { two: 'step.Result' } },
                  ),
                ],
              ],
            },
          ),
          mark('after'),
        ),
      );
      const two = await client.work(second);
      const one = await client.work(first);
      await client.succeed(two.token, 2);
      await client.succeed(one.token, 1);
      expect((await client.ended(id)).data).toEqual({ one: 1, two: 2, trail: ['after'] });
    });
  });
});
