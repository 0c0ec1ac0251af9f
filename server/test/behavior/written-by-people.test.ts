/** Mistakes that people make in definitions: each answer says where it is, and what to write instead. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { DefinitionCheck, DefinitionDocument } from '../../src/api/wire/models/definition.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute, step } from './support/steps.js';

everyStore(
  'mistakes of people',
  (at) => {
    const validate = (text: string) =>
      at.client.call<DefinitionCheck>('POST', '/api/definition/validate', {
        body: text,
        type: 'application/yaml',
      });
    const withOutput = (expression: string) =>
      `Id: x\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs:\n      y: ${JSON.stringify(expression)}\n`;
    const output = { pointer: '/Steps/0/Outputs/y', line: 6, column: 10 };

    it.each([
      ['data.a && !data.b', 'python_syntax', 'data.a and not data.b'],
      ['data.a || data.b', 'python_syntax', 'data.a or data.b'],
      ['data.n > 5 ? "many" : "few"', 'python_syntax', '"many" if data.n > 5 else "few"'],
      ['data.n => 5', 'python_syntax', 'data.n >= 5'],
      ['data.class', 'python_syntax', 'data["class"]'],
      ['Hello {{ data.name }}', 'python_syntax', "f'Hello {data.name}'"],
      ['${data.x}', 'python_syntax', 'data.x'],
    ])('refuses %s, and suggests the Python', async (expression, code, suggestion) => {
      const { body } = await validate(withOutput(expression));
      expect(body.errors).toMatchObject([{ code, suggestion, ...output }]);
      expect(body.errors[0]?.message).toContain(`Write ${JSON.stringify(suggestion)}.`);
      const better = await validate(withOutput(suggestion));
      expect(better.body).toMatchObject({ valid: true, errors: [], warnings: [] });
      const posted = await at.client.call<Problem>('POST', '/api/definition', {
        body: withOutput(expression),
        type: 'application/yaml',
      });
      expect(posted.body).toMatchObject({ status: 400, errors: [{ code, suggestion, ...output }] });
    });

    it.each([
      ['{{ data.x }}', 'foreign_syntax', 'data.x'],
      ['"Hello {{ data.x }}"', 'foreign_syntax', "f'Hello {data.x}'"],
      ['data.x.toUpperCase()', 'foreign_syntax', 'data.x.upper()'],
      ['data.x == null', 'unknown_name', 'data.x is None'],
      ['data.x == true', 'unknown_name', 'data.x == True'],
      ['DateTime.Now', 'unknown_name', 'datetime.now(timezone.utc)'],
      ['data.order-id', 'foreign_syntax', 'data["order-id"]'],
      ['data.order-number', 'unknown_name', 'data["order-number"]'],
    ])('warns about %s, and suggests the Python', async (expression, code, suggestion) => {
      const { body } = await validate(withOutput(expression));
      expect(body).toMatchObject({ valid: true, warnings: [{ code, suggestion, ...output }] });
      const better = await validate(withOutput(suggestion));
      expect(better.body).toMatchObject({ valid: true, warnings: [] });
    });

    it.each([
      ['data.list.length > 1', 'In Python, ".length" is written "len(…)"'],
      ['data.list.indexOf(1)', 'In Python, ".indexOf(x)" is written ".index(x)"'],
      ['JSON.parse(data.text)', 'In Python, "JSON.parse" is written "json.loads"'],
    ])('suggests a correction when %s has failed', async (expression, hint) => {
      const steps = [compute('a', { y: expression }, { ErrorBehavior: 'Terminate' })];
      const { lastError } = await at.client.run(steps, { list: [1], text: '{}' });
      expect(lastError?.message).toContain(` in expression '${expression}'. ${hint}`);
    });

    it.each([
      ['{{ data.x }}', '@note: data.x'],
      ['Hello ${data.x}', "@note: f'Hello {data.x}'"],
    ])('warns about the template %s in a map', async (text, better) => {
      const { body } = await validate(
        `Id: x\nSteps:\n  - Id: a\n    StepType: HttpRequest\n    Inputs:\n      BaseUrl: '"http://x"'\n      Body:\n        note: ${JSON.stringify(text)}\n`,
      );
      expect(body.warnings).toMatchObject([
        { code: 'missing_at_sign', suggestion: '@note', line: 8, column: 15 },
      ]);
      expect(body.warnings[0]?.message).toContain(JSON.stringify(better));
    });

    it('accepts a number as written in place of a text, and warns', async () => {
      const id = fresh('v');
      const text = `Id: ${id}\nSteps:\n  - Id: 1.10\n    StepType: NoOp\n    NextStepId: 1.1\n  - Id: 1.1\n    StepType: NoOp\n  - Id: 010\n    StepType: NoOp\n`;
      const { body } = await validate(text);
      expect(body).toMatchObject({ valid: true, errors: [] });
      expect(body.warnings).toMatchObject([
        {
          code: 'unquoted_number',
          pointer: '/Steps/0/Id',
          line: 3,
          column: 9,
          suggestion: '"1.10"',
        },
        { code: 'unreachable_step' },
        { code: 'unquoted_number', pointer: '/Steps/2/Id', suggestion: '"010"' },
      ]);
      const posted = { body: text, type: 'application/yaml' };
      expect((await at.client.call('POST', '/api/definition', posted)).status).toBe(201);
      const stored = await at.client.get<DefinitionDocument>(`/api/definition/${id}`);
      expect(stored.body.steps.map((step) => step['id'])).toEqual(['1.10', '1.1', '010']);
    });

    it('accepts a number in JSON as written, too', async () => {
      const body = '{"Id": 1.10, "Steps": [{"Id": 7, "StepType": "NoOp"}]}';
      const options = { body, type: 'application/json' };
      const path = '/api/definition/validate';
      const checked = await at.client.call<DefinitionCheck>('POST', path, options);
      expect(checked.body.warnings).toMatchObject([{ code: 'unquoted_number', pointer: '/Id' }]);
      const posted = await at.client.call('POST', '/api/definition', options);
      expect(posted.body).toMatchObject({ id: '1.10' });
    });

    it('merges the steps of a merge key, and reports positions in them', async () => {
      const { body } = await validate(
        `Id: x\nDefaults: &d\n  StepType: NoOp\n  Outputs: { y: "1 +" }\nSteps:\n  - <<: *d\n    Id: a\n`,
      );
      expect(body.warnings).toMatchObject([{ code: 'unknown_member', pointer: '/Defaults' }]);
      expect(body.errors).toMatchObject([
        { code: 'python_syntax', pointer: '/Steps/0/Outputs/y', line: 4, column: 17 },
      ]);
    });

    it.each([
      ['WaitFor', { EventName: '".."', EventKey: '"k"' }, 'EventName'],
      ['WaitFor', { EventName: '"n"', EventKey: '"."' }, 'EventKey'],
      ['Activity', { ActivityName: "'..'" }, 'ActivityName'],
    ])('refuses a name of %s that no client can put into a URL', async (type, inputs, input) => {
      const { body, status } = await at.client.postDefinition({
        Id: fresh('dots'),
        Steps: [step('a', type, inputs)],
      });
      expect(status).toBe(400);
      expect((body as Partial<Problem>).errors).toMatchObject([{ code: 'invalid_value' }]);
      expect(JSON.stringify(body)).toContain(input);
      expect(JSON.stringify(body)).toContain('no client can put into a URL');
    });

    it('fails a step that computes such a name, instead of waiting forever', async () => {
      const { client } = at;
      const id = await client.define([
        step(
          'a',
          'WaitFor',
          { EventName: '"n"', EventKey: 'data.key' },
          { ErrorBehavior: 'Terminate' },
        ),
      ]);
      const ended = await client.ended(await client.start(id, { key: '..' }));
      expect(ended.lastError?.message).toContain('no client can put into a URL');
    });

    it('sorts problems by line', async () => {
      const { body } = await validate(
        `Id: x\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs: { y: "1 +" }\n    NextStepId: gone\n  - Id: a\n    StepType: Nope\n`,
      );
      const lines = body.errors.map(({ line }) => line);
      expect(lines).toEqual([5, 6, 7, 8]);
    });

    it('gathers the results of a parallel Foreach as documented', async () => {
      const { client } = at;
      const reference = readFileSync(
        new URL('../../../docs/definitions.md', import.meta.url),
        'utf8',
      );
      const [text = ''] = /^Id: price-lines\n.*?(?=^```$)/ms.exec(reference) ?? [];
      const posted = { body: text, type: 'application/yaml' };
      expect((await client.call('POST', '/api/definition', posted)).status).toBe(201);
      const lines = Array.from({ length: 40 }, (_, n) => ({ sku: `s${n}`, count: n }));
      const ended = await client.ended(await client.start('price-lines', { lines }));
      const prices = Object.fromEntries(lines.map(({ count, sku }) => [sku, count * 12.5]));
      expect(ended.data).toMatchObject({ prices, total: 780 * 12.5 });
    });

    it('explains the syntax of another language in a script', async () => {
      const answer = await at.client.call<Problem>('POST', '/api/step/mistaken-script', {
        body: 'x = 1\ny = x && 2\n',
        type: 'text/x-python',
      });
      expect(answer.body).toMatchObject({ status: 400, code: 'invalid_script', line: 2 });
      expect(answer.body.detail).toContain('In Python, "&&" is written "and".');
    });
  },
  { stores: ['memory'], dialects: 'alternating' },
);
