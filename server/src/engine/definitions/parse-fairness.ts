/** The member Fairness of a definition: whose work takes turns with that of others, and how large its share is. */
import type { RunFairness } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import { toFairnessWeight } from '../model/start-options.js';
import { describeValue, toLimitKey, type Conversion } from '../values/convert-input.js';
import { isJsonObject, type Json } from '../values/json.js';
import { literalValue } from './check-literal-input.js';
import { label, MemberReader } from './member-reader.js';
import { parseInputValue } from './parse-input-value.js';
import { parseLimitKey } from './parse-limit-key.js';
import { FAIRNESS_MEMBERS, type DefinitionMember, type FairnessMember } from './step-members.js';

const WEIGHT_USE = { gives: 'value', knowsStep: false, stepType: null } as const;

export function parseFairness(reader: MemberReader<DefinitionMember>): RunFairness | null {
  const value = reader.value('fairness');
  if (value === null) return null;
  if (!isJsonObject(value)) {
    const message = `Fairness must be an object such as {"Key": "data.tenant"}, not ${describeValue(value)}.`;
    return reader.fail('fairness', 'wrong_type', message);
  }
  const pointer = reader.pointerOf('fairness');
  const members = new MemberReader(value, pointer, FAIRNESS_MEMBERS, reader.state);
  if (members.value('key') === null) {
    members.fail('key', 'invalid_value', 'Fairness requires a Key.');
  }
  const key = parseLimitKey(members);
  const weight = parseWeight(members);
  // An empty key is none.
  if (key !== null && constantOf(key) !== '') checkConstant(members, 'key', key, toLimitKey);
  if (weight !== null) checkConstant(members, 'weight', weight, toFairnessWeight);
  reader.keep('fairness', members.canonical);
  return key === null ? null : { key, weight };
}

function parseWeight(members: MemberReader<FairnessMember>): InputValue | null {
  const value = members.value('weight');
  if (value === null) return null;
  if (!['string', 'number', 'bigint'].includes(typeof value)) {
    const message = `Weight must be a number or an expression such as "data.weight", not ${describeValue(value)}.`;
    return members.fail('weight', 'wrong_type', message);
  }
  members.keep('weight', value as Json);
  const place = { pointer: members.pointerOf('weight'), use: WEIGHT_USE };
  return parseInputValue(value, place, members.state);
}

/** A constant that has no meaning would fail every start. */
function checkConstant(
  members: MemberReader<FairnessMember>,
  name: FairnessMember,
  value: InputValue,
  convert: (value: Json) => Conversion<unknown>,
): void {
  const literal = constantOf(value);
  if (literal === undefined) return;
  const conversion = convert(literal);
  if (conversion.ok) return;
  members.fail(name, 'invalid_value', `${label(name)} of Fairness: ${conversion.message}.`);
}

/** An expression that is nothing but a number is a constant as well. */
function constantOf(value: InputValue): Json | undefined {
  if (value.kind === 'expression' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value.source)) {
    return Number(value.source);
  }
  return literalValue(value);
}
