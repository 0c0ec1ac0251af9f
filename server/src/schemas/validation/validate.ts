/** Answers validation requests; runs on a thread of its own. */
import { LRUCache } from 'lru-cache';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject } from '../../engine/values/json.js';
import { checkSchema } from './check-schema.js';
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

type CheckRequest = Extract<ValidationRequest, { kind: 'check' }>;
type DataRequest = Extract<ValidationRequest, { kind: 'validate' }>;

export function answer(request: ValidationRequest): ValidationAnswer {
  try {
    return request.kind === 'check' ? check(request) : validate(request);
  } catch (error) {
    if (!(error instanceof OutOfTime)) return { kind: 'failed', reason: reasonOf(error) };
    const during = compiled.has(request.schema) ? 'validation' : 'compilation';
    return { kind: 'out-of-time', during };
  }
}

function check({ limitMs, schema }: CheckRequest): ValidationAnswer {
  const problems = withinTime(limitMs, () => checkSchema(readJson(schema)));
  return { kind: 'done', problems, data: null };
}

function validate(request: DataRequest): ValidationAnswer {
  const schema = compiledSchema(request);
  const data = readJson(request.data);
  if (!isJsonObject(data)) throw new Error('the data is not an object');
  const { validationMs } = request.limits;
  const { isChanged, problems } = withinTime(validationMs, () => schema.validate(data));
  const isFilled = isChanged && problems.length === 0;
  return { kind: 'done', problems, data: isFilled ? writeJson(data) : null };
}

function compiledSchema({ limits, schema }: DataRequest): CompiledSchema {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const made = withinTime(limits.compilationMs, () => readyToUse(schema));
  compiled.set(schema, made);
  return made;
}

function readyToUse(schema: string): CompiledSchema {
  const made = new CompiledSchema(readJson(schema));
  // Fills in the defaults once: those without end are found here.
  made.validate({});
  return made;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'the schema refers to itself without end';
  if (error instanceof TooManyDefaults) return error.message;
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
