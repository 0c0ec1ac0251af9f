/** Steps that get a secret in each of their inputs, and in each way to fail. The lists of types and inputs are those of the server. */
import {
  BUILT_IN_STEP_TYPES,
  type BuiltInStepType,
} from '../../../src/engine/model/step-type-names.js';
import { builtInStepType } from '../../../src/engine/definitions/step-types.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { compute, step } from '../../behavior/support/steps.js';

export interface SecretCase {
  readonly name: string;
  readonly steps: readonly JsonObject[];
  readonly data?: JsonObject;
}

const IN_TEXT = '"x" + secrets.TOKEN';
const AS_MEMBERS = { '@a': 'secrets.TOKEN', '@b': 'f"<{secrets.KEY}>"', c: 'plain' };
const ENDED = { ErrorBehavior: 'Terminate' };

/** The inputs that a step of this type needs, and those that make it end soon. */
function inputsOf(callee: string): Readonly<Record<BuiltInStepType, JsonObject>> {
  return {
    EmitLog: { Message: '"m"' },
    NoOp: {},
    Decide: {},
    If: { Condition: 'False' },
    While: { Condition: 'False' },
    Foreach: { Collection: '[]' },
    Parallel: {},
    Sequence: {},
    Delay: { Period: '0' },
    Schedule: { Interval: '0' },
    Recur: { Interval: '1', StopCondition: 'True' },
    WaitFor: { EventName: '"leaks"', EventKey: '"1"', Timeout: '0.1' },
    Activity: { ActivityName: '"nobody"', Timeout: '0.1' },
    HttpRequest: { BaseUrl: `"${callee}"`, Method: '"POST"', Timeout: '5' },
    SubWorkflow: { DefinitionId: '"leaks-child"' },
    Fail: { Message: '"m"' },
  };
}

function withDo(type: BuiltInStepType): JsonObject {
  return builtInStepType(type).runsDo ? { Do: [[compute('inside', { x: '1' })]] } : {};
}

/** Of each built-in type, a step for each of its inputs, whose value is a secret. */
function everyInput(callee: string): readonly SecretCase[] {
  const inputs = inputsOf(callee);
  return BUILT_IN_STEP_TYPES.flatMap((type) =>
    builtInStepType(type).inputs.flatMap(({ kind, name }) => {
      const values = kind === 'object' || kind === 'any' ? [AS_MEMBERS, IN_TEXT] : [IN_TEXT];
      return values.map((value, index) => ({
        name: `${type}.${name} ${index}`,
        steps: [step('s', type, { ...inputs[type], [name]: value }, { ...withDo(type), ...ENDED })],
      }));
    }),
  );
}

/** Where no secret belongs. */
function elsewhere(callee: string): readonly SecretCase[] {
  const inputs = inputsOf(callee);
  return [
    ...BUILT_IN_STEP_TYPES.map((type) => ({
      name: `Outputs of ${type}`,
      steps: [
        step('s', type, inputs[type], {
          ...withDo(type),
          Outputs: { x: 'secrets.TOKEN' },
          ...ENDED,
        }),
      ],
    })),
    {
      name: 'SelectNextStep',
      steps: [
        step('s', 'Decide', {}, { SelectNextStep: { t: 'secrets.TOKEN != ""' }, ...ENDED }),
        compute('t', { x: '1' }),
      ],
    },
    {
      name: 'CancelCondition',
      steps: [
        step('s', 'Delay', { Period: '0.1' }, { CancelCondition: 'secrets.TOKEN != ""', ...ENDED }),
      ],
    },
  ];
}

