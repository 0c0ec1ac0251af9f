/** Ordinary scripts run as they do elsewhere, and none of them triggers a denied call; what is missing is what the docs name. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import { LANGUAGE_SCRIPTS } from './ordinary-scripts/language-scripts.js';
import { LIBRARY_SCRIPTS } from './ordinary-scripts/library-scripts.js';
import { INPUTS } from './ordinary-scripts/ordinary-script.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';

let started: StartedRuntime;

beforeAll(async () => {
  started = await startRuntime({ scriptTimeoutMs: 20_000 });
});
afterAll(() => started.runtime.stop());

const PAGE = readFileSync(new URL('../../../../docs/python.md', import.meta.url), 'utf8');

/** The names in code style in the part of the page between two texts. */
function namesBetween(begin: string, end: string): string[] {
  const from = PAGE.indexOf(begin);
  const part = PAGE.slice(from, PAGE.indexOf(end, from));
  return Array.from(part.matchAll(/`([a-z]\w*(?:\.\w+)*)`/g), ([, name = '']) => name);
}

async function evaluated(source: string): Promise<Json> {
  const result = await started.runtime.runScript(source, {});
  if (!result.ok) throw new Error(result.error.message);
  return result.variables['x'] ?? null;
}

describe('the page about Python', () => {
  const codecsThat = (names: readonly string[]) =>
    evaluated(`
x = []
for _name in ${JSON.stringify(names)}:
    for _try in (lambda: 'a'.encode(_name), lambda: b'a'.decode(_name)):
        try:
            _try()
        except LookupError as error:
            if 'unknown encoding' in str(error) and _name not in x:
                x.append(_name)
        except Exception:
            pass
`);

  it('names codecs that are there, and codecs that are not', async () => {
    const present = namesBetween('**Codecs**', 'All others');
    const missing = namesBetween('All others', '**Functions**').filter(
      (name) => name !== 'LookupError',
    );
    expect([present.length, missing.length]).toEqual([17, 8]);
    expect(await codecsThat(present)).toEqual([]);
    expect(await codecsThat(missing)).toEqual(missing);
  });

  it('names functions that are missing', async () => {
    const builtins = namesBetween("These builtins don't exist", '**Time zones**');
    expect(builtins).toHaveLength(9);
    const found = await evaluated(
      `x = [name for name in ${JSON.stringify(builtins)} if name in __builtins__]`,
    );
    expect(found).toEqual([]);
    const functions = namesBetween('**Functions**', "don't exist");
    expect(functions).toHaveLength(4);
    expect(
      await evaluated(`
import hashlib, time
x = [_name for _name in ${JSON.stringify(functions)} if hasattr(eval(_name.split('.')[0]), _name.split('.')[1])]
`),
    ).toEqual([]);
    expect(
      await evaluated(`
import email.utils, hashlib, locale, time
x = []
for _call in (lambda: time.sleep(0), lambda: email.utils.make_msgid(), lambda: hashlib.new('ripemd160')):
    try:
        _call()
        x.append('works')
    except Exception as error:
        x.append(type(error).__name__)
for _name in hashlib.algorithms_guaranteed:
    hashlib.new(_name)
locale.setlocale(locale.LC_ALL, 'de_DE')
x.append(f'{1.5:n}')
`),
    ).toEqual(['RuntimeError', 'ModuleNotFoundError', 'ValueError', '1.5']);
  });
});

describe('an ordinary script', () => {
  it.each([...LIBRARY_SCRIPTS, ...LANGUAGE_SCRIPTS])('works: $name', async ({ source, leaves }) => {
    const result = await started.runtime.runScript(source, structuredClone(INPUTS));
    const expected = { ok: true, variables: { ...INPUTS, ...leaves }, output: '' };
    expect(result).toEqual({ ...expected, memoryBytes: expect.any(Number) as number });
  });

  it('requests nothing from outside the sandbox', () => {
    expect(started.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(started.runtime.statistics()).toMatchObject({ replaced: 0, timeouts: 0 });
  });
});
