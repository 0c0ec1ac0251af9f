/** The member Key of whatever limits how much happens at a time: each of its values has a whole limit for itself. */
import type { InputValue } from '../model/input-value.js';
import { describeValue } from '../values/convert-input.js';
import type { Json } from '../values/json.js';
import type { MemberReader } from './member-reader.js';
import { parseInputValue } from './parse-input-value.js';

const USE = { gives: 'name', knowsStep: false, stepType: null } as const;

export function parseLimitKey(reader: MemberReader<'key'>): InputValue | null {
  const value = reader.value('key');
  if (value === null) return null;
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
    const message = `Key must be an expression such as "data.customer", not ${describeValue(value)}.`;
    return reader.fail('key', 'wrong_type', message);
  }
  reader.keep('key', value as Json);
  return parseInputValue(value, { pointer: reader.pointerOf('key'), use: USE }, reader.state);
}