/** Calls that fail, each in its own way, after they have got the values. */
function failures(callee: string): readonly SecretCase[] {
  const all = {
    Method: '"POST"',
    Headers: { '@Authorization': '"Bearer " + secrets.TOKEN' },
    Parameters: { '@key': 'secrets.TOKEN' },
    Body: AS_MEMBERS,
    Timeout: '1',
  };
  const call = (name: string, path: string, more: JsonObject = {}, rest: JsonObject = ENDED) => ({
    name: `HttpRequest: ${name}`,
    steps: [
      step(
        's',
        'HttpRequest',
        { BaseUrl: `"${callee}${path}"`, ...all, ...more },
        {
          Outputs: { all: '[step.ResponseBody, step.ResponseHeaders, step.ErrorMessage]' },
          ...rest,
        },
      ),
    ],
  });
  const wanted = { SucceedOn: '["2xx"]' };
  return [
    call('echo', '/echo'),
    call('echo in HTML', '/html'),
    call('refused by the callee', '/fail', wanted),
    call('refused without SucceedOn', '/fail'),
    call('bad request', '/bad', wanted),
    call('hangs', '/hang', { ...wanted, Timeout: '0.2' }),
    call('broken response', '/broken', wanted),
    call('no HTTP', '/garbage', wanted),
    call('endless redirects', '/redirect', wanted),
    call('redirect to another protocol', '/elsewhere', wanted),
    call('no such host', '', { BaseUrl: '"http://" + secrets.PLACE + ".invalid"', ...wanted }),
    call('no such port', '', { BaseUrl: '"http://127.0.0.1:1/" + secrets.TOKEN', ...wanted }),
    call('refused address', '', { BaseUrl: '"http://169.254.169.254/" + secrets.TOKEN' }),
    call('Basic', '/fail', {
      Headers: '{}',
      Username: 'secrets.PLACE',
      Password: 'secrets.TOKEN',
      ...wanted,
    }),
    call('retried', '/fail', wanted, {
      ErrorBehavior: 'Retry',
      MaxRetries: 1,
      RetryInterval: '00:00:00.01',
      OnRetriesExhausted: 'Terminate',
    }),
    call('suspended', '/fail', wanted, { ErrorBehavior: 'Suspend' }),
    {
      name: 'compensation',
      steps: [
        step(
          'saga',
          'Sequence',
          {},
          {
            Saga: true,
            Do: [
              [
                {
                  ...step('s', 'HttpRequest', { BaseUrl: `"${callee}/echo"`, ...all }),
                  CompensateWith: [
                    step('undo', 'HttpRequest', { BaseUrl: `"${callee}/echo"`, ...all }),
                  ],
                  NextStepId: 'f',
                },
                step(
                  'f',
                  'HttpRequest',
                  { BaseUrl: `"${callee}/fail"`, ...all, ...wanted },
                  { ErrorBehavior: 'Compensate' },
                ),
              ],
            ],
          },
        ),
      ],
    },
    {
      name: 'missing',
      steps: [step('s', 'HttpRequest', { BaseUrl: 'secrets.NOWHERE + secrets.TOKEN' }, ENDED)],
    },
    {
      name: 'chosen by data',
      steps: [step('s', 'HttpRequest', { BaseUrl: 'secrets[data.n]' }, ENDED)],
      data: { n: 'TOKEN' },
    },
  ];
}

/** What scripts do with a value: each is the end of a script with the variables `token` and `key`. */
const SCRIPTS: Readonly<Record<string, string>> = {
  returns: 'a = token\nb = {token: [key]}\nc = token.encode().hex()\n',
  prints: 'print(token, [token], key)\nimport json\nprint(json.dumps([json.dumps(token)]))\n',
  raises: 'raise ValueError(token)\n',
  'raises a key': 'raise KeyError(token + key)\n',
  'raises without retry': 'raise NonRetryableError(token)\n',
  'raises much': 'raise ValueError("x" * 1990 + token)\n',
  'prints much': 'print("x" * 65525 + token)\n',
  'in another error':
    'try:\n    raise ValueError(token)\nexcept ValueError as error:\n    raise TypeError(repr(error)) from error\n',
  'cannot be stored': 'a = {token, key}\n',
  encodes:
    'import base64\nfor n in range(3):\n    print(base64.b64encode(b"a" * n + token.encode()).decode())\na = base64.b64encode((token + key).encode()).decode()\n',
};

/** @param script stores a script and returns the name of its step type */
export async function secretCases(
  callee: string,
  script: (source: string) => Promise<string>,
): Promise<readonly SecretCase[]> {
  const scripts: SecretCase[] = [];
  for (const [name, source] of Object.entries(SCRIPTS)) {
    const inputs = { token: 'secrets.TOKEN', key: 'secrets.KEY', other: AS_MEMBERS };
    const type = await script(source);
    scripts.push({ name: `a script that ${name}`, steps: [step('s', type, inputs, ENDED)] });
  }
  return [...everyInput(callee), ...elsewhere(callee), ...failures(callee), ...scripts];
}
