/** EmitLog, NoOp, Decide, custom steps, and the successors of a step. */
import { describe, expect, it } from 'vitest';
import { itFails, itRuns } from './support/cases.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, mark, step } from './support/steps.js';

everyStore('simple steps', (at) => {
  describe('EmitLog', () => {
    it.each([
      ['Trace', 'trace'],
      ['DEBUG', 'debug'],
      ['information', 'info'],
      ['Warning', 'warn'],
      ['error', 'error'],
      ['Critical', 'fatal'],
    ])('writes one line at %s', async (level, logged) => {
      const { client, server } = at;
      const text = fresh('a message');
      const id = await client.defineAndStart(
        [
          step(
            'tell',
            'EmitLog',
            { Message: 'data.text', Level: `"${level}"` },
            { Outputs: { message: 'step.Message', level: 'step["Level"].lower()' } },
          ),
        ],
        { text },
      );
      const { data } = await client.ended(id);
      expect(data).toEqual({ text, message: text, level: level.toLowerCase() });
      const lines = server.logLines.filter(({ msg }) => msg === text);
      expect(lines).toMatchObject([{ level: logged, workflowId: id, stepId: 'tell' }]);
    });

    it('logs at Information by default, and accepts any JSON value', async () => {
      const { client, server } = at;
      for (const message of ['5', '[1, {"a": None}]', 'None', 'True', '{"key": "é"}']) {
        const id = await client.defineAndStart([step('tell', 'EmitLog', { Message: message })]);
        expect((await client.ended(id)).status).toBe('Complete');
        const lines = server.logLines.filter(
          ({ workflowId, stepId }) => workflowId === id && stepId === 'tell',
        );
        expect(lines, message).toMatchObject([{ level: 'info' }]);
      }
    });

    it('logs a map with its evaluated parts', async () => {
      const id = await at.client.defineAndStart(
        [step('tell', 'EmitLog', { Message: { kind: 'order', '@total': 'data.n + 1' } })],
        { n: 1 },
      );
      await at.client.ended(id);
      const line = at.server.logLines.find(
        ({ workflowId, stepId }) => workflowId === id && stepId === 'tell',
      );
      expect(line).toMatchObject({ value: { kind: 'order', total: 2 } });
    });
  });

  describe('NoOp and Decide', () => {
    itRuns(at, [
      {
        does: 'applies the outputs of a NoOp',
        steps: [compute('a', { sum: 'data.x + data.y' })],
        data: { x: 1, y: 2 },
        gives: { x: 1, y: 2, sum: 3 },
      },
      {
        does: 'chooses with Decide',
        steps: [
          {
            Id: 'choose',
            StepType: 'Decide',
            SelectNextStep: { large: 'data.n >= 10', small: 'data.n < 10' },
          },
          mark('large'),
          mark('small'),
        ],
        data: { n: 3 },
        gives: { n: 3, trail: ['small'] },
      },
      {
        does: 'takes an Expression that Decide does not need',
        steps: [
          step(
            'choose',
            'Decide',
            { Expression: 'data.n' },
            { SelectNextStep: { a: 'data.n == 3', b: 'False' } },
          ),
          mark('a'),
          mark('b'),
        ],
        data: { n: 3 },
        gives: { n: 3, trail: ['a'] },
      },
    ]);
  });

  describe('the successors of a step', () => {
    itRuns(at, [
      {
        does: 'continues with NextStepId and with every true selector',
        steps: [
          mark('a', {
            NextStepId: 'next',
            SelectNextStep: { yes: 'True', no: 'data.n > 5', also: 'data.n == 1' },
          }),
          mark('next'),
          mark('yes'),
          mark('no'),
          mark('also'),
        ],
        data: { n: 1 },
        gives: { n: 1, trail: ['a', 'next', 'yes', 'also'] },
      },
      {
        does: 'ends the branch if there is no next step',
        steps: [mark('a', { SelectNextStep: { b: 'False' } }), mark('b')],
        gives: { trail: ['a'] },
      },
      {
        does: 'evaluates the selectors after the outputs of the step',
        steps: [compute('a', { n: '5' }, { SelectNextStep: { b: 'data.n == 5' } }), mark('b')],
        gives: { n: 5, trail: ['b'] },
      },
      {
        does: 'runs a step twice if two branches lead to it',
        steps: [
          mark('a', { NextStepId: 'b', SelectNextStep: { c: 'True' } }),
          mark('b', { NextStepId: 'd' }),
          mark('c', { NextStepId: 'd' }),
          mark('d'),
        ],
        gives: { trail: ['a', 'b', 'c', 'd', 'd'] },
      },
      {
        does: 'can go backwards in a loop',
        steps: [
          compute('more', { n: 'data.n + 1' }, { NextStepId: 'check' }),
          {
            Id: 'check',
            StepType: 'Decide',
            SelectNextStep: { more: 'data.n < 4', done: 'data.n >= 4' },
          },
          mark('done'),
        ],
        data: { n: 0 },
        gives: { n: 4, trail: ['done'] },
      },
      {
        does: 'starts with the first step in the list',
        steps: [mark('z'), mark('a')],
        gives: { trail: ['z'] },
      },
      {
        does: 'accepts a constant as a selector',
        steps: [
          { ...mark('a'), SelectNextStep: { b: true, c: false, d: 0, e: null } },
          mark('b'),
          mark('c'),
          mark('d'),
          mark('e'),
        ],
        gives: { trail: ['a', 'b'] },
      },
      {
        does: 'evaluates selectors after any type of step',
        steps: [
          step(
            'if',
            'If',
            { Condition: 'True' },
            { Do: [[mark('in')]], SelectNextStep: { wait: 'len(data.trail) == 1' } },
          ),
          step('wait', 'Delay', { Period: '0' }, { SelectNextStep: { each: 'True' } }),
          step(
            'each',
            'Foreach',
            { Collection: '[1]' },
            { Do: [[mark('item')]], SelectNextStep: { end: 'True' } },
          ),
          mark('end'),
        ],
        gives: { trail: ['in', 'item', 'end'] },
      },
    ]);
  });

  describe('a custom step', () => {
    it('gets its inputs as variables and passes its variables to the outputs', async () => {
      const { client } = at;
      const add = await client.script(
        'import math\nc = a + b\nroot = math.sqrt(16)\n_hidden = 1\n',
      );
      const { data } = await client.run(
        [
          step(
            'add',
            add,
            { a: 'data.Value1', b: 5 },
            { Outputs: { c: 'step["c"]', same: 'step.c', a: 'step.a', root: 'step.root' } },
          ),
        ],
        { Value1: 2 },
      );
      expect(data).toEqual({ Value1: 2, c: 7, same: 7, a: 2, root: 4 });
    });

    it('keeps the casing of its inputs, and accepts maps', async () => {
      const { client } = at;
      const name = await client.script('out = [Name, name, graph["k"], graph["lit"]]');
      const { data } = await client.run(
        [
          step(
            's',
            name,
            { Name: '"upper"', name: '"lower"', graph: { '@k': 'data.v * 2', lit: 'data.v' } },
            { Outputs: { out: 'step.out' } },
          ),
        ],
        { v: 4 },
      );
      expect(data['out']).toEqual(['upper', 'lower', 8, 'data.v']);
    });

    it('runs the latest script when the step runs, even in waiting runs', async () => {
      const { client } = at;
      const name = await client.script('v = "old"');
      const definition = await client.define([
        step('wait', 'Activity', { ActivityName: `"${name}"` }, { NextStepId: 's' }),
        step('s', name, {}, { Outputs: { v: 'step.v' } }),
      ]);
      const id = await client.start(definition);
      const item = await client.work(name);
      const replaced = await client.call('POST', `/api/step/${name}`, {
        body: 'v = "new"',
        type: 'text/x-python',
      });
      expect(replaced.body).toEqual({ name, version: 2, warnings: [] });
      await client.succeed(item.token, null);
      expect((await client.ended(id)).data).toEqual({ v: 'new' });
    });

    it('imports from the standard library, except modules with access to the outside', async () => {
      const { client } = at;
      const name = await client.script(
        'import json, re, datetime\nv = json.dumps({"a": len(re.findall("o", "foo"))})',
      );
      expect((await client.run([step('s', name, {}, { Outputs: { v: 'step.v' } })])).data).toEqual({
        v: '{"a": 2}',
      });
      for (const module of ['socket', 'subprocess', 'os', 'js']) {
        const bad = await client.script(`import ${module}`);
        const id = await client.defineAndStart({
          DefaultErrorBehavior: 'Suspend',
          Steps: [step('s', bad)],
        });
        const suspended = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
        expect(suspended.lastError!.type, module).toMatch(/ImportError|ModuleNotFoundError/);
      }
    });

    it('reports the failing line of a script', async () => {
      const { client } = at;
      const name = await client.script('x = 1\ny = x / 0\n');
      const id = await client.defineAndStart({
        DefaultErrorBehavior: 'Suspend',
        Steps: [step('s', name)],
      });
      const { lastError } = await client.untilWorkflow(id, ({ status }) => status === 'Suspended');
      expect(lastError).toMatchObject({ stepId: 's', type: 'ZeroDivisionError', attempt: 1 });
      expect(lastError!.traceback).toMatch(/line 2/);
    });

    it('has a case-sensitive name', async () => {
      const { client } = at;
      const name = await client.script('v = 1');
      const answer = await client.postDefinition({
        Id: fresh('d'),
        Steps: [step('s', name.toUpperCase())],
      });
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toMatchObject([{ code: 'unknown_step_type' }]);
    });
  });

  describe('invalid inputs of EmitLog', () => {
    itFails(at, [
      {
        does: 'an expression that returns an unknown level',
        step: step('s', 'EmitLog', { Message: '"x"', Level: 'data.level' }),
        data: { level: 'Loud' },
        message: /Level/,
      },
    ]);
  });
});
