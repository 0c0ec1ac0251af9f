/**
 * Comments and documents name things that exist: a source file, a function, a member. This finds references to renamed
 * and removed ones. A name is checked if it is unambiguous: a file by its extension, other names in backticks.
 */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  DOCUMENTS,
  linesOfComments,
  linesOfDocument,
  place,
  SOURCES,
  textOf,
  TRACKED,
  type Line,
} from './tracked-files.js';

/** Files that users write, or that a tool creates. */
const OF_OTHERS = new Set(['bench.mjs', 'buy.ts', 'app/api/quote/route.ts', './x.ts']);

const comments = SOURCES.flatMap((file) => linesOfComments(file));
const documents = DOCUMENTS.flatMap((file) => linesOfDocument(file));
const FILE = /(?<![\w*<>/.-])(?:[\w.-]+\/)*\w[\w.-]*\.(?:ts|tsx|mjs|py|md|sql)(?![\w-])/g;

/** `instance-actor.ts`, `runtime/host.ts` and `../README.md`, wherever the file is. */
function isThere(name: string, from: string): boolean {
  const wanted = name.replace(/^(\.\.?\/)+/, '');
  return (
    TRACKED.some((file) => file === wanted || file.endsWith(`/${wanted}`)) ||
    TRACKED.includes(path.join(path.dirname(from), name))
  );
}

function missingFiles(lines: readonly Line[]): readonly string[] {
  return lines.flatMap((line) =>
    [...line.text.matchAll(FILE)]
      .map(([name]) => name)
      .filter((name) => !OF_OTHERS.has(name) && !isThere(name, line.file))
      .map((name) => `${place(line)}: ${name}`),
  );
}

const words = new Set(
  [
    ...SOURCES.map(codeOf),
    ...TRACKED.filter((file) => /\.(py|json|ya?ml|sql|css)$/.test(file)).map(textOf),
  ].flatMap((code) => code.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []),
);

/** `server/src/engine/`, `scripts/pyodide/`: paths that start like a folder of the repository, or of the server. */
const FOLDER = /`((?:[\w.-]+\/)+)`/g;
const FOLDERS = new Set(TRACKED.flatMap((file) => file.split('/').slice(0, -1)));

function missingFolders(lines: readonly Line[]): readonly string[] {
  return lines.flatMap((line) =>
    [...line.text.matchAll(FOLDER)]
      .map(([, name = '']) => name)
      .filter((name) => FOLDERS.has(name.split('/')[0] ?? '') && !name.includes('dist/'))
      .filter((name) => !TRACKED.some((file) => `/${file}`.includes(`/${name}`)))
      .map((name) => `${place(line)}: ${name}`),
  );
}

/** `settle()`, `store.commit()`, `commitInstance`: the last name of each. */
const CALL = /`[\w.#]*?(\w+)\(\)`/g;
/** Names of settings that other programs read. */
const NAMES_OF_OTHERS = new Set(['auditConfig', 'ignoreGhsas']);
const MIXED_CASE = /`(?:[\w#]+\.)*([a-zA-Z]*[a-z][A-Z]\w*)`/g;

function missingNames(lines: readonly Line[], form: RegExp): readonly string[] {
  return lines.flatMap((line) =>
    [...line.text.matchAll(form)]
      .map(([, name = '']) => name)
      .filter((name) => !words.has(name) && !NAMES_OF_OTHERS.has(name))
      .map((name) => `${place(line)}: ${name}`),
  );
}

describe('a comment', () => {
  it('names only files that exist', () => expect(missingFiles(comments)).toEqual([]));

  it('names only folders that exist', () => expect(missingFolders(comments)).toEqual([]));

  it('names only functions that exist', () => expect(missingNames(comments, CALL)).toEqual([]));

  it('names only types and members that exist', () =>
    expect(missingNames(comments, MIXED_CASE)).toEqual([]));

  it('cites no section of a missing document', () => {
    const cited = comments.filter(({ text }) => /\bSection \d/.test(text));
    expect(cited.map(place)).toEqual([]);
  });
});

describe('a document', () => {
  it('names only files that exist', () => expect(missingFiles(documents)).toEqual([]));

  it('names only folders that exist', () => expect(missingFolders(documents)).toEqual([]));

  it('names only functions that exist', () => expect(missingNames(documents, CALL)).toEqual([]));
});
