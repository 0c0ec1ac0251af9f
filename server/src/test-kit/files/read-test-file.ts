/**
 * Reads a file of tests.
 *
 *  TF1 Every problem is found at once, and names its line and column.
 *  TF2 Member names are accepted in any casing, as in definitions.
 */
import { AppError } from '../../base/errors.js';
import { childPointer } from '../../engine/definitions/json-pointer.js';
import { describeValue, quoteText } from '../../engine/values/convert-input.js';
import { readTime, TIME_EXAMPLE, timeProblem } from '../../engine/values/times.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { isSecretName } from '../../secrets/secret-source.js';
import { parseDocument } from '../definition-source.js';
import { ADVANCE_FORMS, readAdvance } from '../duration-text.js';
import { readExpectation } from './read-expectation.js';
import { readMocks } from './read-mocks.js';
import { Members, Problems } from './read-members.js';
import { TestFileError, type Action, type TestCase, type TestFile } from './file.js';
import { ACTION_MEMBERS, CASES_MAX, CASE_MEMBERS, EVENT_MEMBERS, FILE_MEMBERS } from './members.js';

/** @throws TestFileError with every problem */
export function readTestFile(text: string): TestFile {
  const { locate, value } = parse(text);
  const problems = new Problems(locate);
  const members = new Members(value, '', FILE_MEMBERS, problems);
  const definition = members.requiredText('Definition');
  const file: TestFile = {
    definition,
    definitionPlace: problems.placeOf(members.pointerOf('Definition')),
    uses: members.texts('Uses') ?? [],
    cases: readCases(members, problems),
  };
  if (problems.found.length > 0) throw new TestFileError(problems.found);
  return file;
}

function parse(text: string): ReturnType<typeof parseDocument> {
  try {
    return parseDocument(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { column = 1, line = 1 } = error.fields;
    throw new TestFileError([
      { line: Number(line), column: Number(column), message: error.message },
    ]);
  }
}

function readCases(file: Members<keyof typeof FILE_MEMBERS>, problems: Problems): TestCase[] {
  const list = file.list('Cases') ?? [];
  const pointer = file.pointerOf('Cases');
  if (list.length === 0 || list.length > CASES_MAX) {
    problems.add(pointer, `Cases is a list of 1 to ${CASES_MAX} cases`);
    return [];
  }
  const names = new Set<string>();
  return list.map((item, index) => {
    const read = readCase(item, childPointer(pointer, index), problems);
    if (names.has(read.name)) {
      problems.add(childPointer(pointer, index), `two cases have the name ${read.name}`);
    }
    names.add(read.name);
    return read;
  });
}

function readCase(value: Json, pointer: string, problems: Problems): TestCase {
  const members = new Members(value, pointer, CASE_MEMBERS, problems);
  const now = members.text('Now');
  const readNow = now === null ? null : readTime(now);
  if (now !== null && readNow?.ok === false) {
    const got = timeProblem(quoteText(now), readNow.reason);
    problems.add(members.pointerOf('Now'), `Now is a time such as ${TIME_EXAMPLE}, not ${got}`);
  }
  return {
    name: members.requiredText('Name').trim(),
    place: problems.placeOf(pointer),
    start: members.object('Start') ?? {},
    trigger: readTrigger(members, problems),
    reference: members.text('Reference'),
    tags: members.textMap('Tags') ?? {},
    now,
    seed: members.integer('Seed'),
    environment: members.textMap('Environment') ?? {},
    secrets: readSecrets(members, problems),
    mocks: readMocks(members.object('Mocks') ?? {}, members.pointerOf('Mocks'), problems),
    then: (members.list('Then') ?? []).flatMap(
      (item, index) =>
        readAction(item, childPointer(members.pointerOf('Then'), index), problems) ?? [],
    ),
    expect: members.has('Expect')
      ? readExpectation(members.any('Expect') ?? null, members.pointerOf('Expect'), problems)
      : null,
  };
}

function readTrigger(
  members: Members<keyof typeof CASE_MEMBERS>,
  problems: Problems,
): string | null {
  const trigger = members.text('Trigger');
  for (const other of ['Start', 'Reference', 'Tags'] as const) {
    if (trigger === null || !members.has(other)) continue;
    problems.add(members.pointerOf(other), `a run that a trigger starts gets no ${other} here`);
  }
  return trigger;
}

function readSecrets(
  members: Members<keyof typeof CASE_MEMBERS>,
  problems: Problems,
): Readonly<Record<string, string | null>> {
  const found: JsonObject = members.object('Secrets') ?? {};
  const pointer = members.pointerOf('Secrets');
  const secrets: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(found)) {
    const place = childPointer(pointer, name);
    if (!isSecretName(name)) {
      problems.add(place, `${name} cannot name a secret: use letters, digits and underscores`);
    } else if (typeof value === 'string' || value === null) secrets[name] = value;
    else problems.add(place, `${name} is a text or null, not ${describeValue(value)}`);
  }
  return secrets;
}

function readAction(value: Json, pointer: string, problems: Problems): Action | null {
  const members = new Members(value, pointer, ACTION_MEMBERS, problems);
  const place = problems.placeOf(pointer);
  const kinds = (['Advance', 'Publish', 'Expect'] as const).filter((name) => members.has(name));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    problems.add(pointer, 'each entry of Then has one of Advance, Publish and Expect');
    return null;
  }
  const given = members.any(kind) ?? null;
  const inside = members.pointerOf(kind);
  if (kind === 'Expect') {
    return { kind: 'expect', expectation: readExpectation(given, inside, problems), place };
  }
  if (kind === 'Publish') return readPublish(given, inside, problems);
  if ((typeof given === 'string' || typeof given === 'number') && readAdvance(given) !== null) {
    return { kind: 'advance', duration: given, place };
  }
  problems.add(inside, `Advance is a duration, not ${describeValue(given)}: use ${ADVANCE_FORMS}`);
  return null;
}

function readPublish(value: Json, pointer: string, problems: Problems): Action {
  const members = new Members(value, pointer, EVENT_MEMBERS, problems);
  return {
    kind: 'publish',
    name: unquoted(members.requiredText('Name')),
    key: unquoted(members.text('Key') ?? ''),
    data: members.any('Data') ?? null,
    place: problems.placeOf(pointer),
  };
}

/** A name or key may be quoted as in a definition, where it is an expression. */
function unquoted(text: string): string {
  return /^(["'])([^"'\\]*)\1$/.exec(text)?.[2] ?? text;
}
