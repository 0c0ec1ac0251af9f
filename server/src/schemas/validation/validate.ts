/** Answers validation requests; runs on a thread of its own. */
import { LRUCache } from 'lru-cache';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject } from '../../engine/values/json.js';
import { checkSchema, draftSchema } from './check-schema.js';
import { CompiledSchema } from './compiled-schema.js';
import { TooManyDefaults } from './fill-defaults.js';
import type { ValidationAnswer, ValidationRequest } from './protocol.js';
import { OutOfTime, withinTime } from './time-limit.js';

const CACHE_MAX = 200;
/** Length of the texts of cached schemas; their code takes up to a hundred times as much memory. */
const CACHE_LENGTH_MAX = 512 * 1024;

const compiled = new LRUCache<string, CompiledSchema>({
  max: CACHE_MAX,
  maxSize: CACHE_LENGTH_MAX,
  sizeCalculation: (_, text) => text.length + 1,
});

export function answer(request: ValidationRequest): ValidationAnswer {
  try {
    return request.kind === 'check' ? check(request) : validate(request);
  } catch (error) {
    if (error instanceof OutOfTime) return { kind: 'out-of-time' };
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

function check({ limitMs, schema }: ValidationRequest): ValidationAnswer {
  draftSchema();
  const problems = withinTime(limitMs, () => checkSchema(readJson(schema)));
  return { kind: 'done', problems, data: null };
}

function validate(request: Extract<ValidationRequest, { kind: 'validate' }>): ValidationAnswer {
  const schema = compiledSchema(request);
  const data = readJson(request.data);
  if (!isJsonObject(data)) throw new Error('the data is not an object');
  const { isChanged, problems } = withinTime(request.limitMs, () => schema.validate(data));
  const isFilled = isChanged && problems.length === 0;
  return { kind: 'done', problems, data: isFilled ? writeJson(data) : null };
}

/** Compiling counts separately: it happens once. */
function compiledSchema({ limitMs, schema }: ValidationRequest): CompiledSchema {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const made = withinTime(limitMs, () => new CompiledSchema(readJson(schema)));
  compiled.set(schema, made);
  return made;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'the schema refers to itself without end';
  if (error instanceof TooManyDefaults) return error.message;
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
