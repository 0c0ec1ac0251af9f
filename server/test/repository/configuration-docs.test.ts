/** Checks that docs/configuration.md is the table of settings. Run with UPDATE_DOCS=1 to update it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Setting } from '../../src/config/setting.js';
import { SETTINGS } from '../../src/config/settings.js';

const FILE = new URL('../../../docs/configuration.md', import.meta.url);

function table(): string {
  const rows = (Object.entries(SETTINGS) as [string, Setting<unknown>][]).map(
    ([name, { meaning, shown }]) => `| \`${name}\` | ${shown} | ${meaning} |`,
  );
  return ['| Name | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

it('documents every setting with its default and meaning', () => {
  const text = readFileSync(FILE, 'utf8');
  const [before = '', rest = ''] = text.split('<!-- settings -->\n');
  const [, after = ''] = rest.split('\n<!-- end of settings -->');
  const fresh = `${before}<!-- settings -->\n${table()}\n<!-- end of settings -->${after}`;
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, fresh);
  expect(readFileSync(FILE, 'utf8')).toBe(fresh);
});
