/** The published API description: complete, valid, and consistent with its own examples. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { EVENT_KEY_LENGTH_MAX, nameProblem } from '../../src/engine/values/names.js';

interface Media {
  readonly schema: Record<string, unknown>;
  readonly example?: unknown;
}
type Content = Record<string, Media>;
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Record<string, { readonly content?: Content }>;
}

const text = readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as {
  openapi: string;
  info: { title: string; license: { name: string; identifier: string } };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { examples?: unknown[] }> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'document');

function check(schema: Record<string, unknown>, value: unknown): void {
  const local = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  const validate = ajv.compile(JSON.parse(local) as object);
  expect(validate(value), ajv.errorsText(validate.errors)).toBe(true);
}

describe('openapi.json', () => {
  it('contains every documented call', () => {
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)).toEqual(
      [
        'GET /api/activity',
        'GET /api/activity/{id}',
        'GET /api/activity/{id}/queue',
        'DELETE /api/activity/{id}',
        'POST /api/activity/fail/{token}',
        'POST /api/activity/success/{token}',
        'PUT /api/activity/{token}/heartbeat',
        'GET /api/overview',
        'GET /api/workers',
        'POST /api/bulk',
        'GET /api/bulk',
        'GET /api/bulk/{id}',
        'GET /api/bulk/{id}/runs',
        'DELETE /api/bulk/{id}',
        'POST /api/definition',
        'GET /api/definition',
        'POST /api/definition/validate',
        'GET /api/definition/{id}',
        'PUT /api/definition/{id}/disable',
        'PUT /api/definition/{id}/enable',
        'GET /api/definition/{id}/open-steps',
        'GET /api/schedule',
        'GET /api/definition/{id}/triggers',
        'POST /api/definition/{id}/triggers/{name}/backfill',
        'POST /api/definition/{id}/triggers/{name}/fire',
        'PUT /api/definition/{id}/triggers/{name}/pause',
        'PUT /api/definition/{id}/triggers/{name}/resume',
        'GET /api/definition/{id}/types',
        'GET /api/definition/{id}/versions',
        'GET /api/event',
        'GET /api/event/{id}',
        'GET /api/event/{name}/{key}/waiting',
        'POST /api/event/{name}/{key}',
        'GET /api/info',
        'GET /api/node',
        'GET /api/secret',
        'POST /api/key',
        'GET /api/key',
        'DELETE /api/key/{id}',
        'GET /api/audit',
        'GET /api/limit',
        'PUT /api/limit/{name}',
        'GET /api/limit/{name}',
        'DELETE /api/limit/{name}',
        'GET /api/webhook',
        'PUT /api/webhook/{name}',
        'GET /api/webhook/{name}',
        'DELETE /api/webhook/{name}',
        'POST /hooks/{name}',
        'GET /api/notification',
        'PUT /api/notification/{name}',
        'GET /api/notification/{name}',
        'DELETE /api/notification/{name}',
        'GET /api/notification/{name}/deliveries',
        'POST /api/notification/{name}/deliveries/{id}/redeliver',
        'PUT /api/notification/{name}/pause',
        'PUT /api/notification/{name}/resume',
        'POST /api/notification/{name}/test',
        'GET /api/step',
        'POST /api/step/{id}',
        'GET /api/step/{id}',
        'GET /api/step/{id}/versions',
        'GET /api/stream',
        'GET /api/workflow',
        'POST /api/workflow/{id}',
        'PATCH /api/workflow',
        'GET /api/workflow/count',
        'GET /api/workflow/failures',
        'GET /api/workflow/find',
        'GET /api/workflow/explain',
        'PATCH /api/workflow/{id}/tags',
        'PUT /api/workflow/{id}/priority',
        'GET /api/workflow/{id}',
        'GET /api/workflow/{id}/audit',
        'POST /api/workflow/{id}/restart',
        'PUT /api/workflow/{id}/retry',
        'POST /api/workflow/{id}/steps/{executionId}/fail',
        'POST /api/workflow/{id}/steps/{executionId}/success',
        'DELETE /api/workflow/{id}',
        'GET /api/workflow/{id}/explain',
        'GET /api/workflow/{id}/export',
        'GET /api/workflow/{id}/input',
        'GET /api/workflow/{id}/steps',
        'PUT /api/workflow/{id}/suspend',
        'POST /api/workflow/{id}/modify',
        'POST /api/workflow/{id}/rerun',
        'PUT /api/workflow/{id}/resume',
        'GET /health/live',
        'GET /health/ready',
        'GET /metrics',
        'GET /schemas/definition.json',
        'GET /schemas/limit.json',
        'GET /schemas/test-file.json',
      ].sort(byPath),
    );
  });

  it('has a title, and an id, a tag and a description for each operation', () => {
    expect(document.info.title).toBe('Stepwright API');
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { operationId, summary, description, tags } of operations) {
      expect([summary, description, tags[0]], operationId).not.toContain(undefined);
    }
  });

  it('has no two paths that differ only in the name of a parameter', () => {
    const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it.each(operations)('declares a type for every response of $operationId', ({ responses }) => {
    const problem = { $ref: '#/components/schemas/Problem' };
    expect(responses['default']?.content).toEqual({
      'application/problem+json': { schema: problem },
    });
    for (const [status, { content = {} }] of Object.entries(responses)) {
      if (Number(status) >= 400 && status !== '503') {
        expect(Object.keys(content), status).toEqual(['application/problem+json']);
      }
      for (const { schema } of Object.values(content)) expect(schema, status).not.toEqual({});
    }
  });

  it.each(operations.filter(({ requestBody }) => requestBody !== undefined))(
    'declares JSON and YAML for the body of $operationId',
    ({ operationId, requestBody }) => {
      const types = Object.keys(requestBody!.content);
      const expected =
        operationId === 'putStep' ? ['text/x-python'] : ['application/json', 'application/yaml'];
      expect(types).toEqual(expected);
    },
  );

  it('declares an Idempotency-Key for operations that must not be repeated', () => {
    const ids = operations
      .filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(({ operationId }) => operationId);
    expect(ids.sort()).toEqual([
      'createBulkJob',
      'modifyWorkflow',
      'publishEvent',
      'registerDefinition',
      'rerunWorkflow',
      'restartWorkflow',
      'startWorkflow',
    ]);
  });

  it('has examples in both formats that its schemas accept', () => {
    let count = 0;
    for (const [name, { examples = [] }] of Object.entries(document.components.schemas)) {
      for (const example of examples) check({ $ref: `#/components/schemas/${name}` }, example);
    }
    for (const { requestBody, responses } of operations) {
      for (const { content = {} } of [requestBody ?? {}, ...Object.values(responses)]) {
        const { 'application/json': json, 'application/yaml': yaml } = content;
        if (json?.example === undefined) continue;
        check(json.schema, json.example);
        expect(parse(yaml!.example as string)).toEqual(json.example);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  it('has a license with an identifier, which generators require', () => {
    expect(document.info.license).toEqual({ name: 'MIT', identifier: 'MIT' });
  });

  it('has a format for every number, and for every time', () => {
    const places = schemasIn(document);
    const isOf = (schema: Schema, type: string) => [schema.type].flat().includes(type);
    for (const [place, schema] of places) {
      if (isOf(schema, 'integer')) expect(['int32', 'int64'], place).toContain(schema.format);
      if (isOf(schema, 'number')) expect(schema.format, place).toBe('double');
      // `tokenExpiry` alone has no zone when it says "never".
      const isTime =
        /ISO 8601(?! such as)/.test(schema.description ?? '') && !place.endsWith('/tokenExpiry');
      const [type = schema] = isOf(schema, 'array') ? [schema.items!] : [];
      if (isTime && isOf(type, 'string')) expect(type.format, place).toBe('date-time');
    }
    expect(places.filter(([, { format }]) => format === 'date-time').length).toBeGreaterThan(60);
  });

  it('has no shape that makes a client that does not compile', () => {
    for (const [place, { anyOf = [] }] of schemasIn(document)) {
      const choices = anyOf.filter(({ type }) => type !== 'null');
      const compound = choices.filter(({ type }) => type === 'array' || type === 'object');
      if (choices.length > 1) expect(compound, place).toEqual([]);
    }
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !/^[A-Za-z]+$/.test(name))).toEqual([]);
    expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  });

  it('has a name for each body that has alternatives, because generators invent types for others', () => {
    const isUnion = ({ schema }: Media): boolean => 'anyOf' in schema || 'oneOf' in schema;
    const unnamed = operations
      .filter(({ responses, requestBody }) =>
        [...Object.values(responses), requestBody].some((body) =>
          Object.values(body?.content ?? {}).some(isUnion),
        ),
      )
      .map(({ operationId }) => operationId);
    expect(unnamed).toEqual([]);
  });

  it('has as many parameters for a start as the Java example passes', () => {
    const page = readFileSync(new URL('../../../docs/other-languages.md', import.meta.url), 'utf8');
    const passed = /startWorkflow\((?<list>"payment", [^)]*)\)/.exec(page)?.groups?.['list'];
    const start = operations.find(({ operationId }) => operationId === 'startWorkflow');
    expect(passed?.split(/,\s+/)).toHaveLength((start?.parameters.length ?? 0) + 1);
  });

  it('says which names in paths the server refuses', () => {
    const names = operations.flatMap(({ parameters }) =>
      parameters.filter(({ in: place, name }) => place === 'path' && name !== 'token'),
    );
    const texts = names.filter(({ schema }) => schema.type === 'string');
    expect(texts.length).toBeGreaterThan(30);
    for (const { name, schema } of texts) {
      const validate = ajv.compile(schema as object);
      const longest = name === 'key' ? EVENT_KEY_LENGTH_MAX : 200;
      for (const text of [
        'a',
        'é 😀',
        'x'.repeat(longest),
        'x'.repeat(longest + 1),
        '',
        'a\u0000',
        '\u009f',
      ]) {
        expect(validate(text), `${name}: ${text}`).toBe(nameProblem(text, longest) === null);
      }
    }
  });

  it('has a schema of its own for a definition as it was posted', () => {
    const { content = {} } = document.paths['/api/definition/{id}']!['get']!.responses['200']!;
    const posted = { Id: 'greeting', STEPS: [{ Id: 'a', stepType: 'NoOp' }] };
    check(content['application/yaml']!.schema, posted);
    expect(content['application/json']!.schema).toEqual({
      $ref: '#/components/schemas/DefinitionDocument',
    });
  });

  it('contains no traces of the generator', () => {
    expect(text).not.toContain('"x-');
    expect(text).not.toContain('nullable');
    expect(text.endsWith('}\n')).toBe(true);
  });
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

/** Everything that may be a schema, by its place. A parameter has the description, its schema the format. */
function schemasIn(value: unknown, place = ''): (readonly [place: string, schema: Schema])[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    // Examples and names of members are no schemas.
    name.startsWith('example') ? [] : schemasIn(member, `${place}/${name}`),
  );
  const { schema, description } = value as { schema?: Schema; description?: string };
  const own = { ...(value as Schema), ...(schema && { ...schema, description }) };
  return [[place, own], ...inside];
}

/** In the order of the document: by path, and within a path as the controller lists its methods. */
function byPath(a: string, b: string): number {
  const [pathA, pathB] = [a.split(' ')[1]!, b.split(' ')[1]!];
  return pathA < pathB ? -1 : pathA > pathB ? 1 : 0;
}
