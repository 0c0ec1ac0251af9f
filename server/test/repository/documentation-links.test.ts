/** Links between the documents of the project have existing targets. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['.', 'docs', 'docs/adr', 'docs/evidence', 'examples', 'sdk', 'worker-sdk'];

const documents = FOLDERS.flatMap((folder) =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name)),
);

it.each(documents)('links in %s only to files that exist', (document) => {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  const missing = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !existsSync(path.join(ROOT, path.dirname(document), target)));
  expect(missing).toEqual([]);
});
