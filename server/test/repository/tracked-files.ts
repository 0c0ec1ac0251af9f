/** The files of the repository and the comments in them, for the checks in this folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Paths relative to the root: the files that git tracks, or would track after `git add`. */
export const TRACKED: readonly string[] = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 },
)
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(ROOT, file)));

const texts = new Map<string, string>();

export function textOf(file: string): string {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  texts.set(file, text);
  return text;
}

/** A line of prose: of a comment, or of a document. */
export interface Line {
  readonly file: string;
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

export const place = ({ file, number }: Line): string => `${file}:${number}`;

const isScript = (file: string): boolean => /\.(ts|tsx|mjs|cjs)$/.test(file);
const isGenerated = (file: string): boolean => file.includes('/generated/');

/** Hand-written code in TypeScript and JavaScript. */
export const SOURCES = TRACKED.filter((file) => isScript(file) && !isGenerated(file));

/** A change log describes things that no longer exist. */
export const DOCUMENTS = TRACKED.filter(
  (file) => file.endsWith('.md') && !file.endsWith('CHANGELOG.md'),
);

export function linesOfDocument(file: string): readonly Line[] {
  return textOf(file)
    .split('\n')
    .map((text, index) => ({ file, number: index + 1, text }));
}

/** The comments of a source, line by line, unchanged. */
export function linesOfComments(file: string): readonly Line[] {
  return split(file).comments;
}

/** The source without its comments. */
export function codeOf(file: string): string {
  return split(file).code;
}

interface Parts {
  readonly comments: readonly Line[];
  readonly code: string;
}

const parts = new Map<string, Parts>();

function split(file: string): Parts {
  const known = parts.get(file);
  if (known !== undefined) return known;
  const text = textOf(file);
  const kind = file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const comments: Line[] = [];
  let code = '';
  let end = 0;
  for (const range of rangesOfComments(source, text)) {
    code += text.slice(end, range.pos);
    end = range.end;
    const first = source.getLineAndCharacterOfPosition(range.pos).line + 1;
    const lines = text.slice(range.pos, range.end).split('\n');
    comments.push(...lines.map((line, index) => ({ file, number: first + index, text: line })));
  }
  const result = { comments, code: code + text.slice(end) };
  parts.set(file, result);
  return result;
}

/** In their order. A comment precedes a token; text in a string or a template is not a comment. */
function rangesOfComments(source: ts.SourceFile, text: string): readonly ts.CommentRange[] {
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.JsxText) return;
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]) {
      found.set(range.pos, range);
    }
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return [...found.values()].sort((a, b) => a.pos - b.pos);
}
