/**
 * The JSON Schema of definitions, for editors: completion, and all mistakes that can be detected without Python.
 *
 * It is generated from the same tables that the parser uses. A test checks that the schema accepts everything that the
 * parser accepts. The reverse does not hold: a schema cannot check unique ids, references to steps, or expressions.
 */
import { ERROR_BEHAVIORS } from '../model/definition.js';
import { DEBOUNCE_DATA } from '../model/debounce.js';
import {
  CONCURRENCY_MAX,
  CONFLICT_SCOPE_NAMES,
  FAIRNESS_WEIGHT_MAX,
  FAIRNESS_WEIGHT_MIN,
  MAX_QUEUED_MAX,
  ON_CONFLICT,
  ON_FULL,
  PRIORITIES,
} from '../model/start-options.js';
import { LIMIT_UNITS_MAX, STEP_LIMITS_MAX } from '../model/limit.js';
import { OVERLAPS } from '../model/trigger.js';
import { TAG_NAME_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX } from '../values/tags.js';
import type { JsonObject } from '../values/json.js';
import { caseless, hasMember, objectOf } from './caseless-schema.js';
import { TRIGGERS_MAX } from './parse-triggers.js';
import { INDEX_FIELDS_MAX } from './parse-search-members.js';
import {
  CONCURRENCY_MEMBER_SUMMARIES,
  DEBOUNCE_MEMBER_SUMMARIES,
  DEFINITION_MEMBER_SUMMARIES,
  EVENT_MEMBER_SUMMARIES,
  FAIRNESS_MEMBER_SUMMARIES,
  STEP_LIMIT_MEMBER_SUMMARIES,
  STEP_MEMBER_SUMMARIES,
  TRIGGER_MEMBER_SUMMARIES,
  type ConcurrencyMember,
  type DebounceMember,
  type DefinitionMember,
  type FairnessMember,
  type StepLimitMember,
  type StepMember,
  type TriggerMember,
} from './step-members.js';
import { takesLimits } from './parse-step-limits.js';
import { BUILT_IN_STEP_TYPES } from '../model/step-type-names.js';
import { builtInStepType, type StepType, type StepTypeInput } from './step-types.js';

const NAME: JsonObject = { type: ['string', 'number'], maxLength: 200, pattern: '\\S' };
const TEXT: JsonObject = { type: ['string', 'number', 'null'] };
const EXPRESSION: JsonObject = { type: ['string', 'number', 'boolean', 'null'] };
const VALUE: JsonObject = {};
const FLAG: JsonObject = {
  anyOf: [{ type: ['boolean', 'null'] }, { type: 'string', pattern: caseless('true|false') }],
};
const DURATION: JsonObject = { type: ['number', 'string', 'null'] };
const STEP: JsonObject = { $ref: '#/$defs/step' };
const STEPS: JsonObject = { type: ['array', 'null'], items: STEP };
const OPTIONAL_NAME: JsonObject = { type: ['string', 'number', 'null'], maxLength: 200 };

const CONCURRENCY_SCHEMAS: Readonly<Record<ConcurrencyMember, JsonObject>> = {
  limit: { type: 'integer', minimum: 1, maximum: CONCURRENCY_MAX },
  key: EXPRESSION,
  onFull: choice(ON_FULL),
  maxQueued: { type: ['integer', 'null'], minimum: 0, maximum: MAX_QUEUED_MAX },
};

const FAIRNESS_SCHEMAS: Readonly<Record<FairnessMember, JsonObject>> = {
  key: { type: ['string', 'number', 'boolean'] },
  weight: {
    type: ['number', 'string', 'null'],
    minimum: FAIRNESS_WEIGHT_MIN,
    maximum: FAIRNESS_WEIGHT_MAX,
  },
};

