/**
 * The JSON Schema of files that hold a limit (`*.limit.yaml`), for editors. A test checks that it accepts everything that the parser
 * accepts. The reverse does not hold: a schema cannot check the length of a duration, or compare Burst with Count.
 */
import {
  LIMIT_CONCURRENCY_MAX,
  LIMIT_COUNT_MAX,
  LIMIT_DESCRIPTION_LENGTH_MAX,
} from '../model/limit.js';
import type { JsonObject } from '../values/json.js';
import { caseless, hasMember, objectOf } from './caseless-schema.js';

const SUMMARIES = {
  Name: 'The name by which steps refer to the limit',
  Description: 'A human-readable description',
  Concurrency: 'How many units are held at a time, for each key',
  Rate: 'How many units begin in a time, for each key',
};
const RATE_SUMMARIES = {
  Count: 'How many units begin in each period',
  Per: 'The period: a duration from 1 second to 1 day, such as 1m',
  Burst: 'How many units may begin at once; default 1',
};

export function limitJsonSchema(): JsonObject {
  const rate = objectOf(
    {
      Count: wholeNumber(LIMIT_COUNT_MAX),
      Per: { type: ['number', 'string'] },
      Burst: { anyOf: [wholeNumber(LIMIT_COUNT_MAX), { type: 'null' }] },
    },
    RATE_SUMMARIES,
  );
  const members = objectOf(
    {
      Name: { type: ['string', 'number'], maxLength: 200, pattern: '\\S' },
      Description: {
        type: ['string', 'number', 'null'],
        maxLength: LIMIT_DESCRIPTION_LENGTH_MAX,
      },
      Concurrency: { anyOf: [wholeNumber(LIMIT_CONCURRENCY_MAX), { type: 'null' }] },
      Rate: {
        anyOf: [
          {
            ...rate,
            additionalProperties: false,
            allOf: [hasMember('Count'), hasMember('Per')],
          },
          { type: 'null' },
        ],
      },
    },
    SUMMARIES,
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Stepwright limit',
    description: 'Member names are accepted in any casing.',
    ...members,
    additionalProperties: false,
    allOf: [hasMember('Name'), { anyOf: ['Concurrency', 'Rate'].map(hasValue) }],
  };
}

function wholeNumber(maximum: number): JsonObject {
  return { type: 'integer', minimum: 1, maximum };
}

/** A member that is null counts as absent. */
function hasValue(name: string): JsonObject {
  return { ...hasMember(name), patternProperties: { [caseless(name)]: { not: { type: 'null' } } } };
}
