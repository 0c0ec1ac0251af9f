/** SM4: what expressions make of the mark of a secret says nothing about the mark that is exchanged for its value. */
import { expect, it } from 'vitest';
import { systemIds } from '../../../src/base/ids.js';
import type { Json } from '../../../src/engine/values/json.js';
import { preferMarks } from '../../../src/runtime/secrets/secret-marks.js';
import { Secrets } from '../../../src/runtime/secrets/secrets.js';
import { SecretMask } from '../../../src/secrets/secret-mask.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';

const VALUE = 'the value of the secret';
const mask = new SecretMask();
mask.add('TOKEN', VALUE);
const source = {
  mask,
  names: () => ['TOKEN'],
  value: (name: string) => (name === 'TOKEN' ? VALUE : null),
};

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text was expected');
  return value;
}

/** @param compute what the expression makes of the secret */
async function evaluate(secrets: Secrets, compute: (secret: string) => Json): Promise<Json> {
  const { marked, sealed, shown } = await secrets.variables(['TOKEN'], 'run/1/0');
  return preferMarks(compute(textOf(marked['TOKEN'])), compute(textOf(shown['TOKEN'])), sealed);
}

const reversed = (text: string): string => Array.from(text).reverse().join('');

it('is not shown by its reverse, its letters or its hexadecimal form', async () => {
  const secrets = new Secrets({ source, store: createMemoryStore(), ids: systemIds });
  const ways: ((secret: string) => string)[] = [
    reversed,
    (secret) => Array.from(secret).join(' '),
    (secret) => Buffer.from(secret).toString('hex'),
  ];
  const back: ((text: string) => string)[] = [
    reversed,
    (text) =>
      Array.from(text)
        .filter((_letter, index) => index % 2 === 0)
        .join(''),
    (text) => Buffer.from(text, 'hex').toString(),
  ];
  for (const [index, way] of ways.entries()) {
    const stored = await evaluate(secrets, (secret) => `${secret}|${way(secret)}`);
    expect(await secrets.fill(stored, 'run/1/0')).toMatch(new RegExp(`^${VALUE}\\|`));
    const [, seen = ''] = textOf(secrets.conceal(stored)).split('|');
    const forged = back[index]?.(seen) ?? '';
    // What was seen looks like a mark, or the attack would prove nothing.
    expect(forged).toMatch(/^\*\*\*TOKEN:[\w-]{22}\*\*\*$/);
    expect(await secrets.fill(forged, 'run/1/0')).toBe(forged);
    // Nor is it one in an evaluation that follows.
    const again = await evaluate(secrets, (secret) => `${secret}|${forged}`);
    expect(await secrets.fill(again, 'run/1/0')).toBe(`${VALUE}|${forged}`);
  }
});

it('is the same for all nodes on a store', async () => {
  const store = createMemoryStore();
  const [one, other] = [0, 1].map(() => new Secrets({ source, store, ids: systemIds }));
  const stored = await evaluate(one!, (secret) => [`Bearer ${secret}`, { key: secret }]);
  expect(await other!.fill(stored, 'run/1/0')).toEqual([`Bearer ${VALUE}`, { key: VALUE }]);
  expect(await other!.fill(stored, 'run/2/0')).toEqual(stored);
});
