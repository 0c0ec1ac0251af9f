/**
 * Goal: the types of a definition are correct TypeScript that finds wrong fields, and no text gets out of a comment or a string
 * (TT1, TT2).
 * Method: compiles generated modules, and programs that use them with the SDK.
 */
import { describe, expect, it } from 'vitest';
import ts from 'typescript';
import { typescriptModule } from '../../../src/engine/definitions/typescript-module.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { documentWith, parseValid } from './documents.js';

const COMPILING_MS_MAX = 120_000;
const ROOT = new URL('../../../../', import.meta.url).pathname;
/** The programs are beside the sources of the SDK, so that the compiler finds its packages. */
const FOLDER = `${ROOT}sdk/src/`;

function moduleOf(document: JsonObject): string {
  return typescriptModule(
    parseValid({ Steps: [{ Id: 'a', StepType: 'NoOp' }], Id: 'w', ...document }),
  );
}

/** The messages of the compiler, each with the name of its file and its line. */
function compile(files: Readonly<Record<string, string>>): readonly string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  };
  const own = new Map(Object.entries(files).map(([name, text]) => [FOLDER + name, text]));
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (name) => own.has(name) || fileExists(name);
  host.getSourceFile = (name, ...rest) => {
    const text = own.get(name);
    return text === undefined
      ? getSourceFile(name, ...rest)
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...own.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText, start }) => {
    const line = file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
    const name = file?.fileName.replace(FOLDER, '') ?? '';
    return `${name}:${line + 1} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const ORDER = {
  ...documentWith(
    {
      Id: 'charge',
      StepType: 'Activity',
      Inputs: {
        ActivityName: "'charge-card'",
        Parameters: { '@amount': 'data.total', currency: 'EUR', tries: 3, deep: { flags: [true] } },
      },
      Outputs: { receipt: 'step.Result', total: '1' },
      NextStepId: 'mail',
    },
    { Id: 'mail', StepType: 'Activity', Inputs: { ActivityName: '"mail"' }, NextStepId: 'any' },
    { Id: 'any', StepType: 'Activity', Inputs: { ActivityName: 'data.id' } },
  ),
  Description: 'Takes orders',
  Input: {
    type: 'object',
    required: ['id', 'items'],
    properties: {
      id: { type: 'string', description: 'Order number' },
      total: { type: ['number', 'null'] },
      priority: { enum: ['low', 'high', 1], default: 'low' },
      items: { type: 'array', items: { $ref: '#/$defs/order item' } },
      parent: { $ref: '#' },
      'x-y': { anyOf: [{ type: 'boolean' }, { type: 'array', prefixItems: [{ type: 'string' }] }] },
    },
    $defs: { 'order item': { required: ['sku'], properties: { sku: { type: 'string' } } } },
  },
};

describe('typescriptModule', () => {
  it('writes the start data, the data and the activities', () => {
    expect(moduleOf(ORDER)).toMatchInlineSnapshot(`
      "/** Types of the definition "test", version 0. Takes orders */

      export type Input = {
        /** Order number */
        id: string;
        total?: number | null;
        priority?: "low" | "high" | 1;
        items: OrderItem[];
        parent?: Input;
        "x-y"?: boolean | [string?, ...unknown[]];
      };

      export type OrderItem = {
        sku: string;
      };

      /** The data of a run: the start data, and the fields that Outputs add. */
      export type Data = Input & {
        receipt?: unknown;
      };

      /** The activities by name, each with the type of its parameters. */
      export type Activities = {
        "charge-card": {
          amount: unknown;
          currency: string;
          tries: number;
          deep: {
            flags: (boolean)[];
          };
        };
        mail: null;
      };
      "
    `);
  });

  it('gives any data to a definition without Input', () => {
    const text = moduleOf({});
    expect(text).toContain('export type Input = {\n  [name: string]: unknown;\n};');
    expect(moduleOf({ Input: false })).toContain('export type Input = never;');
  });

  it(
    'finds wrong fields when it is used with the SDK',
    () => {
      const use = `
        import { activity, createClient, defineActivities } from './index.js';
        import type { Activities, Data, Input } from './order.js';
        const client = createClient({ baseUrl: 'http://127.0.0.1' });
        export const activities = defineActivities({
          'charge-card': activity<Activities['charge-card'], { receipt: string }>(),
        });
        export async function run(): Promise<void> {
          const run = await client.workflows.start<Data, Input>('order', { id: 'A-1', items: [{ sku: 'x' }] });
          const data = await run.result();
          const receipt: unknown = data.receipt;
          const amount = (parameters: Activities['charge-card']): [unknown, string, number, boolean[]] =>
            [parameters.amount, parameters.currency, parameters.tries, parameters.deep.flags];
          console.log(receipt, data.items[0]?.sku.length, amount);
        }
        `;
      const wrong = [
        "await client.workflows.start<Data, Input>('order', { id: 'A-1', items: [], extra: 1 });",
        "await client.workflows.start<Data, Input>('order', { items: [] });",
        "await client.workflows.start<Data, Input>('order', { id: 5, items: [] });",
        "await client.workflows.start<Data, Input>('order', { id: '5', items: [{}] });",
        "await client.workflows.start<Data, Input>('order', { id: '5', items: [], priority: 'mid' });",
        "await client.workflows.start<Data, Input>('order');",
        "((parameters: Activities['charge-card']) => parameters.amuont)",
        "((parameters: Activities['fax']) => parameters)",
      ];
      const head = `
        import { createClient } from './index.js';
        import type { Activities, Data, Input } from './order.js';
        const client = createClient({ baseUrl: 'http://127.0.0.1' });
        export const used: Activities | null = null;
        `;
      const mistakes = wrong.map((line) => `// @ts-expect-error it is wrong\n${line}`);
      const problems = compile({
        'order.ts': moduleOf(ORDER),
        'use.ts': use,
        'wrong.ts': `${head}\n${mistakes.join('\n')}\nexport {};`,
      });
      expect(problems).toEqual([]);
    },
    COMPILING_MS_MAX,
  );

  it(
    'keeps every text inside its comment or string',
    () => {
      const hostile = '*/ export const broken: number = ""; /* \u2028`${1}\\"\'\n// \u202e */';
      const text = moduleOf({
        Id: hostile.replace('\n', ''),
        Description: hostile,
        Input: {
          title: hostile,
          description: hostile,
          required: [hostile, '__proto__', '1a'],
          properties: {
            [hostile]: { description: hostile, const: hostile },
            ['__proto__']: { enum: [hostile, { a: 1 }] },
            constructor: { $ref: `#/$defs/${encodeURIComponent('*~1')}` },
            circle: { $ref: '#/$defs/Input' },
          },
          $defs: {
            '*/': { type: 'string', $comment: hostile },
            Input: { anyOf: [{ $ref: '#/$defs/Data' }] },
            Data: { allOf: [{ $ref: '#/$defs/Input' }] },
          },
        },
        Steps: [
          {
            Id: 'a',
            StepType: 'Activity',
            Inputs: { ActivityName: `"*/ \`\${1}"`, Parameters: { [hostile]: hostile } },
            Outputs: { [hostile]: '1', "a'b": '2' },
          },
        ],
      });
      expect(text).toMatch(/^[ -~\n]*$/);
      expect(compile({ 'hostile.ts': text })).toEqual([]);
      const source = ts.createSourceFile('hostile.ts', text, ts.ScriptTarget.ES2023);
      const names = source.statements.map((statement) =>
        ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)
          ? statement.name.text
          : 'something else',
      );
      expect(names).toEqual(['Input', 'Type1', 'Input2', 'Data2', 'Data', 'Activities']);
    },
    COMPILING_MS_MAX,
  );

  it('stays short for references to references', () => {
    const $defs: JsonObject = {};
    for (let level = 0; level < 500; level += 1) {
      const $ref = `#/$defs/n${level + 1}`;
      $defs[`n${level}`] = { allOf: [{ $ref }, { properties: { a: { $ref }, b: { $ref } } }] };
    }
    const text = moduleOf({ Input: { $ref: '#/$defs/n0', $defs: { ...$defs, n500: {} } } });
    expect(text.length).toBeLessThan(60_000);
  });
});
