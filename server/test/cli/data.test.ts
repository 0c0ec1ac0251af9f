/** Goal: data in arguments arrives as it was meant. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readObject, readValue } from '../../src/cli/arguments/data.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-data-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const place = path.join(folder, name);
  writeFileSync(place, text);
  return `@${place}`;
}

describe('the data in arguments', () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ['{"a": "b=c"}', { a: 'b=c' }],
    ['name=Ada', { name: 'Ada' }],
    ['amount=12', { amount: 12 }],
    ['id=12345678901234567890', { id: 12345678901234567890n }],
    ['ok=true', { ok: true }],
    ['list=["a"]', { list: ['a'] }],
    ['text="12"', { text: '12' }],
    ['url=http://x/?a=b', { url: 'http://x/?a=b' }],
    ['empty=', { empty: '' }],
  ])('is read from %s', async (text, value) => {
    expect(await readObject([text], '--data')).toEqual(value);
  });

  it('is merged from several arguments, the last first', async () => {
    const data = await readObject([file('a.json', '{"a":1,"b":2}'), 'b=3', '{"c":4}'], '--data');
    expect(data).toEqual({ a: 1, b: 3, c: 4 });
  });

  it('keeps a member named __proto__', async () => {
    const data = await readObject(['__proto__=x'], '--data');
    expect(Object.entries(data)).toEqual([['__proto__', 'x']]);
  });

  it('reads YAML, with exact integers', async () => {
    const yaml = file('a.yaml', 'name: Ada\nid: 12345678901234567890\nsmall: 7\n');
    const data = await readObject([yaml], '--data');
    expect(data).toEqual({ name: 'Ada', id: 12345678901234567890n, small: 7 });
  });

  it('contains any value for an event', async () => {
    expect(await readValue('[1]', '--data')).toEqual([1]);
    expect(await readValue('"text"', '--data')).toBe('text');
  });

  it.each([
    ['nonsense', 'not JSON'],
    ['[1]', 'must be a JSON object'],
    ['@/does/not/exist', 'cannot be read'],
    ['{"a":', 'not JSON'],
  ])('is rejected: %s', async (text, message) => {
    await expect(readObject([text], '--data')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(message) as string,
    });
  });
});
