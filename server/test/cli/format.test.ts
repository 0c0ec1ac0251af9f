/**
 * Goal: `fmt` puts first what says what a step is, agrees with Prettier, and loses nothing.
 * Method: small documents with comments; every definition of the examples and of README, which must stay as they are; and
 * random documents, which Prettier must leave as `fmt` has made them, and the other way around.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { format, type Options } from 'prettier';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { fmt } from '../../src/cli/commands/fmt.js';
import { formatJson } from '../../src/cli/format/format-json.js';
import { formatYaml } from '../../src/cli/format/format-yaml.js';
import { projectStyle } from '../../src/cli/format/project-style.js';
import { writeJson } from '../../src/engine/values/exact-json.js';
import { validDocument } from '../engine/definitions/random-documents.js';
import { propertyRuns } from '../support/property-runs.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = path.join(ROOT, 'examples');
const DEFINITIONS = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.yaml$/.test(file) && !file.includes('node_modules'))
  .map((file) => path.join(EXAMPLES, file));

describe('YAML', () => {
  it('puts the identifying members of a step first, and keeps comments and the order of all other members', async () => {
    const text = `# The greeting
steps:
    # First step
    - inputs: {text: "'a: b'", list: [ 1,2 ]}   # quoted
      Extra: 1
      stepType: 'shout'
      id: greet

      # Undo
      compensateWith:
      - stepType: NoOp
        id: undo
id: greeting # its name
`;
    expect(await formatYaml(text, { singleQuote: true })).toBe(`# The greeting
id: greeting # its name
steps:
  # First step
  - id: greet
    stepType: 'shout'
    inputs: { text: "'a: b'", list: [1, 2] } # quoted
    Extra: 1

    # Undo
    compensateWith:
      - id: undo
        stepType: NoOp
`);
  });

  it('keeps members before a long Do that explain it, and those behind it', async () => {
    const text = `Id: a
Steps:
  - Id: all
    StepType: Sequence
    Saga: true
    ErrorBehavior: Terminate
    Do:
      - - Id: b
          StepType: NoOp
    NextStepId: c
  - Id: c
    StepType: NoOp
`;
    expect(await formatYaml(text, null)).toBe(text);
  });

  it('does not move members away from their anchors', async () => {
    const text = 'steps: &s\n  - stepType: NoOp\n    id: a\nother: *s\nid: b\n';
    expect(Object.keys(parse(await formatYaml(text, null)) as object)).toEqual([
      'steps',
      'other',
      'id',
    ]);
  });

  it('keeps all digits, long lines and blocks', async () => {
    const text = `id: a\nsteps:\n  - id: b\n    stepType: NoOp\n    inputs:\n      n: 123456789012345678901234567890\n      v: 1.10\n      long: "${'word '.repeat(60)}end"\n      block: |\n        one\n        two\n`;
    const formatted = await formatYaml(text, null);
    expect(formatted).toContain('n: 123456789012345678901234567890\n');
    expect(formatted).toContain('v: 1.10\n');
    expect(formatted).toContain('      block: |\n        one\n        two\n');
    expect(parse(formatted)).toEqual(parse(text));
  });

  it.each(DEFINITIONS)('leaves %s as it is, in any project', async (file) => {
    const text = readFileSync(file, 'utf8');
    expect(await formatYaml(text, await projectStyle(file))).toBe(text);
    expect(await formatYaml(text, null)).toBe(text);
  });

  it('leaves the definition of README as it is, in the style of Prettier', async () => {
    const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    const [, text = ''] = /```yaml flows\/order\.yaml\n(.*?)```/s.exec(readme) ?? [];
    expect(text).toContain('Id: order');
    expect(await formatYaml(text, null)).toBe(text);
    expect(await formatYaml(text, {})).toBe(text);
  });

  it('names the place of a mistake', async () => {
    await expect(formatYaml('id: a\nsteps: [\n', null)).rejects.toThrow(
      expect.objectContaining({ place: { line: 3, column: 1 } }) as Error,
    );
  });

  it('rejects aliases that multiply', async () => {
    const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 12; n += 1) rows.push(`a${n}: &a${n} [${`*a${n - 1}, `.repeat(9)}]`);
    await expect(formatYaml(rows.join('\n'), null)).rejects.toThrow('aliases');
  });
});

describe('JSON', () => {
  it('puts the identifying members of a step first, and keeps all digits', async () => {
    const text =
      '{"steps":[{"stepType":"NoOp","id":"a","inputs":{"n":12345678901234567890}}],"id":"b"}';
    const formatted = await formatJson(text, null);
    expect(formatted).toMatch(/^\{\n {2}"id": "b",\n {2}"steps": \[\n {4}\{\n {6}"id": "a",\n/);
    expect(formatted).toContain('12345678901234567890');
    expect(await formatJson(formatted, null)).toBe(formatted);
  });

  it('keeps line breaks that Prettier keeps', async () => {
    const text =
      '{\n  "id": "a",\n  "steps": [{ "id": "b", "stepType": "NoOp", "inputs": {} }]\n}\n';
    expect(await formatJson(text, null)).toBe(text);
  });

  it('names a mistake', async () => {
    await expect(formatJson('{', null)).rejects.toThrow('Invalid JSON');
  });
});

describe('a random definition', () => {
  /** Prettier takes a second for the largest ones. */
  const document = validDocument.filter((each) => JSON.stringify(each).length < 3000);
  const STYLES: readonly Options[] = [{}, { singleQuote: true, printWidth: 100 }];
  const layout = fc.record({
    indent: fc.constantFrom(2, 4),
    indentSeq: fc.boolean(),
    singleQuote: fc.boolean(),
    collectionStyle: fc.constantFrom('any', 'flow'),
    flowCollectionPadding: fc.boolean(),
  } as const);

  it('is left by Prettier as fmt has made it, and by fmt as Prettier has', async () => {
    await fc.assert(
      fc.asyncProperty(document, layout, fc.constantFrom(...STYLES), async (random, how, style) => {
        const text = stringify(random, how);
        const once = await formatYaml(text, style);
        expect(await formatYaml(once, style)).toBe(once);
        expect(await formatYaml(once, null)).toBe(once);
        expect(await format(once, { ...style, parser: 'yaml' })).toBe(once);
        const pretty = await format(text, { ...style, parser: 'yaml' });
        expect(await formatYaml(pretty, style)).toBe(pretty);
      }),
      propertyRuns(20),
    );
  });

  it('is left in JSON too', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.constantFrom(undefined, 2), async (random, indent) => {
        const once = await formatJson(writeJson(random, indent), {});
        expect(await formatJson(once, {})).toBe(once);
        expect(await format(once, { parser: 'json' })).toBe(once);
      }),
      propertyRuns(20),
    );
  });
});

