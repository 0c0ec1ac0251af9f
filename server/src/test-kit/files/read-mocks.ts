/** Reads the mocks of a case. */
import { childPointer } from '../../engine/definitions/json-pointer.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { describeValue } from '../../engine/values/convert-input.js';
import { ADVANCE_FORMS, readAdvance } from '../duration-text.js';
import type { Answer, Mock, MockResponse, Mocks } from '../answers.js';
import { isList, Members, type Problems } from './read-members.js';
import { ANSWER_MEMBERS, RESPONSE_MEMBERS } from './members.js';

export function readMocks(mocks: JsonObject, pointer: string, problems: Problems): Mocks {
  return Object.fromEntries(
    Object.entries(mocks).map(([key, value]) => [
      key,
      readMock(value, childPointer(pointer, key), problems),
    ]),
  );
}

function readMock(value: Json, pointer: string, problems: Problems): Mock {
  if (!isList(value)) return readAnswer(value, pointer, problems) ?? [];
  return value.flatMap(
    (item, index) => readAnswer(item, childPointer(pointer, index), problems) ?? [],
  );
}

function readAnswer(value: Json, pointer: string, problems: Problems): Answer | null {
  const members = new Members(value, pointer, ANSWER_MEMBERS, problems);
  const kinds = (['Result', 'Response', 'Fail'] as const).filter((name) => members.has(name));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    problems.add(pointer, 'an answer has one of Result, Response and Fail');
    return null;
  }
  const after = { afterMs: readAfter(members, problems) };
  if (kind === 'Response') {
    const response = members.any('Response') ?? null;
    const read = readResponse(response, members.pointerOf('Response'), problems);
    return { ...after, response: read };
  }
  const given = members.any(kind) ?? null;
  if (kind === 'Result') return { ...after, result: given };
  return { ...after, fail: given, retryable: members.flag('Retryable') ?? true };
}

function readAfter(members: Members<keyof typeof ANSWER_MEMBERS>, problems: Problems): number {
  const given = members.any('After') ?? 0;
  const ms = typeof given === 'string' || typeof given === 'number' ? readAdvance(given) : null;
  if (ms !== null) return ms;
  const message = `After is a duration, not ${describeValue(given)}: use ${ADVANCE_FORMS}`;
  problems.add(members.pointerOf('After'), message);
  return 0;
}

function readResponse(value: Json, pointer: string, problems: Problems): MockResponse {
  const members = new Members(value, pointer, RESPONSE_MEMBERS, problems);
  return {
    status: members.integer('Status') ?? 200,
    body: members.any('Body') ?? null,
    headers: members.object('Headers') ?? {},
  };
}
