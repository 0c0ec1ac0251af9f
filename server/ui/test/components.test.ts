/** Goal: tags that a user edits become a change, and JSON that a user writes is explained. */
import { describe, expect, test } from 'vitest';
import { jsonProblem, readJsonText } from '../src/components/json-text.js';
import { tagChanges, tagsOf, tagsProblem } from '../src/components/tags.js';

const row = (name: string, value: string) => ({ name, value });

describe('the tag editor', () => {
  test('returns the tags that are new or different, and null for removed ones', () => {
    const before = { env: 'prod', team: 'blue', gone: 'x' };
    const rows = [row('env', 'prod'), row('team', 'red'), row('new', ''), row('', '')];
    expect(tagChanges(before, rows)).toEqual({ gone: null, team: 'red', new: '' });
    expect(tagsOf(rows)).toEqual({ env: 'prod', team: 'red', new: '' });
  });

  test('asks for a name, which occurs only once', () => {
    expect(tagsProblem([row('', 'x')])).toBe('Every tag needs a name.');
    expect(tagsProblem([row('a', '1'), row('a', '2')])).toBe('There are two tags with the name a.');
    expect(tagsProblem([row('a', ''), row('', '')])).toBeNull();
  });
});

describe('the JSON field', () => {
  test('is explained unless it is valid', () => {
    expect(jsonProblem('{"a": ')).toMatch(/^Not valid JSON: /);
    expect(jsonProblem('')).toMatch(/^Not valid JSON: /);
    expect(jsonProblem('null')).toBeNull();
    expect(readJsonText('12345678901234567890')).toBe(12345678901234567890n);
  });
});