describe('a file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fmt-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it('keeps its line endings and its byte order mark', async () => {
    const formatted = '\uFEFFId: a\r\nSteps:\r\n  - Id: b\r\n    StepType: NoOp\r\n';
    const good = write('good.yaml', formatted);
    expect(await fmt([good], { check: true, json: true })).toBe(0);
    const bad = write('bad.yaml', formatted.replace('Id: a', 'Id:   a'));
    expect(await fmt([bad], { check: true, json: true })).toBe(1);
    expect(await fmt([bad], { check: false, json: true })).toBe(0);
    expect(readFileSync(bad, 'utf8')).toBe(formatted);
  });

  it('gets the style that the project has chosen for Prettier', async () => {
    const text = `Id: a\nSteps:\n  - Id: b\n    StepType: NoOp\n    Name: "b"\n    Outputs: { x: data.a + data.b }\n`;
    const file = write('styled.yaml', text);
    write(
      '.prettierrc',
      'singleQuote: true\nprintWidth: 20\noverrides:\n  - files: "*.json"\n    options: { tabWidth: 4 }\n',
    );
    expect(await projectStyle(file)).toEqual({ singleQuote: true, printWidth: 20 });
    expect(await projectStyle(path.join(folder, 'x.json'))).toMatchObject({ tabWidth: 4 });
    expect(await fmt([file], { check: true, json: true })).toBe(1);
    expect(await fmt([file], { check: false, json: true })).toBe(0);
    const options = { singleQuote: true, printWidth: 20, parser: 'yaml' };
    expect(readFileSync(file, 'utf8')).toBe(await format(text, options));
  });
});
