/** Goal: a session that a pooler gives to several servers never runs another statement than the one that was asked for. */
import { expect, it } from 'vitest';
import { PreparedTexts } from '../../src/store/postgres/prepared-texts.js';

const USES = 20;

function nameAfterUse(texts: PreparedTexts, text: string): string | undefined {
  for (let use = 1; use < USES; use += 1) texts.use(text, true);
  return texts.use(text, true).name;
}

it('names a prepared statement the same on every node, in any order of use', () => {
  const [one, other] = [new PreparedTexts('stepwright'), new PreparedTexts('stepwright')];
  const [read, write] = ['SELECT 1 FROM @instances', 'DELETE FROM @instances'];
  const first = [nameAfterUse(one, read), nameAfterUse(one, write)];
  const second = [nameAfterUse(other, write), nameAfterUse(other, read)];
  expect(second.toReversed()).toEqual(first);
  expect(new Set(first).size).toBe(2);
});

it('names a statement differently for each schema', () => {
  const [one, other] = [new PreparedTexts('team_a'), new PreparedTexts('team_b')];
  const text = 'SELECT 1 FROM @instances';
  expect(nameAfterUse(one, text)).not.toBe(nameAfterUse(other, text));
});

it('fits names into the length that PostgreSQL keeps', () => {
  const name = nameAfterUse(new PreparedTexts('s'.repeat(63)), 'SELECT 1 FROM @instances') ?? '';
  expect(name).not.toBe('');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
});
