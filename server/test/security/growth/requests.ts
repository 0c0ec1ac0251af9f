/** One valid request for each operation of the OpenAPI document, and every way in which each of them can grow. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { isJsonObject, type Json } from '../../../src/engine/values/json.js';
import { dimensionsOf, PIECES } from './grow-value.js';

export interface GrownRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Growth {
  readonly name: string;
  /** Throws RangeError if this size cannot be written. */
  readonly grow: (size: number) => GrownRequest;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { example?: Json }>> };
}

const openApi = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** Each member of a definition once. */
const DEFINITION: Json = {
  Id: 'growth',
  Description: 'text',
  DefaultErrorBehavior: 'Retry',
  DefaultErrorRetryInterval: 'PT5S',
  Steps: [
    {
      Id: 'a',
      Name: 'first',
      StepType: 'EmitLog',
      NextStepId: 'b',
      Inputs: { Message: '"total: " + str(data.a + 1)' },
      Outputs: { x: 'step.Message', y: 'data.a["b"]' },
      SelectNextStep: { b: 'data.a > 1' },
      CancelCondition: 'data.get("c", False)',
      ErrorBehavior: 'Retry',
      RetryInterval: 'PT1S',
      MaxRetries: 3,
    },
    {
      Id: 'b',
      StepType: 'Sequence',
      Saga: true,
      Do: [[{ Id: 'c', StepType: 'NoOp' }]],
      CompensateWith: [{ Id: 'd', StepType: 'NoOp' }],
    },
    {
      Id: 'e',
      StepType: 'HttpRequest',
      Inputs: {
        BaseUrl: '"http://x"',
        Headers: { '@A': 'data.a' },
        Body: { list: [{ '@b': '1' }] },
      },
    },
  ],
};

export const WORKFLOW_DATA: Json = {
  text: 'x',
  number: 1.5,
  list: [{ a: 1 }],
  object: { a: { b: 'c' } },
};
const SCRIPT = 'c = a + b\n';
export const BODY_BYTES_MAX = 1024 * 1024;
/** The request line and the headers together may take 16 KiB. */
const HEADER_BYTES_MAX = 12 * 1024;

export function growths(): readonly Growth[] {
  return Object.entries(openApi.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      // It responds as long as the caller listens.
      if (template === '/api/stream') return [];
      const line = { method: method.toUpperCase(), path: template.replace(/\{\w+\}/g, '1') };
      return [...growingLines(line, template, operation), ...growingBodies(line, operation)];
    }),
  );
}

type Line = Pick<GrownRequest, 'method' | 'path'>;

function growingLines(line: Line, template: string, operation: Operation): readonly Growth[] {
  const of = (what: string): string => `${line.method} ${template}: ${what}`;
  const body = operation.requestBody === undefined ? null : '{}';
  const request = (path: string, headers: Readonly<Record<string, string>> = {}): GrownRequest => {
    const length = path.length + Object.values(headers).join('').length;
    if (length > HEADER_BYTES_MAX) throw new RangeError('too long');
    return {
      method: line.method,
      path,
      body,
      headers: { 'content-type': 'application/json', ...headers },
    };
  };
  const growth = (what: string, grow: (size: number) => GrownRequest): Growth => ({
    name: of(what),
    grow,
  });
  const parameters = (operation.parameters ?? []).flatMap((parameter) =>
    ['a', '9', '%20', '-', '%7B', 'e', ':', ','].map((piece) =>
      growth(`'${piece}' in ${parameter.in} ${parameter.name}`, (size) => {
        const value = piece.repeat(size);
        switch (parameter.in) {
          case 'query':
            return request(`${line.path}?${parameter.name}=${value}`);
          case 'header':
            return request(line.path, { [parameter.name]: value });
          case 'path':
            return request(template.replace(`{${parameter.name}}`, value).replace(/\{\w+\}/g, '1'));
        }
      }),
    ),
  );
  return [
    ...parameters,
    growth('query parameters', (size) => request(`${line.path}?${'a=1&'.repeat(size)}`)),
    growth('names of query parameters', (size) =>
      request(`${line.path}?${Array.from({ length: size }, (_, i) => `p${i}`).join('&')}`),
    ),
    growth('media ranges', (size) =>
      request(line.path, { accept: 'a/b;q=0.1, '.repeat(size) + '*/*' }),
    ),
    growth('blanks in Accept', (size) => request(line.path, { accept: `a${' '.repeat(size)}/b` })),
    growth('parameters of the media type', (size) =>
      request(line.path, { 'content-type': `application/json${'; a=b'.repeat(size)}` }),
    ),
    growth('blanks in the bearer token', (size) =>
      request(line.path, { authorization: `Bearer${' '.repeat(size)}x` }),
    ),
  ];
}

function growingBodies(line: Line, { requestBody }: Operation): readonly Growth[] {
  if (requestBody === undefined) return [];
  const of = (what: string): string => `${line.method} ${line.path}: ${what}`;
  const request = (type: string, body: string): GrownRequest => {
    if (body.length > BODY_BYTES_MAX) throw new RangeError('too long');
    return { ...line, headers: { 'content-type': type }, body };
  };
  if ('text/x-python' in requestBody.content) {
    return PIECES.map((piece) => ({
      name: of(`${JSON.stringify(piece)} in the script`),
      grow: (size) => request('text/x-python', SCRIPT + piece.repeat(size)),
    }));
  }
  return dimensionsOf(sampleOf(line, requestBody)).flatMap(({ grow, name }) => [
    {
      name: of(`${name}, JSON`),
      grow: (size) => request('application/json', JSON.stringify(grow(size))),
    },
    { name: of(`${name}, YAML`), grow: (size) => request('application/yaml', yamlOf(grow(size))) },
    {
      name: of(`${name}, YAML in flow style`),
      grow: (size) => request('application/yaml', JSON.stringify(grow(size))),
    },
  ]);
}

function sampleOf({ path }: Line, body: NonNullable<Operation['requestBody']>): Json {
  if (path.startsWith('/api/definition')) return DEFINITION;
  const example = body.content['application/json']?.example ?? null;
  // Free-form values are all of one kind, so that one sample is enough.
  return isJsonObject(example) && 'customer' in example ? WORKFLOW_DATA : example;
}

/** Without aliases, except those that a test adds; long lines are not wrapped. */
function yamlOf(value: Json): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}
