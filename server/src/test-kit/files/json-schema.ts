/**
 * The JSON Schema of files of tests, for editors. It is generated from the tables that the reader uses; a test checks that
 * it accepts everything that the reader accepts.
 */
import { caseless, hasMember, objectOf } from '../../engine/definitions/caseless-schema.js';
import type { JsonObject } from '../../engine/values/json.js';
import {
  ACTION_MEMBERS,
  ANSWER_MEMBERS,
  CASES_MAX,
  CASE_MEMBERS,
  EVENT_MEMBERS,
  EXPECT_MEMBERS,
  FILE_MEMBERS,
  OUTCOMES,
  RESPONSE_MEMBERS,
  STATUSES,
} from './members.js';

const ANY: JsonObject = {};
const TEXT: JsonObject = { type: ['string', 'number', 'null'] };
const REQUIRED_TEXT: JsonObject = { type: ['string', 'number'] };
const TEXTS: JsonObject = {
  type: ['array', 'null'],
  items: { type: ['string', 'number'] },
};
const FLAG: JsonObject = { type: ['boolean', 'null'] };
const MAP: JsonObject = { type: ['object', 'null'] };
const TEXT_MAP: JsonObject = { ...MAP, additionalProperties: { type: 'string' } };

const ANSWER = mapOf(
  { Result: ANY, Response: reference('response'), Fail: ANY, Retryable: FLAG, After: TEXT },
  ANSWER_MEMBERS,
);
const RESPONSE = mapOf(
  { Status: { type: ['integer', 'null'] }, Body: ANY, Headers: MAP },
  RESPONSE_MEMBERS,
);
const EXPECTATION = mapOf(
  {
    Status: choice(STATUSES),
    Outcome: choice(OUTCOMES),
    Data: MAP,
    Reference: TEXT,
    Tags: TEXT_MAP,
    Runs: { type: ['integer', 'null'], minimum: 0 },
    Error: MAP,
    Calls: { ...MAP, additionalProperties: { type: 'integer', minimum: 0 } },
    Steps: TEXTS,
    Waiting: TEXTS,
    Snapshot: FLAG,
  },
  EXPECT_MEMBERS,
);
const EVENT = {
  ...mapOf({ Name: REQUIRED_TEXT, Key: TEXT, Data: ANY }, EVENT_MEMBERS),
  allOf: [hasMember('Name')],
};
const ACTION = mapOf(
  {
    Advance: { type: ['string', 'number'] },
    Publish: reference('event'),
    Expect: reference('expectation'),
  },
  ACTION_MEMBERS,
);
const CASE = {
  ...mapOf(
    {
      Name: REQUIRED_TEXT,
      Start: MAP,
      Trigger: TEXT,
      Reference: TEXT,
      Tags: TEXT_MAP,
      Now: TEXT,
      Seed: { type: ['integer', 'null'] },
      Environment: TEXT_MAP,
      Secrets: { ...MAP, additionalProperties: { type: ['string', 'null'] } },
      Mocks: { ...MAP, additionalProperties: reference('mock') },
      Then: { type: ['array', 'null'], items: reference('action') },
      Expect: reference('expectation'),
    },
    CASE_MEMBERS,
  ),
  allOf: [hasMember('Name')],
};

export function testFileJsonSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tests of a Stepwright definition',
    description: 'Member names are accepted in any casing.',
    ...mapOf(
      {
        Definition: REQUIRED_TEXT,
        Uses: TEXTS,
        Cases: { type: 'array', minItems: 1, maxItems: CASES_MAX, items: reference('case') },
      },
      FILE_MEMBERS,
    ),
    allOf: [hasMember('Definition'), hasMember('Cases')],
    $defs: {
      case: CASE,
      mock: { anyOf: [reference('answer'), { type: 'array', items: reference('answer') }] },
      answer: { ...ANSWER, ...oneOf('Result', 'Response', 'Fail') },
      response: RESPONSE,
      action: { ...ACTION, ...oneOf('Advance', 'Publish', 'Expect') },
      event: EVENT,
      expectation: EXPECTATION,
    },
  };
}

/** Unlike in definitions, members that are not known are mistakes. */
function mapOf<Member extends string>(
  schemas: Readonly<Record<Member, JsonObject>>,
  summaries: Readonly<Record<Member, string>>,
): JsonObject {
  return { ...objectOf(schemas, summaries), additionalProperties: false };
}

function oneOf(...names: readonly string[]): JsonObject {
  return { oneOf: names.map(hasMember) };
}

function choice(texts: readonly string[]): JsonObject {
  return {
    anyOf: [{ enum: [...texts, null] }, { type: 'string', pattern: caseless(texts.join('|')) }],
  };
}

function reference(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}
