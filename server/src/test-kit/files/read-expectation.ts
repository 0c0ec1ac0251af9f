/** Reads what a case expects. */
import { childPointer } from '../../engine/definitions/json-pointer.js';
import type { Json } from '../../engine/values/json.js';
import { Members, type Problems } from './read-members.js';
import type { Expectation } from './file.js';
import { EXPECT_MEMBERS, OUTCOMES, STATUSES } from './members.js';

type Names = keyof typeof EXPECT_MEMBERS;

export function readExpectation(value: Json, pointer: string, problems: Problems): Expectation {
  const members = new Members<Names>(value, pointer, EXPECT_MEMBERS, problems);
  const pointers = new Map(
    (Object.keys(EXPECT_MEMBERS) as Names[]).map((name) => [
      name.toLowerCase(),
      members.pointerOf(name),
    ]),
  );
  return {
    ...given('status', members.choice('Status', STATUSES)),
    ...given('outcome', members.choice('Outcome', OUTCOMES)),
    ...given('data', members.object('Data')),
    ...given('reference', members.text('Reference')),
    ...given('tags', members.textMap('Tags')),
    ...given('runs', members.integer('Runs')),
    ...given('error', members.object('Error')),
    ...given('calls', readCalls(members, problems)),
    ...given('steps', members.texts('Steps')),
    ...given('waiting', members.texts('Waiting')),
    snapshot: members.flag('Snapshot') ?? false,
    placeOf: (member) => problems.placeOf(pointers.get(member) ?? pointer),
  };
}

function given<Name extends string, Value>(
  name: Name,
  value: Value | null,
): Partial<Record<Name, Value>> {
  const member: Partial<Record<string, Value>> = value === null ? {} : { [name]: value };
  return member;
}

function readCalls(
  members: Members<Names>,
  problems: Problems,
): Readonly<Record<string, number>> | null {
  const calls = members.object('Calls');
  if (calls === null) return null;
  const counts: Record<string, number> = {};
  for (const [name, count] of Object.entries(calls)) {
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0) counts[name] = count;
    else {
      const place = childPointer(members.pointerOf('Calls'), name);
      problems.add(place, `${name} is a number of calls`);
    }
  }
  return counts;
}
