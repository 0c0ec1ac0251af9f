/** The members that make runs searchable: Index (fields of the data) and Tags. */
import { describeValue, quoteText } from '../values/convert-input.js';
import { isJsonObject, setField, type JsonObject } from '../values/json.js';
import { isLonger, tagNameProblem, TAGS_MAX, tagValueProblem, type Tags } from '../values/tags.js';
import { childPointer } from './json-pointer.js';
import { checkName, label, type MemberReader } from './member-reader.js';
import type { DefinitionMember } from './step-members.js';

export const INDEX_FIELDS_MAX = 16;
const INDEX_NAME_LENGTH_MAX = 64;
const PATH_LENGTH_MAX = 500;

/** A search condition is `<name><operator><value>`, so a name cannot contain an operator. */
const OPERATOR = /[=<>!^]/;
const INDEX_PATH = /^data(?:\.[\p{L}_][\p{L}\p{N}_]*)+$/u;

type Reader = MemberReader<DefinitionMember>;

/** The path of each field, without the leading `data`. */
export function parseIndex(reader: Reader): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, readonly string[]>();
  const kept: JsonObject = {};
  reader.state.indexPointer = reader.pointerOf('index');
  for (const [name, value] of entriesOf(reader, 'index', INDEX_FIELDS_MAX)) {
    const pointer = childPointer(reader.pointerOf('index'), name);
    checkIndexName(name, pointer, reader);
    const path = parseIndexPath(value, pointer, reader);
    if (path === null) continue;
    index.set(name, path.split('.').slice(1));
    setField(kept, name, path);
  }
  if (reader.value('index') !== null) reader.keep('index', kept);
  return index;
}

function checkIndexName(name: string, pointer: string, { state }: Reader): void {
  const why = indexNameProblem(name);
  if (why === null) checkName(name, pointer, state);
  else state.errors.add('invalid_value', pointer, `The index name ${quoteText(name)} ${why}.`);
}

function indexNameProblem(name: string): string | null {
  if (name.trim() === '') return 'is blank';
  if (isLonger(name, INDEX_NAME_LENGTH_MAX)) {
    return `has more than ${INDEX_NAME_LENGTH_MAX} characters`;
  }
  if (OPERATOR.test(name)) return 'must not contain any of = < > ! ^, the operators of a search';
  return name.startsWith('tag.') ? 'must not start with "tag.", which searches for tags' : null;
}

function parseIndexPath(value: unknown, pointer: string, { state }: Reader): string | null {
  if (typeof value !== 'string') {
    const message = `The path of an index field must be a string such as "data.customer.id", not ${describeValue(value)}.`;
    state.errors.add('wrong_type', pointer, message);
    return null;
  }
  const path = value.trim();
  if (path.length <= PATH_LENGTH_MAX && INDEX_PATH.test(path)) return path;
  const message = `The path of an index field must be "data." and names, such as "data.customer.id", not ${quoteText(value)}. Expressions are not evaluated here.`;
  state.errors.add('invalid_value', pointer, message);
  return null;
}

export function parseTags(reader: Reader): Tags {
  const tags: Record<string, string> = {};
  const { state } = reader;
  for (const [name, value] of entriesOf(reader, 'tags', TAGS_MAX)) {
    const pointer = childPointer(reader.pointerOf('tags'), name);
    const nameProblem = tagNameProblem(name);
    if (nameProblem !== null) {
      state.errors.add('invalid_value', pointer, `The tag name ${quoteText(name)} ${nameProblem}.`);
    } else if (typeof value !== 'string') {
      const message = `The value of the tag ${quoteText(name)} must be a string, not ${describeValue(value)}. Quote numbers.`;
      state.errors.add('wrong_type', pointer, message);
    } else {
      const problem = tagValueProblem(value);
      if (problem !== null) {
        const message = `The value of the tag ${quoteText(name)} ${problem}.`;
        state.errors.add('invalid_value', pointer, message);
      }
      setField(tags, name, value);
    }
  }
  if (reader.value('tags') !== null) reader.keep('tags', tags);
  return tags;
}

function entriesOf(
  reader: Reader,
  name: 'index' | 'tags',
  max: number,
): readonly (readonly [string, unknown])[] {
  const value = reader.value(name);
  if (value === null) return [];
  if (!isJsonObject(value)) {
    const example = name === 'index' ? 'name to path' : 'name to text';
    const message = `${label(name)} must be a map of ${example}, not ${describeValue(value)}.`;
    reader.fail(name, 'wrong_type', message);
    return [];
  }
  const names = Object.keys(value);
  if (!reader.state.admitMembers(names, reader.pointerOf(name))) return [];
  if (names.length > max && !reader.state.isStored) {
    const what = name === 'index' ? 'fields' : 'tags';
    const message = `${label(name)} can have at most ${max} ${what}, not ${names.length}.`;
    reader.fail(name, 'too_many_entries', message);
    return [];
  }
  return names.map((key) => [key, value[key]] as const);
}
