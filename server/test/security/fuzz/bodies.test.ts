/** S-23b: bytes that are nearly JSON, YAML or Python, sent to every call with a body. */
import { readFileSync } from 'node:fs';
import { describe } from 'vitest';
import { itSurvives, probe, serverToFuzz, type Chance } from './fuzz.js';

interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: { content: Record<string, unknown> } }>>>
  >;
}

const openApi = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

const CALLS = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) =>
    requestBody === undefined
      ? []
      : [{ method: method.toUpperCase(), path, types: Object.keys(requestBody.content) }],
  ),
);

const SEEDS = [
  '{"id":"d","steps":[{"id":"a","stepType":"NoOp","outputs":{"x":"data.y + 1"}}]}',
  'Id: d\nSteps:\n- Id: a\n  StepType: EmitLog\n  Inputs:\n    Message: "\'x\'"\n- &b {Id: b, StepType: NoOp}\n',
  '{"a":[1,2.5e3,true,null,"\\u00e9\\ud83d\\ude00"],"b":{"c":{}}}',
  'a: &x [1, 2]\nb: *x\nc: |\n  text\n  more\nd: >-\n  folded\n? complex\n: value\n',
  'x = 1\nfor i in range(3):\n    x += i\nprint(f"{x!r}")\n',
  '"text"',
  '[]',
];

const TOKENS = [
  '{', '}', '[', ']', ':', ',', '"', '\\', '\\u', '\\ud800', '- ', '? ', '*x', '&x ', '<<: ', '!!js/function ', '!!binary ',
  '---\n', '...\n', '%YAML 1.3\n', '|\n', '>\n', '\t', '\r', '\u0000', '\uFEFF', '\u2028', '1e999', '-0', '0x', 'NaN', '.inf',
  '__proto__', 'null', '~', '{"a":'.repeat(200), '['.repeat(2000), '#', "'", '"""', '\ud83d',
]; // prettier-ignore

function mutateBytes(bytes: Buffer, chance: Chance): Buffer {
  const at = chance.int(bytes.length + 1);
  const length = chance.int(12);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (chance.int(6)) {
    case 0:
      return Buffer.concat([head, Buffer.from(chance.pick(TOKENS)), tail]);
    case 1:
      return Buffer.concat([head, tail.subarray(length)]);
    case 2:
      return Buffer.concat([head, Buffer.from([chance.int(256)]), tail.subarray(1)]);
    case 3:
      return Buffer.concat([head, tail.subarray(0, length), tail]);
    case 4:
      return head;
    default:
      return Buffer.concat([head, Buffer.from(chance.pick(SEEDS)), tail]);
  }
}

describe.each(['memory', 'sqlite'] as const)('bodies, with the store in %s', (store) => {
  const at = serverToFuzz(store, {
    STEPS_WITHOUT_WAIT_MAX: '300',
    WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
  });

  const round = async (chance: Chance): Promise<void> => {
    const { method, path, types } = chance.pick(CALLS);
    let body: Buffer = Buffer.from(chance.pick(SEEDS));
    for (let times = chance.int(8); times > 0; times -= 1) body = mutateBytes(body, chance);
    const type = chance.once(10)
      ? chance.pick([
          '',
          'text/plain',
          'application/json; charset=latin1',
          'a/b+json',
          ';;',
          'text/x-python',
        ])
      : chance.pick(types);
    await probe(at.client, [method, path.replace(/\{\w+\}/g, 'd')], { body, type });
  };

  itSurvives('bytes at every body', round, { shares: 2, givesMemoryBack: store === 'sqlite' });
});
