/**
 * Invariants are defined in the header of the file that maintains them, as a line ` *  E4 …`, and cited by their number
 * elsewhere. Each one is defined once in the whole repository, and every cited one is defined.
 */
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  DOCUMENTS,
  linesOfComments,
  linesOfDocument,
  place,
  SOURCES,
  type Line,
} from './tracked-files.js';

const DEFINITION = /^ \* {2}([A-Z]{1,3})(\d{1,2}) \S/;
const comments = SOURCES.flatMap((file) => linesOfComments(file));
const definitions = new Map<string, Line[]>();
for (const line of comments) {
  const [, letters, number] = DEFINITION.exec(line.text) ?? [];
  if (letters === undefined || number === undefined) continue;
  const id = letters + number;
  definitions.set(id, [...(definitions.get(id) ?? []), line]);
}
const letters = [...new Set([...definitions.keys()].map((id) => id.replace(/\d+$/, '')))];

/** Not within a path, a color, a number or a longer name. */
const CITATION = new RegExp(
  `(?<![\\w%#./'"\`+-])(?:${letters.join('|')})\\d{1,2}(?![\\w%.-]\\w)`,
  'g',
);

/** In comments, in documents, and as `(E4)` in titles of tests. */
function citations(): readonly { readonly id: string; readonly at: string }[] {
  const read = [...comments, ...DOCUMENTS.flatMap((file) => linesOfDocument(file))];
  const inText = read.flatMap((line) =>
    [...line.text.matchAll(CITATION)].map(([id]) => ({ id, at: place(line) })),
  );
  const inTitles = SOURCES.flatMap((file) =>
    [...codeOf(file).matchAll(/\b(?:it|describe)[^\n]*\(([A-Z]{1,3}\d{1,2})\)/g)].map(
      ([, id = '']) => ({ id, at: file }),
    ),
  );
  return [...inText, ...inTitles];
}

describe('an invariant', () => {
  it('is found at its definition and citations', () => {
    expect(definitions.size).toBeGreaterThan(100);
    expect([...definitions.keys()]).toEqual(expect.arrayContaining(['E1', 'E10', 'S5', 'R2']));
    const cited = new Set(citations().map(({ id }) => id));
    expect([...cited]).toEqual(expect.arrayContaining(['E4', 'S5', 'SR2']));
  });

  it('is defined once', () => {
    const twice = [...definitions].filter(([, lines]) => lines.length > 1);
    expect(twice.map(([id, lines]) => `${id}: ${lines.map(place).join(', ')}`)).toEqual([]);
  });

  it('is defined if it is cited', () => {
    const unknown = citations().filter(({ id }) => !definitions.has(id));
    expect(unknown.map(({ id, at }) => `${at}: ${id}`)).toEqual([]);
  });
});
