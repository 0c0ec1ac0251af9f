/** The member Debounce of event triggers. */
import { DEBOUNCE_DATA, type DebounceData } from '../model/debounce.js';
import type { TriggerDebounce } from '../model/trigger.js';
import { describeValue, quoteText } from '../values/convert-input.js';
import { isJsonObject } from '../values/json.js';
import { label, MemberReader } from './member-reader.js';
import { parseLimitKey } from './parse-limit-key.js';
import { DEBOUNCE_MEMBERS, type DebounceMember, type TriggerMember } from './step-members.js';

type Reader = MemberReader<DebounceMember>;

export function parseDebounce(trigger: MemberReader<TriggerMember>): TriggerDebounce | null {
  const value = trigger.value('debounce');
  if (value === null) return null;
  if (!isJsonObject(value)) {
    const message = `Debounce must be an object such as {"Period": "30s"}, not ${describeValue(value)}.`;
    return trigger.fail('debounce', 'wrong_type', message);
  }
  const pointer = trigger.pointerOf('debounce');
  const members = new MemberReader(value, pointer, DEBOUNCE_MEMBERS, trigger.state);
  const periodMs = parseDuration(members, 'period');
  const key = parseLimitKey(members);
  const maxMs = parseDuration(members, 'max');
  const data = parseData(members);
  trigger.keep('debounce', members.canonical);
  if (members.value('period') === null) {
    const message = 'Debounce requires a Period, a duration such as 30s.';
    return members.fail('period', 'missing_trigger_member', message);
  }
  return periodMs === null ? null : { periodMs, key, maxMs, data };
}

function parseDuration(reader: Reader, name: 'period' | 'max'): number | null {
  const value = reader.value(name);
  if (isNegative(value)) {
    return reader.fail(name, 'invalid_value', `${label(name)} must not be negative.`);
  }
  return reader.durationMs(name);
}

function isNegative(value: unknown): boolean {
  if (typeof value === 'string') return value.trim().startsWith('-');
  return (typeof value === 'number' || typeof value === 'bigint') && value < 0;
}

function parseData(reader: Reader): DebounceData {
  const text = reader.text('data');
  if (text === null) return 'last';
  const data = DEBOUNCE_DATA.find((each) => each === text.trim().toLowerCase());
  if (data === undefined) {
    const message = `Data must be one of ${DEBOUNCE_DATA.join(', ')}, not ${quoteText(text)}.`;
    reader.fail('data', 'invalid_value', message);
    return 'last';
  }
  reader.keep('data', data);
  return data;
}