const DEFINITION_SCHEMAS: Readonly<Record<DefinitionMember, JsonObject>> = {
  id: NAME,
  version: {},
  disabled: {},
  origin: {},
  description: TEXT,
  defaultErrorBehavior: errorBehavior(ERROR_BEHAVIORS),
  defaultErrorRetryInterval: DURATION,
  input: { type: ['object', 'boolean', 'null'] },
  index: {
    type: ['object', 'null'],
    maxProperties: INDEX_FIELDS_MAX,
    additionalProperties: { type: 'string', pattern: '^\\s*data(\\.[^\\s.()[\\]]+)+\\s*$' },
  },
  tags: {
    type: ['object', 'null'],
    maxProperties: TAGS_MAX,
    propertyNames: { minLength: 1, maxLength: TAG_NAME_LENGTH_MAX },
    additionalProperties: { type: 'string', maxLength: TAG_VALUE_LENGTH_MAX },
  },
  reference: { type: ['string', 'number', 'null'] },
  onConflict: choice(ON_CONFLICT),
  conflictScope: choice(CONFLICT_SCOPE_NAMES),
  priority: { type: ['integer', 'null'], minimum: 1, maximum: PRIORITIES.length },
  fairness: {
    ...objectOf(FAIRNESS_SCHEMAS, FAIRNESS_MEMBER_SUMMARIES),
    type: ['object', 'null'],
    allOf: [hasMember('key')],
  },
  concurrency: {
    ...objectOf(CONCURRENCY_SCHEMAS, CONCURRENCY_MEMBER_SUMMARIES),
    type: ['object', 'null'],
    allOf: [hasMember('limit')],
  },
  retention: { ...DURATION, minimum: 1 },
  triggers: { type: ['array', 'null'], maxItems: TRIGGERS_MAX, items: { $ref: '#/$defs/trigger' } },
  steps: { type: 'array', minItems: 1, items: STEP },
};

const STEP_LIMIT_SCHEMAS: Readonly<Record<StepLimitMember, JsonObject>> = {
  name: NAME,
  key: EXPRESSION,
  units: { type: ['integer', 'null'], minimum: 1, maximum: LIMIT_UNITS_MAX },
};

const STEP_SCHEMAS: Readonly<Record<StepMember, JsonObject>> = {
  id: NAME,
  stepType: { anyOf: [{ enum: BUILT_IN_STEP_TYPES }, NAME] },
  name: TEXT,
  nextStepId: OPTIONAL_NAME,
  selectNextStep: { type: ['object', 'null'], additionalProperties: EXPRESSION },
  inputs: { type: ['object', 'null'], additionalProperties: VALUE },
  outputs: { type: ['object', 'null'], additionalProperties: VALUE },
  do: { anyOf: [STEPS, { type: 'array', items: { type: 'array', items: STEP } }] },
  cancelCondition: EXPRESSION,
  proceedOnCancel: FLAG,
  errorBehavior: errorBehavior(ERROR_BEHAVIORS),
  retryInterval: DURATION,
  maxRetries: { type: ['integer', 'null'], minimum: 0 },
  retryBackoff: { type: ['number', 'null'], minimum: 1 },
  retryJitter: { type: ['number', 'null'], minimum: 0, maximum: 1 },
  onRetriesExhausted: errorBehavior(ERROR_BEHAVIORS.filter((behavior) => behavior !== 'Retry')),
  nonRetryable: { type: ['array', 'null'], items: { type: 'string' } },
  timeout: { ...DURATION, exclusiveMinimum: 0 },
  limits: { type: ['array', 'null'], maxItems: STEP_LIMITS_MAX, items: { $ref: '#/$defs/limit' } },
  compensateWith: STEPS,
  saga: FLAG,
  grace: DURATION,
};

const DEBOUNCE_SCHEMAS: Readonly<Record<DebounceMember, JsonObject>> = {
  period: { ...DURATION, minimum: 0 },
  key: EXPRESSION,
  max: { ...DURATION, minimum: 0 },
  data: choice(DEBOUNCE_DATA),
};

