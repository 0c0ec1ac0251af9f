/**
 * Goal: warnings are correct.
 * Method: checks every definition in the documentation and the examples; none may have a warning. A check with false
 * positives fails here first.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isJsonObject, type Json } from '../../src/engine/values/json.js';
import { checkDocument } from './support/checked-definition.js';

const ROOT = new URL('../../../', import.meta.url);

interface Found {
  readonly place: string;
  readonly document: Json;
}

function filesBelow(folder: string, extension: RegExp): readonly string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => extension.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);
}

/** The definitions in a text; text that is not YAML, or not a whole definition, is skipped. */
function definitionsIn(place: string, text: string): readonly Found[] {
  const documents = parseAllDocuments(text, { schema: 'core' });
  if (!Array.isArray(documents)) return [];
  return documents
    .filter(({ errors }) => errors.length === 0)
    .map((document) => document.toJS() as Json)
    .filter((document) => isJsonObject(document))
    .filter((document) => Object.keys(document).some((name) => name.toLowerCase() === 'steps'))
    .map((document) => ({ place, document }));
}

const inFiles = filesBelow('examples', /\.(?:ya?ml|json)$/).flatMap((file) =>
  definitionsIn(file, readFileSync(new URL(file, ROOT), 'utf8')),
);

const inTexts = [
  ...filesBelow('docs', /\.md$/),
  ...filesBelow('examples', /\.md$/),
  'README.md',
].flatMap((file) => {
  const text = readFileSync(new URL(file, ROOT), 'utf8');
  // Shell blocks contain definitions between `<<EOF` and `EOF`.
  const blocks = [...text.matchAll(/^ *```(?:yaml|json)\n(.*?)^ *```$|<<'?EOF'?\n(.*?)^EOF$/gms)];
  return blocks.flatMap((match) => {
    const line = text.slice(0, match.index).split('\n').length;
    return definitionsIn(`${file}:${line}`, match[1] ?? match[2] ?? '');
  });
});

describe('the corpus of definitions from documentation and examples', () => {
  it('contains all definitions', () => {
    expect(inFiles.length).toBeGreaterThan(20);
    expect(inTexts.length).toBeGreaterThan(10);
  });

  it.each([...inFiles, ...inTexts])('has no warning: $place', async ({ document }) => {
    const { errors, warnings } = await checkDocument(document);
    // Other tests check whether it is valid; an invalid one cannot be checked for warnings.
    if (errors.length === 0) expect(warnings).toEqual([]);
  });
});
