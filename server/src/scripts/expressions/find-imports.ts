/**
 * Finds imports in a script that cannot work, without running it. If in doubt, it reports nothing.
 *
 *  XE2 A long script is read in slices; if that takes too long, nothing is reported.
 */
import { suggestedName } from '../../engine/definitions/suggest-name.js';
import { LongWork } from '../../base/slices.js';
import type { ForbiddenImport } from '../script-runtime.js';
import { IMPORTABLE_MODULES } from './known-names.js';
import { readPython, type SyntaxNode } from './parse-python.js';

/** Maximum time for reading, not counting other work in between. Ten thousand lines take half of it. */
const READING_MS_MAX = 1_000;
/** Maximum number of imports that are listed. */
const FOUND_MAX = 100;

/** Packages that contain only modules: `from urllib import request` imports a module. */
const BARE_PACKAGES: ReadonlySet<string> = new Set(['urllib', 'xml', 'xml.etree']);

export async function findForbiddenImports(source: string): Promise<readonly ForbiddenImport[]> {
  const script = await readScript(source);
  if (script === null) return [];
  const found: ForbiddenImport[] = [];
  for (const { module, node } of importsIn(script, source)) {
    // Names with a leading underscore are internal to the interpreter.
    if (module.startsWith('_') || IMPORTABLE_MODULES.has(module)) continue;
    const near = suggestedName(module, IMPORTABLE_MODULES);
    found.push({ module, near, ...placeOf(node.from, source) });
    if (found.length >= FOUND_MAX) break;
  }
  return found;
}

async function readScript(source: string): Promise<SyntaxNode | null> {
  const work = new LongWork();
  let spentMs = 0;
  let since = performance.now();
  for (const node of readPython(source)) {
    if (node !== null) return node;
    spentMs += performance.now() - since;
    if (spentMs > READING_MS_MAX) return null;
    await work.giveWay();
    since = performance.now();
  }
  return null;
}

interface Import {
  /** Starts with a dot if the import is relative. */
  readonly module: string;
  readonly node: SyntaxNode;
}

function* importsIn(script: SyntaxNode, source: string): Generator<Import> {
  const cursor = script.cursor();
  do {
    if (cursor.name !== 'ImportStatement') continue;
    const { node } = cursor;
    if (!isGuarded(node)) yield* namesIn(node, source);
  } while (cursor.next());
}

/** Whether it is in a `try` with an `except`: if so, the script handles a missing module. */
function isGuarded(node: SyntaxNode): boolean {
  for (let inner = node; inner.parent !== null; inner = inner.parent) {
    const { parent } = inner;
    if (parent.name !== 'TryStatement' || parent.getChild('except') === null) continue;
    if (parent.getChild('Body')?.from === inner.from) return true;
  }
  return false;
}

/** `import a.b as c, d` names `a.b` and `d`; `from a import b` names `a`, or `a.b` if `b` must be a module. */
function namesIn(statement: SyntaxNode, source: string): readonly Import[] {
  const parts = partsOf(statement, source);
  const [first] = parts;
  if (first?.word !== 'from') return listed(parts.slice(1));
  const at = parts.findIndex(({ word }) => word === 'import');
  const [from, ...rest] = parts.slice(1, at);
  if (from === undefined) return [];
  const module = [from, ...rest].map(({ word }) => word).join('');
  if (!BARE_PACKAGES.has(module)) return [{ module, node: from.node }];
  const names = listed(parts.slice(at + 1).filter(({ word }) => !'()'.includes(word)));
  return names
    .filter((name) => name.module !== '*')
    .map((name) => ({ ...name, module: `${module}.${name.module}` }));
}

interface Part {
  readonly word: string;
  readonly node: SyntaxNode;
}

function partsOf(statement: SyntaxNode, source: string): Part[] {
  const parts: Part[] = [];
  for (let node = statement.firstChild; node !== null; node = node.nextSibling) {
    if (node.name !== 'Comment') parts.push({ word: source.slice(node.from, node.to), node });
  }
  return parts;
}

/** The names between the commas, without `as` and the alias. */
function listed(parts: readonly Part[]): readonly Import[] {
  const names: Part[][] = [[]];
  let isAlias = false;
  for (const part of parts) {
    if (part.word === ',') names.push([]);
    isAlias = part.word === 'as' || (isAlias && part.word !== ',');
    if (!isAlias && part.word !== ',') names.at(-1)?.push(part);
  }
  return names.flatMap(([first, ...rest]) =>
    first === undefined
      ? []
      : [{ module: [first, ...rest].map(({ word }) => word).join(''), node: first.node }],
  );
}

function placeOf(
  offset: number,
  source: string,
): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