const TRIGGER_SCHEMAS: Readonly<Record<TriggerMember, JsonObject>> = {
  name: NAME,
  cron: TEXT,
  timeZone: TEXT,
  overlap: choice(OVERLAPS),
  catchUp: DURATION,
  jitter: DURATION,
  event: {
    ...objectOf({ name: TEXT, key: TEXT }, EVENT_MEMBER_SUMMARIES),
    type: ['object', 'null'],
  },
  debounce: {
    ...objectOf(DEBOUNCE_SCHEMAS, DEBOUNCE_MEMBER_SUMMARIES),
    type: ['object', 'null'],
    allOf: [hasMember('period')],
  },
  data: VALUE,
  reference: VALUE,
};

export function definitionJsonSchema(): JsonObject {
  const byType = BUILT_IN_STEP_TYPES.map((name) => inputsOf(builtInStepType(name)));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Stepwright definition',
    description:
      'Member names, step types and inputs of built-in steps are accepted in any casing.',
    ...objectOf(DEFINITION_SCHEMAS, DEFINITION_MEMBER_SUMMARIES),
    allOf: [hasMember('id'), hasMember('steps')],
    $defs: {
      trigger: {
        ...objectOf(TRIGGER_SCHEMAS, TRIGGER_MEMBER_SUMMARIES),
        allOf: [hasMember('name')],
      },
      limit: {
        anyOf: [
          { ...NAME, type: 'string' },
          {
            ...objectOf(STEP_LIMIT_SCHEMAS, STEP_LIMIT_MEMBER_SUMMARIES),
            allOf: [hasMember('name')],
          },
        ],
      },
      step: {
        ...objectOf(STEP_SCHEMAS, STEP_MEMBER_SUMMARIES),
        allOf: [hasMember('id'), hasMember('stepType'), ...byType],
      },
    },
  };
}

function inputsOf(type: StepType): JsonObject {
  const required = type.inputs.filter((input) => input.required);
  const inputs = {
    description: type.summary,
    properties: Object.fromEntries(
      type.inputs.map(({ name, summary }) => [name, { description: summary }]),
    ),
    patternProperties: Object.fromEntries(
      type.inputs.map((input) => [caseless(input.name), inputSchema(input)]),
    ),
    additionalProperties: false,
    ...(required.length > 0 ? { allOf: required.map(({ name }) => hasMember(name)) } : {}),
  };
  const isRequired = required.length > 0;
  return {
    if: {
      ...hasMember('stepType'),
      patternProperties: {
        [caseless('stepType')]: { type: 'string', pattern: caseless(type.name, '\\s*') },
      },
    },
    then: {
      ...(isRequired ? hasMember('inputs') : {}),
      patternProperties: {
        [caseless('inputs')]: { ...inputs, type: isRequired ? 'object' : ['object', 'null'] },
        ...(takesLimits({ type: type.name }) ? {} : { [caseless('limits')]: { maxItems: 0 } }),
      },
    },
  };
}

function inputSchema({ kind, required }: StepTypeInput): JsonObject {
  // A string is an expression.
  const schema = kind === 'count' ? { type: ['integer', 'string', 'null'], minimum: 1 } : VALUE;
  return required ? { ...schema, not: { type: 'null' } } : schema;
}

function choice(allowed: readonly string[]): JsonObject {
  return {
    anyOf: [
      { enum: [...allowed, null] },
      { type: 'string', pattern: caseless(allowed.join('|'), '\\s*') },
    ],
  };
}

function errorBehavior(allowed: readonly (typeof ERROR_BEHAVIORS)[number][]): JsonObject {
  const numbers = allowed.map((behavior) => ERROR_BEHAVIORS.indexOf(behavior));
  const texts = [...allowed, ...numbers].join('|');
  return {
    anyOf: [
      { enum: allowed },
      { enum: [...numbers, null] },
      { type: 'string', pattern: caseless(texts, '\\s*') },
    ],
  };
}
